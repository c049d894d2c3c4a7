package event

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxName is the largest length of an owner's name for a job, in bytes.
const MaxName = 100

// CheckName returns an error if an owner's name for a job is not one line of printable
// text of at most MaxName bytes. "" is valid, and stands for no name.
func CheckName(name string) error {
	if len(name) > MaxName || !printable(name) {
		return fmt.Errorf("invalid name %.110q of the job: give one line of at most %d bytes, without control characters", name, MaxName)
	}
	return nil
}

func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// Identity distinguishes the job from other jobs of its workflow run, except those of the same
// matrix and, if Shared is set, perhaps others. It is the owner's name for the job, the path of the
// call of a reusable workflow, or the job's key.
func (run Run) Identity() string { return cmp.Or(run.Name, run.Job) }

// identify sets what distinguishes the job, as far as the environment shows it. Outside of a
// workflow run that is the nonce. In one, the first of these that is known counts:
//
//   - the name that the owner gave;
//   - the runner's orchestration id, which is not documented;
//   - the job's name, which the caller has to ask GitHub for: see AwaitsJobName;
//   - the job's key and its index in the matrix, which are the same in two calls of
//     one reusable workflow.
//
// If the orchestration id or the job's name shows that no other workflow calls the job, the key and
// the index are used instead. The identity then does not depend on which of the two, the id or the
// name, is known.
func (run *Run) identify(env Env) error {
	if err := CheckName(env.JobName); err != nil {
		return err
	}
	run.Name = env.JobName
	if run.ID == 0 {
		run.Own = env.Nonce
		return nil
	}
	run.Shared = true
	path, ok := callPath(env.Orchestration, env.Job, strings.TrimSpace(env.MatrixIndex) != "")
	switch {
	case ok && run.Name == "":
		run.Name, run.Shared = path, false
	case ok: // the owner may have given the name to another job too
		run.Claim = claim(0, "path "+cmp.Or(path, env.Job))
	case run.CheckRunID != 0:
		run.Claim = claim(run.Attempt, strconv.FormatInt(run.CheckRunID, 10))
	}
	return nil
}

// forAllAttempts begins a claim that does not depend on the attempt.
const forAllAttempts = "0000"

// claim returns a Run's claim: the attempt and a digest of the job. Attempt 0 stands for all
// attempts, and so does one that is too large.
func claim(attempt int, job string) string {
	if attempt > math.MaxUint16 {
		attempt = 0
	}
	sum := sha256.Sum256([]byte(job))
	return fmt.Sprintf("%04x", attempt) + hex.EncodeToString(sum[:6])
}

// ClaimedByOther reports whether a claim is that of another job with the same identity. Claims
// of two different attempts are not comparable: it is false for them.
func (run Run) ClaimedByOther(claim string) bool {
	const attempt = len(forAllAttempts)
	isClaim := len(claim) > attempt && len(claim) == len(run.Claim)
	return isClaim && claim[:attempt] == run.Claim[:attempt] && claim != run.Claim
}

// maxOrchestration bounds an orchestration id, in bytes.
const maxOrchestration = 1000

// defaultLeg is the part of an orchestration id that stands for a job without a
// matrix.
const defaultLeg = "__default"

// callPath returns the path of a job in an orchestration id, which has the form "id.job.__default",
// or "id.caller.job.__default" for a job of a reusable workflow; in a matrix the last part names
// the leg. It returns "" for a job that no other job calls, because the key is enough. But it
// returns the path if such a job is in a matrix and its index is not known (indexed is false). ok
// is false if the id is not that of the job: an earlier step can set the variable on runners that
// do not set it themselves.
func callPath(orchestration, job string, indexed bool) (path string, ok bool) {
	_, rest, found := strings.Cut(orchestration, ".")
	parts := strings.Split(rest, ".")
	if !found || len(orchestration) > maxOrchestration || !printable(rest) || !slices.Contains(parts, job) {
		return "", false
	}
	// The callers of a job come before it; one of them may have the key of the job itself.
	called := parts[0] != job || slices.Contains(parts[1:], job)
	named := slices.DeleteFunc(slices.Clone(parts), func(part string) bool { return part == defaultLeg || part == "" })
	if !called && (indexed || len(named) == 1) {
		return "", true
	}
	return strings.Join(named, callSeparator), true
}

// callSeparator stands between the caller and the called job in the names that
// GitHub gives to jobs of reusable workflows.
const callSeparator = " / "

// AwaitsJobName reports whether GitHub is to be asked for the job's name, by
// CheckRunID: nothing else can show whether another job of the workflow run has the
// same key.
func (run Run) AwaitsJobName() bool {
	return run.ID != 0 && run.Shared && run.CheckRunID != 0 && !strings.HasPrefix(run.Claim, forAllAttempts)
}

// SetJobName completes the identity by the name that GitHub shows for the job. It is
// the same in all attempts, which the check run's id is not.
func (run *Run) SetJobName(name string) {
	switch {
	case name == "":
	case run.Name != "": // the owner's
		run.Claim = claim(0, "name "+name)
	default:
		run.Shared, run.Claim = false, ""
		if strings.Contains(name, callSeparator) {
			run.Name = name
		}
	}
}
