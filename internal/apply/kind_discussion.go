package apply

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// discussionHandler applies create-discussion: one discussion for each item.
var discussionHandler = handler{
	text: true,
	needs: func(n *needs, _ *entry) {
		n.categories = true
		n.list(listDiscussions, 0)
	},
	plan: planDiscussion,
}

func planDiscussion(p *planner, group []*entry) Operation {
	e := group[0]
	it := e.item.(*safeoutput.CreateDiscussion)
	title := p.cfg.title(it.Title)
	op := p.operation(group, fmt.Sprintf("create the discussion %q", shortTitle(title)))
	op.Permissions = e.permissions()
	categories := p.snap.categories
	if categories != nil && categories.err != nil { // this includes discussions that are switched off
		op.failAll(categories.err, "")
		return op
	}
	list := listID{what: listDiscussions}
	if p.adopt(&op, list, e.key) {
		return op
	}
	category := githubapi.DiscussionCategory{ID: "<category>", RepositoryID: "<repository>"}
	if categories != nil {
		var problem string
		if category, problem = chooseCategory(categories.value, it.Category); problem != "" {
			e.decide(Failed, CodeCategoryNotFound, "%s", problem)
			return op
		}
		op.Notes = append(op.Notes, "in the category "+category.Name)
	} else {
		op.Notes = append(op.Notes, "the category is looked up when the plan is carried out")
	}
	body, cut := p.cfg.body(p.leadText()+it.Body, p.cfg.footer(e.settings.Footer), e.key)
	op.noteCut(cut)
	d := githubapi.NewDiscussion{RepositoryID: category.RepositoryID, CategoryID: category.ID, Title: title, Body: body}
	op.Requests = []Request{graphQL("createDiscussion", map[string]any{
		"repositoryId": d.RepositoryID, "categoryId": d.CategoryID, "title": d.Title, "body": d.Body})}
	op.work = &createWork{
		key: e.key, list: list, what: "the discussion",
		do: func(ctx context.Context, gh *githubapi.Client) (Object, bool, []string, error) {
			got, err := gh.CreateDiscussion(ctx, d)
			return discussionObject(got), hasKey(got.Body, e.key), nil, err
		},
	}
	return op
}

// chooseCategory finds a category by node id, slug or name, in that order; slug and name without
// regard to case. Without a wish it chooses "general" if that exists, otherwise the first in which
// everybody may start a discussion by default (not announcements), otherwise the first. If it finds
// no category, it returns a message with the reason.
func chooseCategory(all []githubapi.DiscussionCategory, wish string) (githubapi.DiscussionCategory, string) {
	wish = strings.TrimSpace(wish)
	if len(all) == 0 {
		return githubapi.DiscussionCategory{}, "the repository has no discussion categories; add one in its discussions' settings"
	}
	if wish == "" {
		i := slices.IndexFunc(all, func(c githubapi.DiscussionCategory) bool { return strings.EqualFold(c.Slug, "general") })
		if i < 0 {
			i = slices.IndexFunc(all, func(c githubapi.DiscussionCategory) bool { return !strings.EqualFold(c.Slug, "announcements") })
		}
		return all[max(i, 0)], ""
	}
	for _, matches := range []func(githubapi.DiscussionCategory) bool{
		func(c githubapi.DiscussionCategory) bool { return c.ID == wish },
		func(c githubapi.DiscussionCategory) bool { return strings.EqualFold(c.Slug, wish) },
		func(c githubapi.DiscussionCategory) bool { return strings.EqualFold(c.Name, wish) },
	} {
		if i := slices.IndexFunc(all, matches); i >= 0 {
			return all[i], ""
		}
	}
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = fmt.Sprintf("%s (%s)", c.Name, c.Slug)
	}
	return githubapi.DiscussionCategory{}, fmt.Sprintf("the repository has no discussion category %q; there are: %s", wish, strings.Join(names, ", "))
}
