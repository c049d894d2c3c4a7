package doors

import (
	"bytes"
	"fmt"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/report"
)

// PlanFiles are the files of a plan that a user names. A file without a name is not written. Both
// are written before anything is done. Afterwards a page about what was done replaces the page.
type PlanFiles struct {
	JSON string // the plan, with the exact requests
	Page string // the plan as a page to look at; it requires Config.Page

	gate  *Gate
	doc   *checkreport.Document
	tried PendingFiles    // shows that JSON can be written
	page  *action.Pending // nil where nothing is begun
}

// Begin begins the files, so that an error in writing them is found before anything is done. It sets
// the functions of the request r that write them. doc is the findings document whose checks the page
// shows; it may be nil. Abort must be called.
func (f *PlanFiles) Begin(g *Gate, doc *checkreport.Document, r *Request) (err error) {
	f.gate, f.doc = g, doc
	if f.JSON != "" {
		if _, err := f.tried.Create(f.JSON, nil); err != nil {
			return fmt.Errorf("--plan: %w", err)
		}
		r.Planned = f.writeJSON
	}
	if f.Page == "" {
		return nil
	}
	if f.Page == f.JSON {
		return fmt.Errorf("--plan and --plan-html name the same file, %s: give each its own", f.Page)
	}
	if f.page, err = action.CreateUserFile(f.Page); err != nil {
		return fmt.Errorf("--plan-html: %w", err)
	}
	r.Page = f.WritePage
	return nil
}

func (f *PlanFiles) writeJSON(plan *apply.Plan) error {
	var b bytes.Buffer
	if err := WriteJSON(&b, plan); err != nil {
		return err
	}
	return action.WriteUserFile(f.JSON, b.Bytes())
}

// WritePage writes the page and makes it appear.
func (f *PlanFiles) WritePage(rep *report.Report) (err error) {
	if f.page == nil {
		if f.page, err = action.CreateUserFile(f.Page); err != nil {
			return err
		}
	}
	defer f.abortPage()
	if err := f.gate.WritePage(f.page, rep, f.doc); err != nil {
		return err
	}
	return f.page.Commit()
}

// Abort removes the files that were begun and are not complete.
func (f *PlanFiles) Abort() {
	f.tried.Abort()
	f.abortPage()
}

func (f *PlanFiles) abortPage() {
	if f.page != nil {
		_ = f.page.Abort() // its error adds nothing to the command's own
		f.page = nil
	}
}
