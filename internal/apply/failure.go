package apply

import (
	"context"
	"errors"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// failure turns an error of a request into a result's code and message. need is
// what the operation needs, for the case that GitHub does not say.
func failure(err error, need []Permission) (code, message string) {
	var doubt *unsure
	if errors.As(err, &doubt) {
		return string(githubapi.Ambiguous), doubt.Error()
	}
	var e *githubapi.Error
	if !errors.As(err, &e) {
		switch {
		case errors.Is(err, gitrepo.ErrUnreachable):
			return string(githubapi.Unreachable), err.Error()
		case errors.Is(err, gitrepo.ErrMissing):
			return CodeNoBase, err.Error() + "; if a branch moved just now, run the job again"
		}
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return CodeCancelled, "the run was cancelled before this was done; run the job again, and it is done once"
		}
		return CodeInternal, err.Error()
	}
	if e.Kind != githubapi.Forbidden {
		return string(e.Kind), e.Error()
	}
	switch e.Feature {
	case githubapi.FeatureLocked:
		return CodeLocked, e.Error()
	case githubapi.FeatureArchived:
		return CodeArchived, e.Error()
	case githubapi.FeatureCodeScanning:
		return CodeNoCodeScanning, e.Error()
	case "":
		if e.Permission == "" && len(need) > 0 {
			return CodeNoPermission, e.Error() + "; this needs " + permissionWords(need)
		}
		return CodeNoPermission, e.Error()
	}
	return CodeFeatureDisabled, e.Error()
}

// lacksPermission reports whether GitHub refused a write because of what the
// token may do, so that the next write of the same sort would fail too.
func lacksPermission(err error) bool {
	var e *githubapi.Error
	return errors.As(err, &e) && e.Kind == githubapi.Forbidden && e.Feature == ""
}

func isKind(err error, k githubapi.Kind) bool { return errors.Is(err, k) }

// feature returns what an error says is switched off, "" if nothing.
func feature(err error) string {
	var e *githubapi.Error
	if errors.As(err, &e) {
		return e.Feature
	}
	return ""
}
