package acceptance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

// claims checks what the request claims. A claim has no effect on a criterion: the response lists
// how each claim ended, and that list decides gate 1.
func (v *verification) claims(ctx context.Context, r *Response) {
	claim := v.req.Claim
	if claim == nil || v.checks == nil { // v.checks is nil where something blocks: nothing is run
		return
	}
	var changed []string
	var comparedWith string
	var unknown error
	if len(claim.Files) > 0 {
		v.progress(Step{Text: "what the claim says"})
		changed, comparedWith, unknown = v.worktree.Changed(ctx)
	}
	for _, file := range claim.Files {
		r.Claims = append(r.Claims, v.claimedFile(file, changed, comparedWith, unknown))
	}
	if claim.Commit != "" {
		r.Claims = append(r.Claims, v.claimedCommit(ctx, claim.Commit))
	}
	if v.claimsTests() {
		r.Claims = append(r.Claims, v.claimedTests(ctx))
	}
}

// claimedFile checks that the branch changes or deletes a file, or one below it if it is a
// directory. changed, comparedWith and unknown are what Worktree.Changed returned.
func (v *verification) claimedFile(file string, changed []string, comparedWith string, unknown error) ClaimResult {
	out := ClaimResult{Claim: "modified " + file}
	clean, err := v.relative(file)
	if err != nil {
		out.Status, out.Evidence = Fail, err.Error()+"."
		return out
	}
	_, err = v.worktree.Stat(clean)
	exists := !errors.Is(err, ErrNoPath)
	isChanged := slices.ContainsFunc(changed, func(name string) bool { return name == clean || strings.HasPrefix(name, clean+"/") })
	switch {
	case err != nil && exists:
		out.Status, out.Evidence = Blocked, fmt.Sprintf("It cannot be looked at: %v.", err)
	case !exists && !isChanged:
		out.Status, out.Evidence = Fail, "There is no such file."
	case unknown != nil:
		out.Status, out.Evidence = Blocked, fmt.Sprintf("Whether it is changed cannot be determined: %s.", strings.TrimSuffix(v.maskLine(unknown.Error()), "."))
	case !isChanged:
		out.Status, out.Evidence = Fail, fmt.Sprintf("It is the same as in %s.", comparedWith)
	case !exists:
		out.Status, out.Evidence = Pass, fmt.Sprintf("It is deleted, compared with %s.", comparedWith)
	default:
		out.Status, out.Evidence = Pass, fmt.Sprintf("It exists, and differs from %s.", comparedWith)
	}
	return out
}

func (v *verification) claimedCommit(ctx context.Context, id string) ClaimResult {
	out := ClaimResult{Claim: "commit " + id}
	has, err := v.worktree.HasCommit(ctx, strings.ToLower(id))
	switch {
	case err != nil:
		out.Status, out.Evidence = Blocked, fmt.Sprintf("It cannot be looked for: %s.", strings.TrimSuffix(v.maskLine(err.Error()), "."))
	case !has:
		out.Status, out.Evidence = Fail, "The branch does not contain it."
	default:
		out.Status, out.Evidence = Pass, "The branch contains it."
	}
	return out
}

// claimsTests reports whether the request claims how the tests ended.
func (v *verification) claimsTests() bool {
	return v.req.Claim != nil && !text.IsBlank(v.req.Claim.Tests)
}

// claimedTests runs the tests again, whatever the claim says of them.
func (v *verification) claimedTests(ctx context.Context) ClaimResult {
	p := v.check(ctx, "tests")
	return ClaimResult{Claim: "tests: " + text.Truncate(v.maskLine(v.req.Claim.Tests), 200), Status: p.status, Evidence: p.evidence}
}
