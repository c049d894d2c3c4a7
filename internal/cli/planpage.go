package cli

import (
	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/report"
)

// pageFile is the file of the flag --plan-html. It is written before anything is done, and
// replaced by what was done.
type pageFile struct {
	path    string
	gate    *doors.Gate
	doc     *checkreport.Document // may be nil
	pending *action.Pending       // nil where nothing is begun
}

// create begins the file, so that one which cannot be written is found before anything is done.
func (p *pageFile) create() (err error) {
	p.pending, err = action.CreateUser(p.path)
	return err
}

// write writes the page and makes it appear.
func (p *pageFile) write(rep *report.Report) error {
	if p.pending == nil {
		if err := p.create(); err != nil {
			return err
		}
	}
	defer p.abort()
	if err := p.gate.WritePage(p.pending, rep, p.doc); err != nil {
		return err
	}
	return p.pending.Commit()
}

// abort removes what was begun and is not complete.
func (p *pageFile) abort() {
	if p.pending != nil {
		_ = p.pending.Abort() // the command's own error is the reason
		p.pending = nil
	}
}
