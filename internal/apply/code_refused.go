package apply

import (
	"context"
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// refusedCode is the operation of an item that was decided before anything was
// written: nothing, or an issue where the owner wants to be told so.
func (p *planner) refusedCode(op Operation, e *entry, st *codeState) Operation {
	r := st.refusal
	if st.asIssue {
		return p.violationIssue(op, e, st)
	}
	e.decide(r.state, r.code, "%s", r.message)
	e.decided.Notes = append(e.decided.Notes, st.notes...)
	if st.pull != nil && r.state == Adopted {
		e.decided.Object = &Object{Type: objCommit, SHA: st.tip(), Branch: st.branch, Number: st.pull.Number}
	}
	return op
}

// maxShown is how much of a patch an issue shows, in UTF-16 code units.
const maxShown = 40000

// violationIssue plans the issue that tells of changes which broke a rule about
// files, with the patch.
func (p *planner) violationIssue(op Operation, e *entry, st *codeState) Operation {
	title, text := "Changes that were not pushed", ""
	if it, ok := e.item.(*safeoutput.CreatePullRequest); ok {
		title, text = it.Title, it.Body
	}
	body := "An agent asked for changes that the rules of this repository do not allow, so they were **not** pushed.\n\n" +
		"> " + markdown.CodeSpan(st.refusal.code) + ": " + markdown.EscapeText(strings.TrimPrefix(st.refusal.message, nothingPushed)) + "\n"
	if strings.TrimSpace(text) != "" {
		body += "\n" + closed(text) + "\n"
	}
	if patch := string(st.patch); patch == "" {
		body += "\nThere is no patch to show; the notes of the workflow run say why.\n"
	} else if markdown.UTF16Len(patch) <= maxShown {
		body += "\n<details><summary>The patch</summary>\n\n" + markdown.Fence("diff", patch) + "\n\n</details>\n"
	} else {
		body += "\nThe patch is too long to be shown; the workflow run keeps it as a file.\n"
	}
	issue := p.issueOperation([]*entry{e}, groupKey("violation", []string{e.key}), title, body, nil, e.settings.Footer)
	issue.Summary = "open an issue instead of pushing: " + issue.Summary
	issue.Notes = append(issue.Notes, op.Notes...)
	switch w := issue.work.(type) {
	case *createWork:
		issue.work = &violationWork{create: w, refusal: st.refusal}
	default: // adopted, or not to be had
		if e.decided != nil && e.decided.State == Adopted {
			obj := e.decided.Object
			e.decide(st.refusal.state, st.refusal.code, "%s", st.refusal.message)
			e.decided.Object = obj
		}
	}
	return issue
}

// violationWork opens the issue. The item stays denied: what it asked for was not
// done.
type violationWork struct {
	create  *createWork
	refusal *refusal
}

func (w *violationWork) execute(ctx context.Context, x *executor, op *Operation) []Result {
	results := w.create.execute(ctx, x, op)
	for i, r := range results {
		if r.Object == nil {
			results[i].Notes = append(r.Notes, w.refusal.message)
			continue
		}
		results[i].State, results[i].Code = w.refusal.state, w.refusal.code
		results[i].Message = fmt.Sprintf("%s; issue #%d tells of it", w.refusal.message, r.Object.Number)
	}
	return results
}

// issueInstead opens an issue that links to where a person can open the pull
// request, where GitHub does not let the token do so.
func (w *pullWork) issueInstead(ctx context.Context, x *executor, op *Operation, tip, compare string) Result {
	text := "The branch " + markdown.CodeSpan(w.st.branch) + " holds the changes. GitHub does not let this workflow open pull requests; " +
		"[open it by hand](" + compare + ").\n\n" + w.e.item.(*safeoutput.CreatePullRequest).Body
	issue := w.p.issueOperation([]*entry{w.e}, groupKey("pull", []string{w.e.key}), w.title, text, w.labels, w.e.settings.Footer)
	work, ok := issue.work.(*createWork)
	if !ok { // adopted, or not to be had
		return *w.e.decided
	}
	r := work.execute(ctx, x, &issue)[0]
	r.Notes = append(r.Notes, w.st.notes...)
	if r.State == Applied || r.State == Adopted {
		r.State, r.Code = Applied, ""
		r.Message = fmt.Sprintf("the branch %q was pushed; issue #%d links to where the pull request can be opened, which GitHub does not let this token do", w.st.branch, r.Object.Number)
	}
	return r
}

// keepPatch stores the changes that were not delivered, so that nobody's work is
// lost, and tells where in the result.
func (x *executor) keepPatch(e *entry, r *Result) {
	st := x.plan.snap.code[e.index]
	if st == nil || len(st.patch) == 0 || r.File != "" || e.staged {
		return
	}
	if r.Object != nil && r.Object.SHA != "" { // a branch holds them
		return
	}
	switch r.State {
	case Failed, Denied, Skipped:
	default:
		return
	}
	if x.deps.Files == nil {
		return
	}
	path, err := x.deps.Files.WriteFile(fmt.Sprintf("airlock-%s.patch", e.key[:8]), st.patch)
	if err != nil {
		x.deps.log("the patch could not be kept: " + err.Error())
		return
	}
	r.File = path
	r.Notes = append(r.Notes, "the changes are kept as a patch, which git am --3way applies")
}

// maxPatch is how large a patch is kept for people, in bytes.
const maxPatch = 10 << 20

// seriesPatch is the patch of changes that could not be put onto anything; nil
// when it cannot be made.
func (c *coder) seriesPatch(st *codeState) []byte {
	data, err := c.code.Repo.SeriesPatch(c.o.ctx, st.series, maxPatch)
	return c.keepable(st, data, err)
}

// keepable returns a patch if it was made and holds no secret. One may stand in it
// although the changes bring none: in the lines that they take away or leave.
func (c *coder) keepable(st *codeState, data []byte, err error) []byte {
	if err != nil {
		st.note("the patch could not be kept: " + err.Error())
		return nil
	}
	if scanner := c.o.cfg.Secrets; scanner != nil && len(scanner.Scan(string(data))) > 0 {
		st.note("the patch is not kept, since it holds what looks like a secret")
		return nil
	}
	return data
}
