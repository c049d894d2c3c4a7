package doors

import (
	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/report"
)

// PageFile is the file of a plan's page. It is written before anything is done, and replaced by
// what was done.
type PageFile struct {
	path    string
	gate    *Gate
	doc     *checkreport.Document
	pending *action.Pending // nil where nothing is begun
}

// CreatePage begins the file at path, so that one which cannot be written is found before anything
// is done. doc is as in WritePage.
func (g *Gate) CreatePage(path string, doc *checkreport.Document) (*PageFile, error) {
	pending, err := action.CreateUser(path)
	return &PageFile{path: path, gate: g, doc: doc, pending: pending}, err
}

// Write writes the page and makes it appear.
func (p *PageFile) Write(rep *report.Report) (err error) {
	if p.pending == nil {
		if p.pending, err = action.CreateUser(p.path); err != nil {
			return err
		}
	}
	defer p.Abort()
	if err := p.gate.WritePage(p.pending, rep, p.doc); err != nil {
		return err
	}
	return p.pending.Commit()
}

// Abort removes what was begun and is not complete.
func (p *PageFile) Abort() {
	if p.pending != nil {
		_ = p.pending.Abort() // the command's own error is the reason
		p.pending = nil
	}
}
