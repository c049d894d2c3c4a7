package apply

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// createIssueHandler applies create-issue: one issue an item.
func createIssueHandler() handler {
	return handler{
		text:  true,
		needs: func(n *needs, _ *entry) { n.list(listIssues, 0) },
		plan: func(p *planner, group []*entry) Operation {
			it := group[0].item.(*safeoutput.CreateIssue)
			return p.issueOperation(group, group[0].key, it.Title, p.lead()+it.Body, it.Labels, group[0].settings.Footer)
		},
	}
}

// issueOperation plans one new issue for all items of a group.
func (p *planner) issueOperation(group []*entry, key, title, text string, labels []string, footer *policy.Footer) Operation {
	title = p.cfg.title(title)
	op := p.operation(group, fmt.Sprintf("create the issue %q", shorten(title, 80)))
	op.Permissions = permissionsFor(safeoutput.KindCreateIssue, policy.Target{})
	list := listID{what: listIssues, number: 0}
	if p.adopt(&op, list, group, key) {
		return op
	}
	body, cut := p.cfg.body(text, p.cfg.footer(footer), key)
	op.noteCut(cut)
	issue := githubapi.NewIssue{Title: title, Body: body, Labels: labels}
	op.Requests = []Request{newRequest("POST", p.path("/issues"), struct {
		Title  string   `json:"title"`
		Body   string   `json:"body"`
		Labels []string `json:"labels,omitempty"`
	}{issue.Title, issue.Body, issue.Labels})}
	op.work = &createWork{
		key: key, list: list, what: "the issue",
		do: func(ctx context.Context, gh GitHub) (Object, []string, error) {
			got, err := gh.CreateIssue(ctx, p.repo, issue)
			if err != nil {
				return Object{}, nil, err
			}
			var notes []string
			if missing := missingLabels(got.Labels, issue.Labels); len(missing) > 0 {
				notes = append(notes, "GitHub did not put these labels on the issue: "+quoted(missing))
			}
			return issueObject(got), notes, nil
		},
	}
	return op
}

// missingLabels returns those wanted labels that are not there.
func missingLabels(have, want []string) []string { return missingNames(have, want) }

// missingNames returns those wanted names of labels or people that are not there,
// compared without regard to case, as GitHub does.
func missingNames(have, want []string) []string {
	var missing []string
	for _, l := range want {
		if !slices.ContainsFunc(have, func(h string) bool { return strings.EqualFold(h, l) }) {
			missing = append(missing, l)
		}
	}
	return missing
}

// cutText is what the plan and the results say of a text that did not fit.
const cutText = "the text is longer than GitHub allows and is cut, with a note where it ends"

// noteCut records that a text did not fit.
func (op *Operation) noteCut(cut bool) {
	if cut {
		op.Notes = append(op.Notes, cutText)
	}
}
