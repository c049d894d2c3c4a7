package apply

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// pullHandler applies create-pull-request: the changes on a branch, and one pull
// request for it. A later run of the same workflow updates both.
func pullHandler() handler {
	return handler{
		code:  true,
		needs: needCode,
		plan:  planPull,
	}
}

// needCode adds what an item that carries code needs: its changes and who we are,
// which the commits name.
func needCode(n *needs, e *entry) {
	n.code = append(n.code, e)
	if e.settings.Changes.FallbackIssue || e.settings.Changes.OnViolation != "" {
		n.list(listIssues, 0)
	}
}

func planPull(p *planner, group []*entry) Operation {
	e := group[0]
	it := e.item.(*safeoutput.CreatePullRequest)
	title, _ := startable(p.cfg.title(it.Title)) // which becomes a commit's when it is merged
	op := p.operation(group, fmt.Sprintf("open the pull request %q", shorten(title, 80)))
	op.Permissions = append(write(permContents), write(permPulls)...)
	st := p.snap.code[e.index]
	if st == nil {
		e.decide(Failed, CodeNoClone, "the changes were not read")
		return op
	}
	op.Notes = append(op.Notes, st.notes...)
	if st.refusal != nil {
		return p.refusedCode(op, e, st)
	}
	op.Target = fmt.Sprintf("branch %s", st.branch)
	w := &pullWork{p: p, e: e, st: st, title: title, labels: it.Labels, reviewers: e.settings.Changes.Reviewers, draft: it.Draft == nil || *it.Draft}
	w.body, w.cut = w.text(it.Body)
	op.noteCut(w.cut)
	op.Requests = append(p.pushRequests(e, st), w.requests()...)
	if st.pull != nil {
		op.Summary = fmt.Sprintf("update pull request #%d %q", st.pull.Number, shorten(title, 80))
	}
	op.work = w
	return op
}

// pullWork pushes the branch and opens or updates its pull request.
type pullWork struct {
	p                 *planner
	e                 *entry
	st                *codeState
	title, body       string
	labels, reviewers []string
	draft, cut        bool
}

// text composes the body. Its marker says which text it is the marker of, so that
// a later run knows whether somebody has edited title or text since.
func (w *pullWork) text(text string) (body string, cut bool) {
	footer := w.p.cfg.footer(w.e.settings.Footer)
	body, cut = w.p.cfg.body(text, footer, w.e.key)
	return body[:strings.LastIndex(body, markdown.Marker(w.e.key))] + markdown.Marker(pullKey(w.e.key, w.title, body)), cut
}

// pullKey is the key in a pull request's marker: the item's, and 16 digits of the
// SHA-256 of title and text.
func pullKey(key, title, body string) string {
	h := sha256.New()
	writeField(h, title)
	writeField(h, strings.TrimSpace(markdown.StripMarkers(body)))
	return key + hex.EncodeToString(h.Sum(nil))[:16]
}

// untouched reports whether title and text of a pull request are as we wrote them.
func untouched(p githubapi.Pull) bool {
	key, ok := markdown.LastLineMarker(p.Body)
	return ok && len(key) > keyLen && pullKey(key[:keyLen], p.Title, strings.ReplaceAll(p.Body, "\r\n", "\n")) == key
}

// edit is what an open pull request lacks of the item's title and text; zero where
// nothing is to be changed.
func (w *pullWork) edit() (edit githubapi.PullEdit, note string) {
	is := w.st.pull
	switch {
	case is.Title == w.title && sameText(markdown.StripMarkers(is.Body), markdown.StripMarkers(w.body)):
		return edit, ""
	case !untouched(*is):
		return edit, "title and text of the pull request were left alone, since somebody has edited them"
	}
	return githubapi.PullEdit{Title: &w.title, Body: &w.body}, ""
}

// requests are the writes after the push, as they are expected.
func (w *pullWork) requests() []Request {
	number := "<number>"
	var reqs []Request
	if w.st.pull == nil {
		reqs = append(reqs, newRequest("POST", w.p.path("/pulls"), struct {
			Title string `json:"title"`
			Body  string `json:"body"`
			Head  string `json:"head"`
			Base  string `json:"base"`
			Draft bool   `json:"draft"`
		}{w.title, w.body, w.st.branch, w.st.base, w.draft}))
	} else {
		number = fmt.Sprint(w.st.pull.Number)
		if edit, _ := w.edit(); edit != (githubapi.PullEdit{}) {
			reqs = append(reqs, newRequest("PATCH", w.p.path("/pulls/"+number), map[string]string{"title": w.title, "body": w.body}))
		}
	}
	if labels := w.lackingLabels(); len(labels) > 0 {
		reqs = append(reqs, newRequest("POST", w.p.path("/issues/"+number+"/labels"), map[string][]string{"labels": labels}))
	}
	if who := w.lackingReviewers(); len(who) > 0 {
		users, teams := githubapi.SplitReviewers(who)
		reqs = append(reqs, newRequest("POST", w.p.path("/pulls/"+number+"/requested_reviewers"), struct {
			Users []string `json:"reviewers,omitempty"`
			Teams []string `json:"team_reviewers,omitempty"`
		}{users, teams}))
	}
	return reqs
}

// lackingLabels are the labels that the pull request does not have yet.
func (w *pullWork) lackingLabels() []string {
	if w.st.pull == nil {
		return w.labels
	}
	return missingLabels(w.st.pull.Labels, w.labels)
}

// lackingReviewers are those who were not asked yet. They are asked once, for a new
// pull request; an earlier attempt that opened it may not have come to it.
func (w *pullWork) lackingReviewers() []string {
	is := w.st.pull
	if is == nil {
		return w.reviewers
	}
	key, _ := markdown.LastLineMarker(is.Body)
	if w.p.cfg.Run.Attempt <= 1 || !strings.HasPrefix(key, w.e.key) {
		return nil
	}
	return missingNames(is.Reviewers, w.reviewers)
}
