// Package verdictreport reports an acceptance verdict: as the document that one job passes
// to another, to people in a summary and a comment, and as Airlock's own items, which
// packages intake and policy judge like any other.
package verdictreport

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/schema"
)

// Version is the version of the document's form. Members are added, never renamed.
const Version = 1

// Schema is the name of the document's published schema.
const Schema = "verdict.json"

// MaxBytes bounds a document that is read.
const MaxBytes = 16 << 20

// Source is where the criteria come from.
type Source string

// The sources.
const (
	FromWorkflow Source = "workflow" // a request in the workflow
	FromIssue    Source = "issue"    // the issues that the pull request closes
	FromNowhere  Source = "none"     // there are no criteria
)

// Document is a verdict, in its documented JSON form. Every text in it may be a stranger's.
type Document struct {
	Version    int         `json:"version"`
	Repository string      `json:"repository,omitempty"` // owner/name
	Number     int         `json:"pull_request,omitempty"`
	Head       string      `json:"head_sha,omitempty"` // the commit that was verified
	Source     Source      `json:"source"`
	Issues     []Issue     `json:"issues,omitempty"`
	Criteria   []Criterion `json:"criteria"`
	// Response is nil if there are no criteria.
	Response *acceptance.Response `json:"response,omitempty"`
	Notes    []string             `json:"notes,omitempty"`
}

// Issue is an issue that states criteria.
type Issue struct {
	Number   int    `json:"number"`
	Author   string `json:"author,omitempty"`
	EditedBy string `json:"edited_by,omitempty"` // who edited it last; "" if nobody has
	EditedAt string `json:"edited_at,omitempty"` // RFC 3339
}

// Criterion is what a criterion says.
type Criterion struct {
	ID          string `json:"id"`
	Description string `json:"description"`
	Hint        string `json:"hint,omitempty"`
	// Issue and Box are set where the criterion is an item of an issue's task list: the issue,
	// and the digest of the item's text (see tasklist.Digest).
	Issue int    `json:"issue,omitempty"`
	Box   string `json:"box,omitempty"`
}

// Passed reports whether the verdict is PASS and every gate lets the task pass.
func (d *Document) Passed() bool { return d.Response != nil && d.Response.Passed() }

// Failed reports whether the verdict fails the pull request. Without criteria the pull request
// fails if they are required.
func (d *Document) Failed(required bool) bool {
	if d.Response == nil {
		return required
	}
	return !d.Passed()
}

// Read reads a document that another job has left, which is untrusted. If the document does not
// conform to the published schemas, or contradicts itself, the error describes what is wrong. The
// outcome that it reports is the other job's claim.
func Read(r io.Reader) (*Document, error) {
	var d struct {
		Document
		Response json.RawMessage `json:"response"`
	}
	if err := schema.ReadDocument(r, Schema, "a verdict", MaxBytes, &d); err != nil {
		return nil, err
	}
	if d.Response != nil {
		response, err := acceptance.ReadResponse(d.Response)
		if err != nil {
			return nil, fmt.Errorf("its response is not valid: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
		}
		d.Document.Response = &response
	}
	if err := d.contradiction(); err != nil {
		return nil, fmt.Errorf("it contradicts itself, so nothing in it counts; verify again: %w", err)
	}
	return &d.Document, nil
}

// contradiction returns the first way in which the document contradicts itself.
func (d *Document) contradiction() error {
	if (d.Source == FromNowhere) != (d.Response == nil) || (d.Response == nil) != (len(d.Criteria) == 0) {
		return errors.New("it has a verdict without criteria, or criteria without a verdict")
	}
	if d.Response == nil {
		return nil
	}
	judged, asked := map[string]bool{}, map[string]bool{}
	for _, r := range d.Response.Results {
		judged[r.ID] = true
	}
	for _, c := range d.Criteria {
		if asked[c.ID] {
			return fmt.Errorf("it has the criterion %s twice", schema.Quote(c.ID))
		}
		asked[c.ID] = true
	}
	if len(judged) != len(d.Criteria) {
		return fmt.Errorf("it has %d criteria, and results for %d", len(d.Criteria), len(judged))
	}
	for _, c := range d.Criteria {
		if !judged[c.ID] {
			return fmt.Errorf("the criterion %s has no result", schema.Quote(c.ID))
		}
	}
	return nil
}

// Write writes the document as indented JSON.
func (d *Document) Write(w io.Writer) error { return schema.WriteDocument(w, d) }

// Mask passes every text that people and programs wrote, other than ids, through f, which masks
// secrets.
func (d *Document) Mask(f func(string) string) {
	for i := range d.Criteria {
		c := &d.Criteria[i]
		c.Description, c.Hint = f(c.Description), f(c.Hint)
	}
	for i := range d.Notes {
		d.Notes[i] = f(d.Notes[i])
	}
	if d.Response != nil {
		d.Response.Mask(f)
	}
}
