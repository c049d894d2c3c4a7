package apply

import (
	"context"
	"fmt"
	"slices"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
)

// createIssueHandler applies create-issue: one issue for each item.
var createIssueHandler = handler{
	text:  true,
	needs: func(n *needs, e *entry) { n.list(issueList(e.key), 0) },
	plan: func(p *planner, group []*entry) Operation {
		it := group[0].item.(*safeoutput.CreateIssue)
		return p.issueOperation(group, group[0].key, it.Title, p.leadText()+it.Body, it.Labels, group[0].settings.Footer)
	},
}

// issueList returns the list of issues that is read to find one by its key.
func issueList(key string) string {
	if len(key) == stableLen { // an earlier workflow run may have created it
		return listEarlierIssues
	}
	return listIssues
}

// issueOperation plans one new issue for all items of a group, unless an earlier attempt, or for a
// stable key an earlier workflow run, has created it.
func (p *planner) issueOperation(group []*entry, key, title, content string, labels []string, footer *policy.Footer) Operation {
	title = p.cfg.title(title)
	op := p.operation(group, fmt.Sprintf("create the issue %q", shortTitle(title)))
	op.Permissions = permissionsFor(safeoutput.KindCreateIssue, policy.Target{})
	list := listID{what: issueList(key)}
	if p.adopt(&op, list, key) {
		return op
	}
	body, cut := p.cfg.body(content, p.cfg.footer(footer), key)
	op.noteCut(cut)
	issue := githubapi.NewIssue{Title: title, Body: body, Labels: labels}
	op.Requests = []Request{newRequest("POST", p.path("/issues"), struct {
		Title  string   `json:"title"`
		Body   string   `json:"body"`
		Labels []string `json:"labels,omitempty"`
	}{issue.Title, issue.Body, issue.Labels})}
	op.work = &createWork{
		key: key, list: list, what: "the issue",
		do: func(ctx context.Context, gh *githubapi.Client) (Object, bool, []string, error) {
			got, err := gh.CreateIssue(ctx, p.repo, issue)
			if err != nil {
				return Object{}, false, nil, err
			}
			var notes []string
			if missing := missingNames(got.Labels, issue.Labels); len(missing) > 0 {
				notes = append(notes, "GitHub did not add these labels to the issue: "+quoteAll(missing))
			}
			return issueObject(got), hasKey(got.Body, key), notes, nil
		},
	}
	return op
}

// missingNames returns those wanted names of labels or people that are missing, compared
// without regard to case, as GitHub does.
func missingNames(have, want []string) []string {
	var missing []string
	for _, name := range want {
		if !slices.ContainsFunc(have, func(h string) bool { return text.FoldCase(h) == text.FoldCase(name) }) {
			missing = append(missing, name)
		}
	}
	return missing
}

// shortTitle shortens a title for a summary.
func shortTitle(title string) string { return text.Truncate(text.OneLine(title), 80) }
