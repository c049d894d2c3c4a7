package acceptance

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/text"
)

// verification is one running verification.
type verification struct {
	req      Request
	cfg      Config
	deps     Deps
	worktree Worktree                           // nil until preflight has opened it
	paths    func() ([]string, error)           // all files of the work tree, listed once
	checks   func() (map[string]Checked, error) // the results of all checks that are named; they run once
	criteria []*criterion                       // in the order in which they are evaluated

	mu       sync.Mutex
	evidence Evidence
	lost     []lost
	pictures int // how many pictures of programs have got a number
}

// criterion is one criterion with its plan.
type criterion struct {
	Criterion
	index int // in the request
	// probes are what a machine verifies. If there are none, why is the reason, or "" if the request
	// is for the browser alone.
	probes []probe
	why    string
	// The programs that judge the criterion.
	byValidator, byBrowser bool

	mu    sync.Mutex
	parts []part // what each side found
	files int    // the number of files of evidence
}

// part is what one side, or one probe, found.
type part struct {
	status                Status
	evidence, remediation string
	machine               bool    // a machine verified it
	browser               bool    // it is the browser's side of the criterion
	confidence            float64 // of a program that judged it
}

// Verify evaluates the criteria of a request within its time. The error is the context's or a defect
// of Airlock's: everything else is in the response.
func Verify(ctx context.Context, req Request, cfg Config, deps Deps) (Response, error) {
	v := &verification{req: req, cfg: cfg, deps: deps}
	start := deps.Now()
	limited, cancel := context.WithTimeoutCause(ctx, req.timeout(), errTime)
	defer cancel()
	v.plan()
	for _, note := range firstOf(req.nearMisses(), maxNearMisses) {
		v.progress(Step{Text: note})
	}
	v.keep("request.json", "", "the request", req.raw)
	if why := v.preflight(limited); len(why) > 0 {
		for _, c := range v.criteria {
			c.add(part{status: Blocked, evidence: strings.Join(why, " "), remediation: "Remove what blocks, then verify again."})
		}
	} else {
		v.evaluate(limited)
	}
	if ctx.Err() != nil {
		return Response{}, context.Cause(ctx)
	}
	r := v.response()
	v.claims(limited, &r)
	if err := v.gates(limited, &r); err != nil {
		return Response{}, err
	}
	if ctx.Err() != nil {
		return Response{}, context.Cause(ctx)
	}
	r.Duration, r.Timestamp = seconds(deps.Now().Sub(start)), timestamp(deps.Now())
	return v.finish(r)
}

// errTime is the cause of a context whose time ran out.
var errTime = errors.New("the time of the verification ran out")

// maxNearMisses is how many near misses of a request are reported.
const maxNearMisses = 10

// plan decides who judges each criterion.
func (v *verification) plan() {
	for _, i := range v.req.focused() {
		c := &criterion{Criterion: v.req.Criteria[i], index: i}
		c.byBrowser = v.req.Type != Code
		if v.req.Type != Browser {
			c.probes, c.why = parseHint(c.Hint)
			c.byValidator = len(c.probes) == 0
		}
		v.criteria = append(v.criteria, c)
	}
}

// evaluate evaluates all criteria. While the programs judge their criteria, a machine verifies what
// it can: first the criteria about files alone, one after the other, then the remaining ones,
// several at the same time. In each group, those of a focus area begin first.
func (v *verification) evaluate(ctx context.Context) {
	v.checks = v.shareChecks(ctx)
	var wg crash.Group
	wg.Go(func() { v.askPrograms(ctx) })
	for _, c := range v.criteria {
		if len(c.probes) > 0 && c.isQuick() {
			v.evaluateOne(ctx, c)
		}
	}
	slots := make(chan struct{}, max(v.cfg.Parallel, 1))
	for _, c := range v.criteria {
		if c.isQuick() {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			v.evaluateOne(ctx, c)
		})
	}
	wg.Wait()
	v.blockIdleSide()
}

// blockIdleSide blocks all criteria of the type both if one side has skipped every one of them:
// that side has then verified nothing, and both sides have to pass.
func (v *verification) blockIdleSide() {
	for _, browser := range []bool{false, true} {
		verifies := func(p part) bool { return p.browser == browser && p.status != Skip }
		if v.req.Type != Both || slices.ContainsFunc(v.criteria, func(c *criterion) bool { return slices.ContainsFunc(c.parts, verifies) }) {
			continue
		}
		side := map[bool]string{false: "Without the browser", true: "In the browser"}[browser]
		for _, c := range v.criteria {
			c.add(part{status: Blocked, evidence: side + ", every criterion was skipped, and the type both asks for both sides."})
		}
	}
}

// isQuick reports whether a criterion has only probes of files, or none. It need not wait for
// commands.
func (c *criterion) isQuick() bool {
	return !slices.ContainsFunc(c.probes, func(p probe) bool { return p.kind != pathExists && p.kind != pathContains })
}

// evaluateOne has a machine verify one criterion.
func (v *verification) evaluateOne(ctx context.Context, c *criterion) {
	begin := v.deps.Now()
	v.progress(Step{Criterion: c.ID, Text: describe(c.probes)})
	for _, p := range c.probes {
		out := part{status: Blocked, evidence: "The time of the verification ran out before this was verified.", remediation: "Raise timeout_seconds."}
		if ctx.Err() == nil {
			if err := crash.Try(func() error { out = v.probe(ctx, c, p); return nil }); err != nil {
				out = part{status: Blocked, evidence: err.Error()}
			}
		}
		out.machine = out.status == Pass || out.status == Fail
		c.add(out)
	}
	v.progress(Step{Criterion: c.ID, Status: c.result().Status, Elapsed: v.deps.Now().Sub(begin)})
}

// probe verifies one thing.
func (v *verification) probe(ctx context.Context, c *criterion, p probe) part {
	switch p.kind {
	case pathExists, pathContains:
		return v.lookAt(p)
	case runCommand:
		return v.run(ctx, c, p.command)
	case fetchURL:
		return v.fetch(ctx, c, p)
	case namedCheck:
		return v.check(ctx, p.name)
	}
	return v.test(ctx, c, p.name)
}

// describe names what is verified, on one line.
func describe(probes []probe) string {
	var parts []string
	for _, p := range probes {
		parts = append(parts, p.String())
	}
	return strings.Join(parts, ", ")
}

// String returns the probe as a hint would have it.
func (p probe) String() string {
	switch p.kind {
	case pathExists:
		return p.path
	case pathContains:
		return fmt.Sprintf("%s contains %s", p.path, text.QuoteList(p.texts))
	case runCommand:
		return "$ " + p.command
	case fetchURL:
		if p.status != 0 {
			return fmt.Sprintf("%s %s -> %d", p.method, p.url, p.status)
		}
		return p.method + " " + p.url
	case namedCheck:
		return "check:" + p.name
	}
	return "test:" + p.name
}

func (c *criterion) add(p part) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.parts = append(c.parts, p)
}

// result returns how the criterion ended: it passes if a part does, and the others pass
// or are skipped.
func (c *criterion) result() CriterionResult {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := CriterionResult{ID: c.ID}
	var statuses []Status
	var evidence, remediation []string
	for _, p := range c.parts {
		statuses = append(statuses, p.status)
		evidence = append(evidence, p.evidence)
		if p.remediation != "" && (p.status == Fail || p.status == Blocked) && !slices.Contains(remediation, p.remediation) {
			remediation = append(remediation, p.remediation)
		}
	}
	r.Status = allOf(statuses)
	if len(c.parts) == 0 {
		r.Status, evidence = Blocked, []string{"Nothing judged this criterion."}
	}
	r.Evidence, r.Remediation = strings.Join(evidence, " "), strings.Join(remediation, " ")
	return r
}

// response makes the response of what was found, without claims and gates.
func (v *verification) response() Response {
	r := Response{TaskID: v.req.TaskID, Validator: "airlock"}
	verified := 0.0
	for _, c := range v.criteria {
		r.Results = append(r.Results, c.result())
		verified += c.confidence()
	}
	r.Verdict = VerdictOf(r.statuses())
	r.Confidence = new(math.Round(100*verified/float64(len(v.criteria))) / 100) // two decimal places
	return r
}

// confidence returns 1 for a criterion that a machine verified, the confidence of a program that
// judged it, and 0 for one that is blocked, or that a machine skipped. Of several parts, the least
// counts.
func (c *criterion) confidence() float64 {
	if len(c.parts) == 0 {
		return 0
	}
	least := 1.0
	for _, p := range c.parts {
		if p.status == Blocked {
			return 0
		}
		if !p.machine {
			least = min(least, p.confidence)
		}
	}
	return least
}

// finish adds the evidence and the summary, and saves the response.
func (v *verification) finish(r Response) (Response, error) {
	r.Reasoning = reasoning(r)
	evidence := v.evidence
	r.Evidence = &evidence
	r.Mask(v.deps.Mask)
	own := File{Path: "response.json", Description: "this response"}
	if v.deps.Save != nil {
		evidence.Files = append(evidence.Files, own)
	}
	slices.SortFunc(evidence.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	if evidence.isEmpty() {
		r.Evidence = nil
	}
	raw, err := r.Encode()
	if err != nil || v.deps.Save == nil {
		return r, err
	}
	if err := v.deps.Save(own.Path, raw); err != nil { // the caller has the response all the same
		i := slices.Index(evidence.Files, own)
		evidence.Files[i].Description += "; it could not be kept: " + v.noteLoss(own.Path, err)
	}
	v.reportLost()
	return r, nil
}

// reasoning sums the response up.
func reasoning(r Response) string {
	count := map[Status]int{}
	for _, s := range r.statuses() {
		count[s]++
	}
	var parts []string
	for _, s := range []struct {
		status Status
		word   string
	}{{Pass, "verified"}, {Fail, "not met"}, {Blocked, "could not be verified"}, {Skip, "skipped"}} {
		if n := count[s.status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s.word))
		}
	}
	criteria := "1 criterion"
	if n := len(r.Results); n != 1 {
		criteria = fmt.Sprintf("%d criteria", n)
	}
	out := criteria + ": " + strings.Join(parts, ", ") + "."
	wrong := 0
	for _, c := range r.Claims {
		if c.Status == Fail {
			wrong++
		}
	}
	if wrong > 0 {
		out += fmt.Sprintf(" %d of %s wrong.", wrong, text.Count(len(r.Claims), "claim"))
	}
	return out
}

// progress reports a step to the caller, without secrets.
func (v *verification) progress(s Step) {
	if v.deps.Progress == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	s.Criterion, s.Text = v.deps.Mask(s.Criterion), v.deps.Mask(s.Text)
	v.deps.Progress(s)
}
