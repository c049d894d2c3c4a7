package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/event"
)

// readFindings reads the findings document of an earlier job, which ran the pull
// request's code: a stranger's file, held against its schema and against the event.
// name is what the document's own errors begin with.
func (g *gate) readFindings(in io.Reader, name string, ev event.Event) (*checkreport.Document, error) {
	doc, err := checkreport.Read(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := aboutEvent(doc, ev); err != nil {
		return nil, err
	}
	doc.Mask(g.secrets.Mask)
	return doc, nil
}

// aboutEvent refuses findings about another repository or pull request.
func aboutEvent(doc *checkreport.Document, ev event.Event) error {
	if repo := ev.Repo.FullName(); doc.Repository != "" && repo != "" && !strings.EqualFold(doc.Repository, repo) {
		return fmt.Errorf("they are about %s, and the event is about %s", doc.Repository, repo)
	}
	if doc.Number != 0 && ev.IsPull && doc.Number != ev.Number {
		return fmt.Errorf("they are about pull request #%d, and the event is about #%d", doc.Number, ev.Number)
	}
	return nil
}
