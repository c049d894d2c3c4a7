package githubapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/google/go-github/v60/github"
)

// SARIFUpload is a SARIF file to hand to code scanning.
type SARIFUpload struct {
	CommitSHA string // 40 hexadecimal digits
	Ref       string // refs/heads/..., refs/pull/N/merge, refs/pull/N/head
	SARIF     string // base64 of gzip
}

// SARIFStatus is the state of GitHub's processing of an upload.
type SARIFStatus struct {
	State  string   // SARIFPending, SARIFComplete or SARIFFailed
	Errors []string // the errors of a failed upload
}

func (s SARIFStatus) identified() bool { return s.State != "" }

// The states of a SARIF upload.
const (
	SARIFPending  = "pending"
	SARIFComplete = "complete"
	SARIFFailed   = "failed"
)

// UploadSARIF hands a SARIF file to code scanning and returns the upload's id,
// which SARIFStatus takes. GitHub processes it later.
func (c *Client) UploadSARIF(ctx context.Context, r Repo, u SARIFUpload) (string, error) {
	op := writing(r, "upload SARIF to code scanning")
	op.slow = true
	op.require("an upload needs the SARIF, the commit and the ref", u.SARIF, u.CommitSHA, u.Ref)
	upload, _, err := c.gh.CodeScanning.UploadSarif(op.context(ctx), r.Owner, r.Name, &github.SarifAnalysis{CommitSHA: &u.CommitSHA, Ref: &u.Ref, Sarif: &u.SARIF})
	if err == nil && upload.GetID() == "" {
		err = errors.New("the answer names no upload")
	}
	return result(op, upload, err, (*github.SarifID).GetID)
}

// SARIFStatus reads the state of an upload's processing. Right after UploadSARIF,
// GitHub may not know the upload yet (NotFound).
func (c *Client) SARIFStatus(ctx context.Context, r Repo, id string) (SARIFStatus, error) {
	op := reading(r, "read the status of a SARIF upload")
	if !isName(id) {
		op.refuse("invalid upload id %q", id)
	}
	// go-github's own type leaves the errors out.
	var got struct {
		ProcessingStatus string `json:"processing_status"`
		Errors           []string
	}
	err := c.send(ctx, op, http.MethodGet, "code-scanning/sarifs/"+id, nil, &got)
	return result(op, SARIFStatus{State: got.ProcessingStatus, Errors: got.Errors}, err, func(s SARIFStatus) SARIFStatus { return s })
}
