package githubapi

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/google/go-github/v60/github"
)

// SARIFUpload is a SARIF file to hand to code scanning.
type SARIFUpload struct {
	CommitSHA   string    // 40 hexadecimal digits
	Ref         string    // refs/heads/..., refs/pull/N/merge, refs/pull/N/head
	SARIF       string    // base64 of gzip
	CheckoutURI string    // where the repository was checked out, or empty
	StartedAt   time.Time // zero: not sent
	ToolName    string    // only read by GitHub when the SARIF names no tool
}

// SARIFStatus says how far GitHub is with an upload.
type SARIFStatus struct {
	State  string   // SARIFPending, SARIFComplete or SARIFFailed
	Errors []string // of a failed one
}

// The states of a SARIF upload.
const (
	SARIFPending  = "pending"
	SARIFComplete = "complete"
	SARIFFailed   = "failed"
)

// UploadSARIF hands a SARIF file to code scanning and returns the upload's id,
// which SARIFStatus takes. GitHub processes it later.
func (c *Client) UploadSARIF(ctx context.Context, r Repo, u SARIFUpload) (string, error) {
	const op = "upload SARIF to code scanning"
	if err := r.check(); err != nil {
		return "", usage(op, Repo{}, "%v", err)
	}
	if u.SARIF == "" || u.CommitSHA == "" || u.Ref == "" {
		return "", usage(op, r, "an upload needs the SARIF, the commit and the ref")
	}
	req := &github.SarifAnalysis{CommitSHA: &u.CommitSHA, Ref: &u.Ref, Sarif: &u.SARIF}
	if u.CheckoutURI != "" {
		req.CheckoutURI = &u.CheckoutURI
	}
	if u.ToolName != "" {
		req.ToolName = &u.ToolName
	}
	if !u.StartedAt.IsZero() {
		req.StartedAt = &github.Timestamp{Time: u.StartedAt.UTC().Truncate(time.Second)}
	}
	ctx, k := write(ctx, op, r)
	k.slow = true
	id, _, err := c.gh.CodeScanning.UploadSarif(ctx, r.Owner, r.Name, req)
	if err != nil {
		return "", k.finish(err)
	}
	if id.GetID() == "" {
		return "", k.finish(fmt.Errorf("the answer names no upload"))
	}
	return id.GetID(), nil
}

// SARIFStatus reads how far the processing of an upload is. Right after the
// upload it may still be unknown (NotFound).
func (c *Client) SARIFStatus(ctx context.Context, r Repo, id string) (SARIFStatus, error) {
	const op = "read the status of a SARIF upload"
	if err := r.check(); err != nil {
		return SARIFStatus{}, usage(op, Repo{}, "%v", err)
	}
	if !nameOK(id) {
		return SARIFStatus{}, usage(op, r, "%q is not the id of an upload", id)
	}
	ctx, k := read(ctx, op, r)
	req, err := c.gh.NewRequest(http.MethodGet, fmt.Sprintf("repos/%s/%s/code-scanning/sarifs/%s", r.Owner, r.Name, id), nil)
	if err != nil {
		return SARIFStatus{}, usage(op, r, "%v", err)
	}
	// go-github's own type leaves the errors out.
	var got struct {
		ProcessingStatus string   `json:"processing_status"`
		Errors           []string `json:"errors"`
	}
	if _, err := c.gh.Do(ctx, req, &got); err != nil {
		return SARIFStatus{}, k.finish(err)
	}
	return SARIFStatus{State: got.ProcessingStatus, Errors: got.Errors}, nil
}
