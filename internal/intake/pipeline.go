package intake

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

const (
	// maxInFlight is how many bytes of records are processed at the same time,
	// unless a single batch is larger. They are counted in units of slotSize.
	maxInFlight = 16 << 20
	slotSize    = 64 << 10
	// maxSources is how many bytes of records the outcomes keep together, so that no file can
	// fill the memory.
	maxSources = 64 << 20
	// maxReused is the size in bytes of the largest batch that is used again.
	maxReused = 1 << 20
)

// batch is a sequence of records that is read, judged by a worker, and passed to
// the sink in the order of the input.
type batch struct {
	in       safeoutput.Batch
	slots    int // how many elements of pipeline.slots it occupies
	verdicts []verdict
	encoded  []byte
	done     chan struct{}
}

// run reads NDJSON, or one {"items": [...], "errors": [...]} document, and passes
// each record's outcome to sink, in the order of the input and on the caller's
// goroutine. Memory is bounded by the longest record, and for a document by its items.
// What an outcome's Accepted points to, and with encode the item's canonical JSON, is
// valid until sink returns.
//
// The error is the context's, the reader's, the sink's, or about an invalid setting in
// Config.Sanitize; a rejected record is not an error. When run returns before the end, a Read of
// src may still be in progress.
func run(ctx context.Context, src io.Reader, cfg Config, encode bool, sink func(Outcome) error) (Input, error) {
	d, err := newDoor(cfg)
	if err != nil {
		return Input{}, err
	}
	workers := cfg.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &pipeline{
		door: d, encode: encode, reader: safeoutput.NewReader(src),
		free: make(chan *batch, 2*workers+2), work: make(chan *batch, 2*workers+2), order: make(chan *batch, 2*workers+2),
		slots: make(chan struct{}, maxInFlight/slotSize), counts: map[safeoutput.Kind]int{}, tickets: map[safeoutput.Kind]*atomic.Int64{},
	}
	maps.Copy(p.counts, cfg.Counted)
	for _, form := range d.forms {
		if limit := cfg.max(&form.spec); limit >= 0 {
			left := new(atomic.Int64)
			left.Store(int64(limit - p.counts[form.spec.Kind]))
			p.tickets[form.spec.Kind] = left
		}
	}
	for range cap(p.free) {
		p.free <- &batch{}
	}
	for range workers {
		go p.judge()
	}
	go p.read(ctx)
	in, err := p.deliver(ctx, func(o Outcome) error { return sink(o.masked(cfg.Mask)) })
	if err != nil {
		return in, err
	}
	in.Fences, in.Document = p.reader.Fences(), p.reader.IsDocument()
	in.Errors, in.Unknown = p.reader.DocumentErrors(), p.reader.DocumentUnknown()
	if cfg.Mask != nil {
		for _, list := range [][]string{in.Errors, in.Unknown} {
			for i := range list {
				list[i] = cfg.Mask(list[i])
			}
		}
	}
	return in, nil
}

// pipeline is a goroutine that reads batches, workers that judge their records, and
// the caller's goroutine, which counts the items and calls the sink.
type pipeline struct {
	door   *door
	encode bool
	reader *safeoutput.Reader
	err    error // the error of reading; set before order is closed

	free, work, order chan *batch
	slots             chan struct{} // one element for each slotSize in flight

	// tickets has, for each kind with a limit, how many more of its items the workers clean. At
	// first that is how many items the kind may still have. If an item without a ticket is accepted
	// in the end, outcome cleans it.
	tickets   map[safeoutput.Kind]*atomic.Int64
	counts    map[safeoutput.Kind]int // how many items are accepted so far
	kept      int                     // how many bytes of records the outcomes keep
	suggested int                     // how many records of unknown kinds there are so far
	scratch   []byte                  // memory for the JSON of an item that outcome has cleaned
}

// read reads batches and passes them to the workers and to deliver, until the input or ctx
// ends.
func (p *pipeline) read(ctx context.Context) {
	defer close(p.order)
	defer close(p.work)
	for {
		var b *batch
		select {
		case b = <-p.free:
		case <-ctx.Done():
			p.err = ctx.Err()
			return
		}
		err := crash.Try(func() error { return p.reader.ReadBatch(&b.in) })
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			p.err = err
			return
		}
		if !p.reserve(ctx, b) {
			p.err = ctx.Err()
			return
		}
		b.done = make(chan struct{})
		p.work <- b // does not block, because the channel has room for all batches
		p.order <- b
	}
}

// reserve waits until the batch fits into the bytes in flight.
func (p *pipeline) reserve(ctx context.Context, b *batch) bool {
	need := min((b.in.Size()+slotSize-1)/slotSize, cap(p.slots))
	for b.slots = 0; b.slots < need; b.slots++ {
		select {
		case p.slots <- struct{}{}:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// judge is one worker: it judges batches until there are no more.
func (p *pipeline) judge() {
	parse := newParser()
	for b := range p.work {
		b.verdicts = slices.Grow(b.verdicts[:0], len(b.in.Lines))
		b.encoded = b.encoded[:0]
		for _, l := range b.in.Lines {
			v, err := p.judgeLine(parse, b, l)
			if err != nil {
				parse = newParser() // the old one is in an unknown state
				v = crashed(l.No, err)
			}
			b.verdicts = append(b.verdicts, v)
		}
		close(b.done)
	}
}

// judgeLine judges a record of a batch, and cleans and encodes its item if useTicket says so. The
// error is a panic.
func (p *pipeline) judgeLine(parse *parser, b *batch, l safeoutput.Line) (v verdict, err error) {
	defer crash.Recover(&err)
	v = p.door.judge(parse, l)
	if len(v.violations) == 0 && p.useTicket(v.kind) {
		p.door.judgeOf(&v).clean()
	}
	v.log = nil // it takes far more memory than its JSON
	if p.encode && v.cleaned && len(v.violations) == 0 {
		b.encoded = encodeItem(&v, b.encoded)
	}
	return v, nil
}

// crashed returns the verdict on a record for which Airlock itself failed.
func crashed(line int, err error) verdict {
	return verdict{accepted: Accepted{line: line}, violations: []Violation{{Line: line, Path: "$", Message: err.Error()}}, crashed: true}
}

// useTicket reports whether a worker cleans an item of the kind, and uses one of the kind's
// tickets for it. Without a ticket, a limit will probably drop the item.
func (p *pipeline) useTicket(kind safeoutput.Kind) bool {
	left, hasLimit := p.tickets[kind]
	return !hasLimit || left.Load() > 0 && left.Add(-1) >= 0
}

// deliver counts the items that the workers have judged, and calls the sink. The
// outcomes of a document are kept until its end, because only then it is known whether
// any of it counts.
func (p *pipeline) deliver(ctx context.Context, sink func(Outcome) error) (Input, error) {
	var in Input
	var kept []Outcome
	for {
		b, err := p.nextJudged(ctx)
		if err != nil {
			return in, err
		}
		if b == nil {
			err := p.deliverRest(kept, sink) // of what could be read
			return in, cmp.Or(p.err, err)
		}
		for i := range b.verdicts {
			in.Records++
			b.verdicts[i].accepted.source = p.source(b.in.Lines[i].Raw)
			out, err := p.safeOutcome(&b.verdicts[i])
			if err != nil {
				v := crashed(b.verdicts[i].accepted.line, err)
				v.accepted.source = b.verdicts[i].accepted.source
				out = p.outcome(&v)
			}
			if p.reader.IsDocument() {
				if out.Accepted != nil { // its memory will be reused
					a := *out.Accepted
					a.encoded = bytes.Clone(a.encoded)
					out.Accepted = &a
				}
				kept = append(kept, out)
				continue
			}
			if err := sink(out); err != nil {
				return in, err
			}
		}
		p.release(b)
	}
}

// nextJudged waits until the next batch is judged. The batch is nil at the end of the input.
func (p *pipeline) nextJudged(ctx context.Context) (*batch, error) {
	var b *batch
	select {
	case next, ok := <-p.order:
		if !ok {
			return nil, nil
		}
		b = next
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case <-b.done:
		return b, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// source returns as much of a record's text as its outcome keeps.
func (p *pipeline) source(raw []byte) string {
	n := min(len(raw), p.door.cfg.KeepSource, maxSources-p.kept)
	p.kept += n
	return string(raw[:n])
}

// deliverRest calls the sink with the outcomes of a document, and with a rejection for each kind
// that has too few items. If nothing in the document counts, all its records are rejected.
func (p *pipeline) deliverRest(kept []Outcome, sink func(Outcome) error) error {
	problem := p.reader.DocumentProblem()
	if problem != nil {
		clear(p.counts)
		maps.Copy(p.counts, p.door.cfg.Counted)
	}
	for _, out := range kept {
		if problem != nil {
			out = out.refusedWith(problem.Error())
		}
		if err := sink(out); err != nil {
			return err
		}
	}
	for _, spec := range safeoutput.Kinds() {
		if least, n := p.door.cfg.Min[spec.Kind], p.counts[spec.Kind]; n < least {
			few := TooFew(spec.Kind, least, n)
			if err := sink(Outcome{Rejected: &few}); err != nil {
				return err
			}
		}
	}
	return nil
}

// release makes room for further batches and, unless b is large, lets its memory be reused.
func (p *pipeline) release(b *batch) {
	clear(b.verdicts) // so that the items can be collected
	for range b.slots {
		<-p.slots
	}
	if b.in.Size() > maxReused || cap(b.encoded) > maxReused {
		b = &batch{}
	}
	p.free <- b
}

// safeOutcome is like outcome, but returns a panic as an error. Cleaning reads an agent's
// text, which may make it panic.
func (p *pipeline) safeOutcome(v *verdict) (out Outcome, err error) {
	defer crash.Recover(&err)
	return p.outcome(v), nil
}

// outcome counts an item and returns the record's outcome, which is valid until the next call or
// the release of its batch. It cleans an item that no worker has cleaned, unless it drops it.
func (p *pipeline) outcome(v *verdict) Outcome {
	kind := v.kind
	valid := v.cleaned || len(v.violations) == 0 // only a valid item is cleaned; cleaning may add violations
	if valid {
		if limit := p.door.cfg.max(&v.form.spec); limit >= 0 && p.counts[kind] >= limit {
			notes := v.accepted.notes
			if v.cleaned {
				notes = v.before // as if no worker had cleaned it
			}
			return Outcome{Dropped: &Dropped{Line: v.accepted.line, Kind: kind, Limit: limit, Notes: notes, Source: v.accepted.source}}
		}
		if !v.cleaned {
			p.door.judgeOf(v).clean()
			if p.encode && len(v.violations) == 0 {
				p.scratch = encodeItem(v, p.scratch[:0])
			}
		}
	}
	if v.unknown != "" {
		v.violations[0].Message = p.door.unknownKind(v.unknown, p.suggested)
		p.suggested++
	}
	if len(v.violations) > 0 {
		return Outcome{Rejected: &Rejected{
			Line: v.accepted.line, Kind: kind, Violations: sortViolations(v.violations),
			Notes: v.accepted.notes, Source: v.accepted.source, crashed: v.crashed,
		}}
	}
	p.counts[kind]++
	return Outcome{Accepted: &v.accepted}
}

// encodeItem appends the item's JSON to buf. The item keeps a slice of buf, which stays valid when
// buf grows later, because growing copies the bytes. An item that cannot be written gets a
// violation.
func encodeItem(v *verdict, buf []byte) []byte {
	from := len(buf)
	out, err := safeoutput.AppendEncode(buf, v.accepted.item)
	if err != nil {
		v.violations = append(v.violations, Violation{Line: v.accepted.line, Kind: v.kind, Path: "$", Message: "the item cannot be written: " + err.Error()})
		return out[:from]
	}
	v.accepted.encoded = out[from:len(out):len(out)]
	return out
}
