package checks

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/phase"
)

// Progress shows a person which check runs and how each ended: one line for each check that has
// ended, and in a terminal also a line that moves while a command runs. Where no line can move,
// further lines say that a check has begun, is retried or runs another tool.
type Progress struct {
	w     io.Writer
	show  func(string) string // makes a command safe to show
	live  bool                // w is a terminal with lines that can move
	width func() int          // how many columns it has now
	now   func() time.Time

	mu      sync.Mutex
	running []runningCheck
	copying copying
	drawn   bool // the moving line is on the screen
	stop    chan struct{}
	done    crash.Group
}

// runningCheck is a check that has begun and not ended.
type runningCheck struct {
	root    string
	check   phase.Check
	text    string
	began   time.Time
	retries int
}

// copying is the copying of the workspace, before the first check.
type copying struct {
	began   time.Time // zero: none was begun
	entries int64
}

// longCopy is how long copying must have taken for a line to report that it has ended.
const longCopy = time.Second

// StartProgress begins to show progress on w; Stop must be called. show makes a command
// safe to show. width returns how many columns w has, 0 where no line can move.
func StartProgress(w io.Writer, show func(string) string, width func() int) *Progress {
	p := &Progress{w: w, show: show, live: width() > 0, width: width, now: time.Now, stop: make(chan struct{})}
	if p.live {
		p.done.Go(p.spin)
	}
	return p
}

// Stop takes the moving line off the screen.
func (p *Progress) Stop() {
	close(p.stop)
	p.done.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
}

// Copied shows that the workspace is being copied, and how many entries are there so far. The
// copying begins with the first call, and ends with the first event.
func (p *Progress) Copied(entries int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.copying.began.IsZero() {
		p.copying.began = p.now()
		if !p.live {
			p.line("copying the workspace to where the checks run")
		}
	}
	p.copying.entries = max(p.copying.entries, entries)
}

// endCopying ends the copying, if there is one, and shows how long it took unless it was short.
func (p *Progress) endCopying() {
	if took := p.now().Sub(p.copying.began); !p.copying.began.IsZero() && took >= longCopy {
		p.line(fmt.Sprintf("copied %d files and directories (%s)", p.copying.entries, seconds(took)))
	}
	p.copying = copying{}
}

// Report shows an event of the validation.
func (p *Progress) Report(e phase.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.endCopying()
	isThis := func(r runningCheck) bool { return r.root == e.Root && r.check == e.Check }
	name := p.name(e.Root, e.Check)
	if e.Status != "" {
		p.running = slices.DeleteFunc(p.running, isThis)
		p.line(fmt.Sprintf("%s: %s (%s%s)", name, cmp.Or(string(e.NotRun), string(e.Status)), seconds(e.Elapsed), retried(e.Retries)))
		return
	}
	text := name
	if e.Command != "" {
		text += ": " + p.show(e.Command)
	}
	said := text
	switch index := slices.IndexFunc(p.running, isThis); {
	case index < 0:
		p.running = append(p.running, runningCheck{e.Root, e.Check, text, p.now().Add(-e.Elapsed), e.Retries})
	case p.running[index].retries != e.Retries:
		p.running[index].retries, p.running[index].text = e.Retries, text
		said = fmt.Sprintf("%s: retry %d (%s)", name, e.Retries, seconds(e.Elapsed))
	case p.running[index].text != text:
		p.running[index].text = text
		said = fmt.Sprintf("%s: that tool is missing, %s instead", name, p.show(e.Command))
	default:
		return
	}
	if !p.live {
		p.line(said)
	}
}

// name returns the name of a check, with its root unless that is the working directory.
func (p *Progress) name(root string, c phase.Check) string {
	name := strings.ReplaceAll(string(c), "_", " ")
	if root == "." || root == "" {
		return name
	}
	return p.show(root) + ": " + name
}

// line writes a line that stays.
func (p *Progress) line(text string) {
	p.erase()
	fmt.Fprintf(p.w, "airlock: %s\n", text)
}

// erase removes the moving line.
func (p *Progress) erase() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
}

// spin moves the line until Stop.
func (p *Progress) spin() {
	frames := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	tick := time.NewTicker(120 * time.Millisecond)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-p.stop:
			return
		case <-tick.C:
			p.draw(frames[i%len(frames)])
		}
	}
}

// draw shows the check that began last, or the copying before the first one, with a frame of the
// animation.
func (p *Progress) draw(frame rune) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var text, rest string
	switch {
	case len(p.running) > 0:
		others := len(p.running) - 1
		r := p.running[others]
		text, rest = r.text, " "+seconds(p.now().Sub(r.began))+retried(r.retries)
		if others > 0 {
			rest += fmt.Sprintf(", %d more", others)
		}
	case !p.copying.began.IsZero():
		text, rest = "copying the workspace", fmt.Sprintf(": %d files, %s", p.copying.entries, seconds(p.now().Sub(p.copying.began)))
	default:
		p.erase()
		return
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", movingLine(frame, text, rest, p.width()))
	p.drawn = true
}

// movingLine composes a line that is narrower than the terminal, because a line that wraps cannot
// be erased. If it is too long, the text is cut first, then the rest.
func movingLine(frame rune, text, rest string, width int) string {
	if available := width - 1 - columns(rest); available > 0 {
		return cutColumns(string(frame)+" "+text, available) + rest
	}
	return cutColumns(string(frame)+rest, max(width-1, 1))
}

// cutColumns cuts a text to a number of columns, the last of which shows "…".
func cutColumns(s string, width int) string {
	if columns(s) <= width {
		return s
	}
	for i, r := range s {
		if width -= columns(string(r)); width < 1 {
			return s[:i] + "…"
		}
	}
	return s
}

// columns returns how many columns a text takes at most: characters that take two begin
// at U+1100.
func columns(s string) (n int) {
	for _, r := range s {
		n++
		if r >= 0x1100 && r != '…' {
			n++
		}
	}
	return n
}

// seconds returns a duration in seconds, with a tenth where it is short.
func seconds(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// retried returns what to add to a line about a check that was retried n times.
func retried(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return ", retried once"
	}
	return fmt.Sprintf(", retried %d times", n)
}
