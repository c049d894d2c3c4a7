package loopturn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/loopref"
	"github.com/agent-airlock/airlock/internal/text"
)

// minSecret is the least length of a secret that signs a log, in characters. Whoever can read the
// repository could find a shorter one by trying.
const minSecret = 16

// CheckSecret returns an error if the secret is shorter than minSecret, or missing where dispatch
// needs it: there, an agent pushes with a token of its own, which can write the log's ref too.
func CheckSecret(secret string, dispatch bool) error {
	n := utf8.RuneCountInString(secret)
	switch {
	case secret == "" && dispatch:
		return errors.New("loop-dispatch needs loop-secret: an agent that pushes with an App's token can also write the ref with the loop's log, and only a signed log shows that; add a repository secret, such as the output of 'openssl rand -hex 32', and give it as loop-secret")
	case secret != "" && n < minSecret:
		return fmt.Errorf("loop-secret has %s; give at least %d, such as the output of 'openssl rand -hex 32'", text.Count(n, "character"), minSecret)
	}
	return nil
}

// dispatchEntry names the entry of the log that records that an agent was asked for a fix. It
// contains the operation, because the same request is made again after an extension.
func dispatchEntry(w fixloop.Work) string {
	return "dispatch/" + w.Request.ID + "/" + strconv.Itoa(w.Op) + "/" + strconv.Itoa(w.Attempt)
}

// mayAsk reports whether an agent elsewhere has yet to be asked for a fix, and fewer than
// fixloop.DeliveryAttempts have failed.
func (t *Turn) mayAsk(l *loopref.Log) bool {
	w := l.State.Work()
	if t.Dispatch == nil || w.Kind != fixloop.WorkFix {
		return false
	}
	delivered, tried := l.Delivery(dispatchEntry(w))
	return !delivered && tried < fixloop.DeliveryAttempts
}

// ask sends the open fix request to an agent elsewhere, if mayAsk allows it. It returns the
// entry to be recorded in the log, also if sending fails, or "" if nothing has to be sent. If a turn
// is killed before it records the entry, a later turn sends the request again, because GitHub does
// not show whether it has the event.
func (t *Turn) ask(ctx context.Context, l *loopref.Log, branch string) (entry string, err error) {
	if !t.mayAsk(l) {
		return "", nil
	}
	w := l.State.Work()
	payload, err := dispatchPayload(l, w, branch)
	if err != nil {
		return "", err
	}
	return dispatchEntry(w), t.Dispatch(ctx, payload)
}

// cutNote ends a fix request that was cut.
const cutNote = "\n\n[cut: the pull request's comment with this request has the rest]\n"

// dispatchPayload returns the payload for an agent elsewhere, within GitHub's limits.
// docs/fix-loop.md describes its members.
func dispatchPayload(l *loopref.Log, w fixloop.Work, branch string) (map[string]any, error) {
	deadline := ""
	if due := l.State.Deadline(); !due.IsZero() {
		deadline = due.UTC().Format(time.RFC3339)
	}
	request := w.Request.Markdown()
	payload := map[string]any{
		"version": 1, "request_id": w.Request.ID, "attempt": w.Attempt, "pull_request": w.Request.Issue, "loop": l.Name(),
		"head_ref": branch, "head_sha": w.Head, "until": deadline, "request": request, "message": w.Request,
	}
	for most := len(request); ; most /= 2 {
		raw, err := json.Marshal(payload)
		if err != nil || len(raw) < githubapi.MaxDispatchBytes {
			return payload, err
		}
		if payload["message"] != nil { // the Markdown says the same
			payload["message"] = nil
			continue
		}
		payload["request"] = text.TruncateBytes(request, most) + cutNote
	}
}
