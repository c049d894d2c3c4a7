package apply

import (
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
)

// refusedCode plans an item that was decided before the plan, so that nothing is pushed for it. It
// plans no request or, if the owner wants an issue about refused changes, that issue.
func (p *planner) refusedCode(op Operation, e *entry, st *codeState) Operation {
	if st.asIssue {
		return p.violationIssue(op, e, st)
	}
	r := e.decide(st.refusal.state, st.refusal.code, "%s", st.refusal.message)
	r.Notes = append(r.Notes, st.notes...)
	if st.pull != nil && r.State == Adopted {
		r.Object = &Object{Type: objCommit, SHA: st.tip(), Branch: st.branch, Number: st.pull.Number}
		if e.kind == safeoutput.KindCreatePullRequest {
			r.Object = pullObject(*st.pull, st.pull.Head.SHA, st.branch)
		}
	}
	return op
}

// maxShown is the largest patch that an issue shows, in UTF-16 code units.
const maxShown = 40000

// violationIssue plans the issue about changes that broke a rule about files, with the patch.
func (p *planner) violationIssue(op Operation, e *entry, st *codeState) Operation {
	title, description := "Changes that were not pushed", ""
	if it, ok := e.item.(*safeoutput.CreatePullRequest); ok {
		title, description = it.Title, it.Body
	}
	body := p.incompleteNote() + "An agent asked for changes that the rules of this repository do not allow, so they were **not** pushed.\n\n" +
		"> " + markdown.CodeSpan(st.refusal.code) + ": " + markdown.EscapeText(strings.TrimPrefix(st.refusal.message, nothingPushed)) + "\n"
	if !text.IsBlank(description) {
		body += "\n" + apart(description) + "\n"
	}
	// Otherwise cleaning removes bytes that are not UTF-8, and nobody sees that the text has changed.
	switch patch := strings.ToValidUTF8(string(st.patch), "\uFFFD"); {
	case patch == "":
		body += "\nThere is no patch to show; the notes of the workflow run explain why.\n"
	case markdown.UTF16Len(patch) <= maxShown:
		body += "\n<details><summary>The patch</summary>\n\n" + markdown.Fence("diff", patch) + "\n\n</details>\n"
	default:
		body += "\nThe patch is too long to be shown; the workflow run keeps it as a file.\n"
	}
	issue := p.issueOperation([]*entry{e}, groupKey("violation", e.key), title, body, nil, e.settings.Footer)
	issue.Summary = "open an issue instead of pushing: " + issue.Summary
	issue.Notes = append(issue.Notes, op.Notes...)
	if issue.work != nil {
		issue.work = &issueWork{issue.work, st.refusal.withIssue}
	} else if e.decided.State == Adopted { // otherwise it failed
		adopted := e.decided.Object
		e.decide(st.refusal.state, st.refusal.code, "%s", st.refusal.message).Object = adopted
	}
	return issue
}

// withIssue returns the result of a refused item from the result of opening the issue about it. The
// item stays refused, because what it asked for was not done. If the issue was not opened, that is
// the result, and the refusal is a note.
func (r *refusal) withIssue(_ *entry, opened Result) Result {
	if opened.Object == nil {
		opened.Notes = append(opened.Notes, r.message)
		return opened
	}
	opened.State, opened.Code = r.state, r.code
	opened.Message = fmt.Sprintf("%s; issue #%d describes it", r.message, opened.Object.Number)
	return opened
}
