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
// the result of each claim, and claimGate judges that list.
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
	result := func(status Status, format string, args ...any) ClaimResult {
		return ClaimResult{"modified " + file, status, fmt.Sprintf(format, args...)}
	}
	clean, err := v.relative(file)
	if err != nil {
		return result(Fail, "%v.", err)
	}
	if clean == "." {
		return result(Fail, "It is the entire work tree: name the files.")
	}
	_, err = v.worktree.Stat(clean)
	exists := !errors.Is(err, ErrNoPath)
	isChanged := slices.ContainsFunc(changed, func(name string) bool { return name == clean || strings.HasPrefix(name, clean+"/") })
	switch {
	case err != nil && exists:
		return result(Blocked, "It cannot be looked at: %v.", err)
	case !exists && unknown != nil:
		return result(Blocked, "There is no such file, and whether it was deleted cannot be determined: %s.", strings.TrimSuffix(v.maskLine(unknown.Error()), "."))
	case !exists && !isChanged:
		return result(Fail, "There is no such file.")
	case unknown != nil:
		return result(Blocked, "Whether it is changed cannot be determined: %s.", strings.TrimSuffix(v.maskLine(unknown.Error()), "."))
	case !isChanged:
		return result(Fail, "It is the same as in %s.", comparedWith)
	case !exists:
		return result(Pass, "It is deleted, compared with %s.", comparedWith)
	}
	return result(Pass, "It exists, and differs from %s.", comparedWith)
}

func (v *verification) claimedCommit(ctx context.Context, id string) ClaimResult {
	claim := "commit " + id
	has, err := v.worktree.HasCommit(ctx, strings.ToLower(id))
	switch {
	case err != nil:
		return ClaimResult{claim, Blocked, fmt.Sprintf("It cannot be looked for: %s.", strings.TrimSuffix(v.maskLine(err.Error()), "."))}
	case !has:
		return ClaimResult{claim, Fail, "The branch does not contain it."}
	}
	return ClaimResult{claim, Pass, "The branch contains it."}
}

// claimsTests reports whether the request claims how the tests ended.
func (v *verification) claimsTests() bool {
	return v.req.Claim != nil && !text.IsBlank(v.req.Claim.Tests)
}

// claimedTests returns how the tests ended here, whatever the claim says of them. They run once,
// for the criteria too.
func (v *verification) claimedTests(ctx context.Context) ClaimResult {
	p := v.check(ctx, "tests")
	return ClaimResult{Claim: "tests: " + text.Truncate(v.maskLine(v.req.Claim.Tests), 200), Status: p.status, Evidence: p.evidence}
}
