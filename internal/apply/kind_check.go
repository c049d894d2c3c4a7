package apply

import (
	"fmt"

	"github.com/agent-airlock/airlock/internal/text"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// checkRunHandler applies check-run: one check run for an item, whose annotations
// go out in as many requests as they take.
func checkRunHandler() handler {
	return handler{
		needs: func(n *needs, e *entry) { n.lists.add(checkRunList(e.item.(*safeoutput.CheckRun))) },
		plan:  planCheckRun,
	}
}

func checkRunList(it *safeoutput.CheckRun) listID {
	return listID{what: listCheckRuns, commit: it.HeadSHA, name: it.Name}
}

func planCheckRun(p *planner, group []*entry) Operation {
	e := group[0]
	it := e.item.(*safeoutput.CheckRun)
	op := p.operation(group, fmt.Sprintf("create the check run %q with %s", it.Name, text.Count(len(it.Annotations), "annotation")))
	op.Target = fmt.Sprintf("commit %.7s", it.HeadSHA)
	op.Permissions = write(permChecks)
	list := checkRunList(it)
	if err := p.snap.lists[list]; err != nil {
		if p.unread(&op, group, err); lacksPermission(err) && readOnlyFork(p.ev.Fork, p.ev.Name) {
			e.decide(Skipped, CodeForkReadOnly, forkMessage)
		}
		return op
	}
	w := &checkWork{repo: p.repo, list: list, key: e.key, it: it}
	sent := 0
	if own := newestOf(p.snap.found(e.key)); own != nil {
		op.Adopts = []Object{*own}
		if w.there = own; own.known.annotations >= len(it.Annotations) {
			e.decide(Adopted, "", "an earlier attempt of this workflow run made it already")
			e.decided.Object = own
			return op
		}
		sent = w.sent()
		op.Summary = fmt.Sprintf("add the other %s to the check run %q", text.Count(len(it.Annotations)-sent, "annotation"), it.Name)
	} else {
		sent = len(w.batch(0))
		op.Requests = append(op.Requests, newRequest("POST", p.path("/check-runs"), w.createJSON()))
	}
	for ; sent < len(it.Annotations); sent += len(w.batch(sent)) {
		op.Requests = append(op.Requests, newRequest("PATCH", p.path("/check-runs/"+w.shownID()), struct {
			Name   string          `json:"name"`
			Output checkOutputJSON `json:"output"`
		}{it.Name, outputJSON(w.output(sent))}))
	}
	op.work = w
	return op
}

// newestOf is a copy of the check run that GitHub shows, of several with one key;
// nil for none.
func newestOf(own []Object) *Object {
	if len(own) == 0 {
		return nil
	}
	o := own[len(own)-1]
	k := *o.known
	o.known = &k
	return &o
}

// checkOutputJSON is the output of a check run as it is sent.
type checkOutputJSON struct {
	Title       string                       `json:"title"`
	Summary     string                       `json:"summary"`
	Text        string                       `json:"text,omitempty"`
	Annotations []safeoutput.CheckAnnotation `json:"annotations,omitempty"`
}

func outputJSON(o githubapi.CheckOutput) checkOutputJSON {
	out := checkOutputJSON{Title: o.Title, Summary: o.Summary, Text: o.Text}
	for _, a := range o.Annotations {
		out.Annotations = append(out.Annotations, safeoutput.CheckAnnotation(a))
	}
	return out
}

func (w *checkWork) createJSON() any {
	return struct {
		Name       string          `json:"name"`
		HeadSHA    string          `json:"head_sha"`
		ExternalID string          `json:"external_id"`
		Status     string          `json:"status"`
		Conclusion string          `json:"conclusion"`
		Output     checkOutputJSON `json:"output"`
	}{w.it.Name, w.it.HeadSHA, w.key, "completed", w.it.Conclusion, outputJSON(w.output(0))}
}

// shownID is the check run's id in a plan's requests.
func (w *checkWork) shownID() string {
	if w.there == nil {
		return "<check run>"
	}
	return fmt.Sprint(w.there.ID)
}
