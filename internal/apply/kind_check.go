package apply

import (
	"context"
	"fmt"
	"strconv"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
)

// checkRunHandler applies check-run: one check run for each item, whose annotations are sent
// in as many requests as they take.
var checkRunHandler = handler{
	needs: func(n *needs, e *entry) { n.lists.add(checkRunList(e.item.(*safeoutput.CheckRun))) },
	plan:  planCheckRun,
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
	work := &checkWork{list: checkRunList(it), key: e.key, it: it}
	if err := p.snap.lists[work.list]; err != nil {
		op.failReading(err)
		if readOnly := readOnlyRunOf(p.ev); lacksPermission(err) && readOnly != nil {
			e.decide(Skipped, readOnly.code, "%s", readOnly.message(op.Permissions))
		}
		return op
	}
	sent, id := 0, "<check run>"
	if own := newestOf(p.snap.found(e.key)); own != nil {
		op.Adopts = []Object{*own}
		if own.known.annotations >= len(it.Annotations) {
			e.adopt(*own, madeEarlier)
			return op
		}
		work.existing = own
		sent, id = work.sent(), strconv.FormatInt(own.ID, 10)
		op.Summary = fmt.Sprintf("add the other %s to the check run %q", text.Count(len(it.Annotations)-sent, "annotation"), it.Name)
	} else {
		sent = len(work.batch(0))
		op.Requests = append(op.Requests, newRequest("POST", p.path("/check-runs"), struct {
			Name       string          `json:"name"`
			HeadSHA    string          `json:"head_sha"`
			ExternalID string          `json:"external_id"`
			Status     string          `json:"status"`
			Conclusion string          `json:"conclusion"`
			Output     checkOutputJSON `json:"output"`
		}{it.Name, it.HeadSHA, externalID(e.key, p.cfg.Run), "completed", it.Conclusion, work.outputJSON(0)}))
	}
	for ; sent < len(it.Annotations); sent += len(work.batch(sent)) {
		op.Requests = append(op.Requests, newRequest("PATCH", p.path("/check-runs/"+id), struct {
			Name   string          `json:"name"`
			Output checkOutputJSON `json:"output"`
		}{it.Name, work.outputJSON(sent)}))
	}
	op.work = work
	return op
}

// newestOf returns a copy of the newest of several check runs with one key, because GitHub shows
// that one. It returns nil if there are no check runs.
func newestOf(own []Object) *Object {
	if len(own) == 0 {
		return nil
	}
	o := own[len(own)-1]
	k := *o.known
	o.known = &k
	return &o
}

// checkWork creates a check run, or completes one.
type checkWork struct {
	list listID
	key  string
	it   *safeoutput.CheckRun
	// existing is the check run that this or an earlier attempt has created; nil for none.
	existing *Object
	anew     bool // it replaces a check run that has annotations twice
	notes    []string
}

func (w *checkWork) execute(ctx context.Context, x *executor, op *Operation) []Result {
	e := op.entries[0]
	message := "completed the check run"
	if w.existing == nil {
		created, err := w.create(ctx, x, op)
		if err != nil {
			return []Result{x.failed(op, e, err)}
		}
		w.existing, message = &created, "created the check run"
	}
	for sent := w.sent(); sent < len(w.it.Annotations); sent += len(w.batch(sent)) {
		err := w.add(ctx, x, sent)
		if isKind(err, githubapi.Validation) {
			w.noteRefused(sent, err)
			continue
		}
		if err != nil {
			r := x.failed(op, e, err)
			r.Message = fmt.Sprintf("the check run has only %d of its %d annotations; %s", sent, len(w.it.Annotations), r.Message)
			r.Object, r.Notes = w.existing, w.notes
			return []Result{r}
		}
	}
	if w.existing.known.annotations > len(w.it.Annotations) && x.othersAtWork() && !w.anew {
		// Annotations cannot be removed, but GitHub shows only the newest check run of a name.
		again := &checkWork{list: w.list, key: w.key, it: w.it, anew: true,
			notes: append(w.notes, "another run of the same job added the same annotations; the check run was made anew")}
		return again.execute(ctx, x, op)
	}
	r := e.result(Applied, "", "%s %q", message, w.it.Name)
	r.Object, r.Notes = w.existing, w.notes
	return []Result{r}
}

// create creates the check run with its first annotations, or without them where GitHub does
// not accept those, so that the conclusion is reported in any case.
func (w *checkWork) create(ctx context.Context, x *executor, op *Operation) (Object, error) {
	n := githubapi.NewCheckRun{Name: w.it.Name, HeadSHA: w.it.HeadSHA, ExternalID: externalID(w.key, x.plan.config.Run), Conclusion: w.it.Conclusion, Output: w.output(0)}
	work := &createWork{
		key: w.key, list: w.list, what: "the check run",
		do: func(ctx context.Context, gh *githubapi.Client) (Object, bool, []string, error) {
			got, err := gh.CreateCheckRun(ctx, x.repo, n)
			return checkRunObject(got), got.ExternalID == n.ExternalID, nil, err
		},
	}
	obj, notes, err := x.create(ctx, work, op.entries)
	if isKind(err, githubapi.Validation) && len(n.Output.Annotations) > 0 {
		refusal := err
		n.Output.Annotations = nil
		if obj, notes, err = x.create(ctx, work, op.entries); err == nil {
			w.noteRefused(0, refusal)
		}
	}
	w.notes = append(w.notes, notes...)
	return obj, err
}

// noteRefused notes that GitHub did not accept a batch of annotations.
func (w *checkWork) noteRefused(sent int, err error) {
	w.notes = append(w.notes, fmt.Sprintf("GitHub did not accept %s, from number %d on: %s", text.Count(len(w.batch(sent)), "annotation"), sent+1, reason(err)))
}

// add sends one batch of annotations once: see executor.once.
func (w *checkWork) add(ctx context.Context, x *executor, sent int) error {
	before := w.existing.known.annotations
	_, err := x.once(ctx, func(ctx context.Context) error {
		got, err := x.deps.GitHub.AddAnnotations(ctx, x.repo, w.existing.ID, w.it.Name, w.output(sent))
		if err == nil {
			w.existing.known.annotations = got.Annotations
		}
		return err
	}, func(ctx context.Context) (bool, error) {
		got, err := x.deps.GitHub.GetCheckRun(ctx, x.repo, w.existing.ID)
		more := err == nil && got.Annotations > before
		if more {
			w.existing.known.annotations = got.Annotations
		}
		return more, err
	})
	return err
}

// batch returns the annotations of the next request, where sent is how many were sent before it.
func (w *checkWork) batch(sent int) []safeoutput.CheckAnnotation {
	left := w.it.Annotations[sent:]
	return left[:min(len(left), githubapi.MaxAnnotations)]
}

// sent returns how many of the item's annotations the existing check run has: at least the first
// batch, which came with its creation, even if GitHub does not count it yet, and at most all, even
// if it has some twice.
func (w *checkWork) sent() int {
	return min(max(w.existing.known.annotations, len(w.batch(0))), len(w.it.Annotations))
}

// output returns the output of the next request, where sent is how many annotations were sent before
// it.
func (w *checkWork) output(sent int) githubapi.CheckOutput {
	o := githubapi.CheckOutput{Title: w.it.Title, Summary: w.it.Summary, Text: w.it.Text}
	for _, a := range w.batch(sent) {
		o.Annotations = append(o.Annotations, githubapi.CheckAnnotation(a))
	}
	return o
}

// checkOutputJSON is the output as it is sent.
type checkOutputJSON struct {
	Title       string                       `json:"title"`
	Summary     string                       `json:"summary"`
	Text        string                       `json:"text,omitempty"`
	Annotations []safeoutput.CheckAnnotation `json:"annotations,omitempty"`
}

func (w *checkWork) outputJSON(sent int) checkOutputJSON {
	return checkOutputJSON{w.it.Title, w.it.Summary, w.it.Text, w.batch(sent)}
}
