package apply

import (
	"context"
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// agentReport describes a kind of items that report something to people. By themselves they
// change nothing on GitHub.
type agentReport struct {
	// result returns the outcome of an item, whose message is the report.
	result func(e *entry) Result
	// failed is set for a report that counts as a failed item, even if it has an issue.
	failed bool
	// summary describes in the plan what is done.
	summary string
	// title, intro and section make up the issue for all items that the owner may want: its
	// title without prefix, its first paragraph, and the part for one item.
	title, intro string
	section      func(e *entry) string
}

// reportHandler applies a kind that reports: a line in the report and, where the owner
// wants it (create-issue), one issue for all items.
func reportHandler(r agentReport) handler {
	return handler{
		group: func(e *entry) string {
			if e.settings.CreateIssue {
				return "issue"
			}
			return ""
		},
		needs: func(n *needs, e *entry) {
			if e.settings.CreateIssue {
				n.list(listIssues, 0)
			}
		},
		plan: r.plan,
	}
}

func (r agentReport) plan(p *planner, group []*entry) Operation {
	if group[0].settings.CreateIssue {
		return r.planIssue(p, group)
	}
	for _, e := range group {
		res := r.result(e)
		e.decided = &res
	}
	return p.operation(group, r.summary)
}

// planIssue plans the issue of a group.
func (r agentReport) planIssue(p *planner, group []*entry) Operation {
	settings := group[0].settings
	keys, sections := make([]string, len(group)), make([]string, len(group))
	for i, e := range group {
		keys[i], sections[i] = e.key, r.section(e)
	}
	body := r.intro + "\n\n" + strings.Join(sections, "\n\n")
	if !r.failed {
		body = p.incompleteNote() + body
	}
	op := p.issueOperation(group, groupKey(string(group[0].kind), keys...), settings.TitlePrefix+r.title, body, settings.Labels, settings.Footer)
	if !r.failed {
		return op
	}
	for _, e := range op.entries {
		if d := e.decided; d != nil {
			*d = r.asFailed(e, *d)
		}
	}
	if op.work != nil { // it is nil if the issue is there already
		op.work = &issueWork{op.work, r.asFailed}
	}
	return op
}

// labelled returns a text of an agent's with a label in bold in front of it. A text that does not
// begin with a paragraph, such as a list or a code fence, begins below the label, because it would
// not be one on the label's line.
func labelled(label, md string) string {
	separator := "\n\n"
	if blocks := markdown.Scan(md).Blocks; len(blocks) > 0 && blocks[0].Kind == markdown.ParagraphBlock {
		separator = " "
	}
	return "**" + label + "**" + separator + apart(md)
}

// asFailed turns done, the result of opening the issue, into the result of the report. The report
// counts as failed although its issue was opened. If it was not, asFailed returns done.
func (r agentReport) asFailed(e *entry, done Result) Result {
	if done.State != Applied && done.State != Adopted {
		return done
	}
	failed := r.result(e)
	failed.Object, failed.Notes = done.Object, done.Notes
	return failed
}

// issueWork opens an issue that reports something or replaces it, such as a push. turn returns an
// item's result, which is about what the issue reports or replaces, given the result of opening the
// issue.
type issueWork struct {
	open work
	turn func(e *entry, opened Result) Result
}

func (w *issueWork) execute(ctx context.Context, x *executor, op *Operation) []Result {
	results := w.open.execute(ctx, x, op)
	for i, e := range pending(op.entries) {
		results[i] = w.turn(e, results[i])
	}
	return results
}
