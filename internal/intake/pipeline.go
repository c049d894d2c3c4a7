package intake

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"

	"github.com/agent-airlock/airlock/internal/safeoutput"
)

const (
	// maxInFlight is how many bytes of records are processed at the same time,
	// unless a single batch is larger.
	maxInFlight = 16 << 20
	// maxReused is the size in bytes of the largest batch that is used again.
	maxReused = 1 << 20
)

// batch is a sequence of records that is read, judged by a worker, and passed to
// the sink in the order of the input.
type batch struct {
	in       safeoutput.Batch
	size     int64
	verdicts []verdict
	encoded  []byte
	done     chan struct{}
}

// run reads NDJSON, or one {"items": [...], "errors": [...]} document, and passes
// each record's outcome to sink, in the order of the input and on the caller's
// goroutine. Memory is bounded by the longest record. With encode, accepted items
// have their canonical JSON, which is valid until sink returns.
//
// The error is the context's, the reader's, the sink's, safeoutput.ErrUTF16 or
// ErrNotText, or that of a setting of Config.Sanitize; a rejected record is not an
// error. When run returns before the end, a Read of src may still be in progress.
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
	}
	p.room = sync.NewCond(&p.mu)
	for range cap(p.free) {
		p.free <- &batch{}
	}
	for range workers {
		go p.judge()
	}
	go p.read(ctx)
	stop := context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.room.Broadcast()
	})
	defer stop()
	in, err := p.deliver(ctx, sink)
	if err != nil {
		return in, err
	}
	in.Fences, in.Document = p.reader.Fences(), p.reader.IsDocument()
	in.Errors, in.Unknown = p.reader.DocumentErrors(), p.reader.DocumentUnknown()
	return in, nil
}

// pipeline is a goroutine that reads batches, workers that judge their records, and
// the caller's goroutine, which counts the items and calls the sink.
type pipeline struct {
	door   *door
	encode bool
	reader *safeoutput.Reader
	err    error // of reading; set before order is closed

	free, work, order chan *batch

	mu       sync.Mutex
	room     *sync.Cond
	inFlight int64
}

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
		err := p.reader.ReadBatch(&b.in)
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
	b.size = int64(b.in.Size())
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.inFlight > 0 && p.inFlight+b.size > maxInFlight {
		if ctx.Err() != nil {
			return false
		}
		p.room.Wait()
	}
	p.inFlight += b.size
	return ctx.Err() == nil
}

func (p *pipeline) judge() {
	parse := newParser()
	for b := range p.work {
		b.verdicts = b.verdicts[:0]
		b.encoded = b.encoded[:0]
		for _, l := range b.in.Lines {
			v := p.door.judge(parse, l)
			if p.encode && v.cleaned && len(v.violations) == 0 {
				b.encoded = encodeItem(&v, b.encoded)
			}
			b.verdicts = append(b.verdicts, v)
		}
		close(b.done)
	}
}

// deliver counts the items that the workers have judged, and calls the sink.
func (p *pipeline) deliver(ctx context.Context, sink func(Outcome) error) (Input, error) {
	c := counter{door: p.door, encode: p.encode, counts: map[safeoutput.Kind]int{}}
	var in Input
	for {
		var b *batch
		select {
		case next, ok := <-p.order:
			if !ok {
				return in, p.err
			}
			b = next
		case <-ctx.Done():
			return in, ctx.Err()
		}
		select {
		case <-b.done:
		case <-ctx.Done():
			return in, ctx.Err()
		}
		for i := range b.verdicts {
			in.Records++
			if err := sink(c.outcome(&b.verdicts[i])); err != nil {
				return in, err
			}
		}
		p.release(b)
	}
}

func (p *pipeline) release(b *batch) {
	clear(b.verdicts) // so that the items can be collected
	p.mu.Lock()
	p.inFlight -= b.size
	p.mu.Unlock()
	p.room.Signal()
	if b.size > maxReused || cap(b.encoded) > maxReused {
		b = &batch{}
	}
	p.free <- b
}

// counter applies the limits, record by record in the order of the input.
type counter struct {
	door    *door
	encode  bool
	counts  map[safeoutput.Kind]int
	scratch []byte
}

// outcome counts an item and returns the record's outcome. An item that a limit could
// have dropped is cleaned only here.
func (c *counter) outcome(v *verdict) Outcome {
	kind, limit := v.spec.Kind, -1
	if len(v.violations) == 0 {
		limit = c.door.cfg.max(v.spec)
		if limit >= 0 && c.counts[kind] >= limit {
			return Outcome{Dropped: &Dropped{Line: v.accepted.line, Kind: kind, Limit: limit, Notes: v.accepted.notes}}
		}
		if !v.cleaned {
			c.door.judgeOf(v).clean()
			if c.encode && len(v.violations) == 0 {
				c.scratch = encodeItem(v, c.scratch[:0])
			}
		}
	}
	if len(v.violations) > 0 {
		return Outcome{Rejected: &Rejected{Line: v.accepted.line, Kind: kind, Violations: sortViolations(v.violations), Notes: v.accepted.notes}}
	}
	c.counts[kind]++
	a := v.accepted
	return Outcome{Accepted: &a}
}

// encodeItem appends the item's JSON to buf. The item's slice of it stays valid if
// buf grows later, because growing copies.
func encodeItem(v *verdict, buf []byte) []byte {
	from := len(buf)
	out, err := safeoutput.AppendEncode(buf, v.accepted.item)
	if err != nil {
		v.violations = append(v.violations, Violation{Line: v.accepted.line, Kind: v.spec.Kind, Path: "$", Message: "the item cannot be written: " + err.Error()})
		return out[:from]
	}
	v.accepted.encoded = out[from:len(out):len(out)]
	return out
}
