package apply

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/githubapi"
)

// securityWork uploads a SARIF log and waits for its processing.
type securityWork struct {
	repo   githubapi.Repo
	sarif  []byte
	upload githubapi.SARIFUpload
	notes  []string
	// unable is why the log is not even tried to be uploaded; else nil.
	unable *unable
}

// unable is the outcome of reports that can only be stored.
type unable struct {
	state         State
	code, message string
}

// pollWaits are the waits between looking whether GitHub has processed an
// upload: 5, 15, 35, 75 and 155 seconds after it.
func pollWaits() []time.Duration {
	return []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second}
}

func (w *securityWork) execute(ctx context.Context, x *executor, op *Operation) []Result {
	if u := w.unable; u != nil {
		return w.instead(x, op, u.state, u.code, u.message)
	}
	var id string
	err := x.idempotent(ctx, func(ctx context.Context) (err error) {
		id, err = x.w.GitHub.UploadSARIF(ctx, w.repo, w.upload)
		return err
	})
	if err != nil {
		code, message := failure(err, op.Permissions)
		x.remember(op, err, code, message)
		state := Failed
		if isKind(err, githubapi.Forbidden) && code != string(githubapi.Ambiguous) {
			state = Skipped
		}
		return w.instead(x, op, state, code, message)
	}
	status, err := w.wait(ctx, x, id)
	switch {
	case status.State == githubapi.SARIFFailed:
		return w.instead(x, op, Failed, CodeRejected, "code scanning could not process the upload: "+strings.Join(status.Errors, "; ")+"; mend what it names in the report")
	case status.State == githubapi.SARIFComplete:
		return w.all(op, Applied, "", "uploaded to code scanning and processed", &Object{Type: objSARIF, NodeID: id}, "")
	}
	note := "uploaded to code scanning; GitHub had not processed it when Airlock stopped waiting"
	if err != nil {
		note += fmt.Sprintf(" (%v)", err)
	}
	return w.all(op, Applied, "", note, &Object{Type: objSARIF, NodeID: id}, "")
}

// wait asks for the state of an upload until it is decided. An error is the last
// one, where the state could not be read.
func (w *securityWork) wait(ctx context.Context, x *executor, id string) (status githubapi.SARIFStatus, err error) {
	for _, d := range pollWaits() {
		if err := x.w.Clock.Sleep(ctx, d); err != nil {
			return status, err
		}
		var got githubapi.SARIFStatus
		if got, err = x.w.GitHub.SARIFStatus(ctx, w.repo, id); err != nil {
			if isKind(err, githubapi.NotFound) {
				err = nil // not known yet
			}
			continue
		}
		if status = got; status.State == githubapi.SARIFComplete || status.State == githubapi.SARIFFailed {
			return status, nil
		}
	}
	return status, err
}

// instead stores the log as a file, for another step to upload or keep.
func (w *securityWork) instead(x *executor, op *Operation, state State, code, message string) []Result {
	if x.w.Files == nil {
		return w.all(op, state, code, message, nil, "")
	}
	path, err := x.w.Files.WriteFile(sarifFile, w.sarif)
	if err != nil {
		return w.all(op, Failed, code, fmt.Sprintf("%s; it could not be stored as a file either: %v", message, err), nil, "")
	}
	return w.all(op, state, code, message+"; the SARIF log is stored as a file instead", nil, path)
}

// all gives every report the same result.
func (w *securityWork) all(op *Operation, state State, code, message string, obj *Object, file string) []Result {
	open := pending(op.entries)
	out := make([]Result, len(open))
	for i, e := range open {
		out[i] = e.result(state, code, "%s", message)
		out[i].Object, out[i].File = obj, file
		if i == 0 {
			out[i].Notes = w.notes
		}
	}
	return out
}
