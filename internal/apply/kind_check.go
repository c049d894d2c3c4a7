package apply

import (
	"context"
	"fmt"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
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
	op.Permissions = []Permission{{"checks", "write"}}
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

// checkWork makes a check run, or completes one.
type checkWork struct {
	repo  githubapi.Repo
	list  listID
	key   string
	it    *safeoutput.CheckRun
	there *Object // of an earlier attempt, which could not end; nil for none
	notes []string
}

func (w *checkWork) execute(ctx context.Context, x *executor, op *Operation) []Result {
	e := op.entries[0]
	message := "completed the check run"
	var sent int
	if w.there == nil {
		made, err := w.make(ctx, x, op)
		if err != nil {
			return []Result{x.failed(op, e, err)}
		}
		w.there, sent, message = &made, len(w.batch(0)), "created the check run"
	} else {
		sent = w.sent()
	}
	for ; sent < len(w.it.Annotations); sent += len(w.batch(sent)) {
		err := w.add(ctx, x, sent)
		if isKind(err, githubapi.Validation) {
			w.refused(sent, err)
			continue
		}
		if err != nil {
			r := x.failed(op, e, err)
			r.Message = fmt.Sprintf("the check run has only %d of its %d annotations; %s", sent, len(w.it.Annotations), r.Message)
			r.Object, r.Notes = w.there, w.notes
			return []Result{r}
		}
	}
	r := e.result(Applied, "", "%s %q", message, w.it.Name)
	r.Object, r.Notes = w.there, w.notes
	return []Result{r}
}

// make creates the check run with its first annotations. Where GitHub does not take
// those, the conclusion is still told.
func (w *checkWork) make(ctx context.Context, x *executor, op *Operation) (Object, error) {
	n := githubapi.NewCheckRun{Name: w.it.Name, HeadSHA: w.it.HeadSHA, ExternalID: w.key, Conclusion: w.it.Conclusion, Output: w.output(0)}
	create := func() (Object, []string, error) {
		obj, _, notes, err := x.create(ctx, &createWork{
			key: w.key, list: w.list, what: "the check run",
			do: func(ctx context.Context, gh GitHub) (Object, []string, error) {
				got, err := gh.CreateCheckRun(ctx, w.repo, n)
				return checkRunObject(got), nil, err
			},
		}, op.entries)
		return obj, notes, err
	}
	obj, notes, err := create()
	if isKind(err, githubapi.Validation) && len(n.Output.Annotations) > 0 {
		refusal := err
		n.Output.Annotations = nil
		if obj, notes, err = create(); err == nil {
			w.refused(0, refusal)
		}
	}
	w.notes = append(w.notes, notes...)
	return obj, err
}

// refused notes that a batch of annotations was not taken.
func (w *checkWork) refused(sent int, err error) {
	w.notes = append(w.notes, fmt.Sprintf("GitHub did not take %s, from the %dth on: %s", text.Count(len(w.batch(sent)), "annotation"), sent+1, reason(err)))
}

// add sends one batch of annotations once: after an ambiguous failure it looks
// whether the check run has them, and only when it has not, tries again.
func (w *checkWork) add(ctx context.Context, x *executor, sent int) error {
	for try := 1; ; try++ {
		before := w.there.known.annotations
		err := x.write(ctx, func(ctx context.Context) error {
			got, err := x.deps.GitHub.AddAnnotations(ctx, w.repo, w.there.ID, w.it.Name, w.output(sent))
			if err == nil {
				w.there.known.annotations = got.Annotations
			}
			return err
		})
		if !isKind(err, githubapi.Ambiguous) {
			return err
		}
		there, looked := w.lookAgain(ctx, x, before)
		if there {
			return nil
		}
		if !looked || try == maxTries {
			return err
		}
	}
}

// lookAgain waits for a check run to have more annotations than before. looked is
// false where that cannot be known.
func (w *checkWork) lookAgain(ctx context.Context, x *executor, before int) (there, looked bool) {
	for _, d := range lookWaits() {
		cancelled := x.deps.Clock.Sleep(ctx, d) != nil
		rctx, done := inFlight(ctx, lookGrace)
		got, err := x.deps.GitHub.GetCheckRun(rctx, w.repo, w.there.ID)
		done()
		looked = err == nil && !cancelled
		if err == nil && got.Annotations > before {
			w.there.known.annotations = got.Annotations
			return true, true
		}
		if cancelled {
			return false, false
		}
	}
	return false, looked
}

// output is what a request shows that carries the annotations from sent on.
func (w *checkWork) output(sent int) githubapi.CheckOutput {
	o := githubapi.CheckOutput{Title: w.it.Title, Summary: w.it.Summary, Text: w.it.Text}
	for _, a := range w.batch(sent) {
		o.Annotations = append(o.Annotations, githubapi.CheckAnnotation(a))
	}
	return o
}

// batch is what one request carries of the annotations from sent on.
func (w *checkWork) batch(sent int) []safeoutput.CheckAnnotation {
	left := w.it.Annotations[sent:]
	return left[:min(len(left), githubapi.MaxAnnotations)]
}

// sent is how many annotations the check run that is there has got: the first
// request carries a whole batch or nothing.
func (w *checkWork) sent() int {
	return min(max(w.there.known.annotations, len(w.batch(0))), len(w.it.Annotations))
}
