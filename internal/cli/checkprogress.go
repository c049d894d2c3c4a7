package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/agent-airlock/airlock/internal/phase"
)

// checkProgress tells a person which check runs and how each ended: a line a check
// in a log, and in a terminal also a line that moves while a command runs.
type checkProgress struct {
	w     io.Writer
	words func(string) string // makes a command fit to be shown
	live  bool                // w is a terminal with lines that move
	width func() int          // how many columns it has now
	now   func() time.Time

	mu      sync.Mutex
	running []runningCheck
	drawn   bool // the moving line is on the screen
	stop    chan struct{}
	done    sync.WaitGroup
}

// runningCheck is a check that has begun and not ended.
type runningCheck struct {
	root    string
	check   phase.Check
	text    string
	began   time.Time
	retries int
}

// startProgress begins to tell; end must be called. width is 0 where no line can
// move.
func startProgress(w io.Writer, words func(string) string, width func() int) *checkProgress {
	p := &checkProgress{w: w, words: words, live: width() > 0, width: width, now: time.Now, stop: make(chan struct{})}
	if p.live {
		p.done.Go(p.spin)
	}
	return p
}

// end takes the moving line off the screen.
func (p *checkProgress) end() {
	close(p.stop)
	p.done.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
}

// tell takes an event of the validation.
func (p *checkProgress) tell(e phase.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := -1
	for i, r := range p.running {
		if r.root == e.Root && r.check == e.Check {
			at = i
		}
	}
	name := p.name(e.Root, e.Check)
	if e.Status != "" {
		if at >= 0 {
			p.running = append(p.running[:at], p.running[at+1:]...)
		}
		p.line(fmt.Sprintf("%s: %s (%s%s)", name, e.Status, seconds(e.Elapsed), retried(e.Retries)))
		return
	}
	text := name
	if e.Command != "" {
		text += ": " + p.words(e.Command)
	}
	switch {
	case at < 0:
		p.running = append(p.running, runningCheck{e.Root, e.Check, text, p.now().Add(-e.Elapsed), e.Retries})
		if !p.live {
			p.line(text)
		}
	case p.running[at].retries == e.Retries && p.running[at].text != text:
		p.running[at].text = text
		if !p.live {
			p.line(fmt.Sprintf("%s: that tool is missing, %s instead", name, p.words(e.Command)))
		}
	case p.running[at].retries != e.Retries:
		p.running[at].retries, p.running[at].text = e.Retries, text
		if !p.live {
			p.line(fmt.Sprintf("%s: retry %d (%s)", name, e.Retries, seconds(e.Elapsed)))
		}
	}
}

// name names a check, and its root where there are several.
func (p *checkProgress) name(root string, c phase.Check) string {
	name := strings.ReplaceAll(string(c), "_", " ")
	if root == "." || root == "" {
		return name
	}
	return p.words(root) + ": " + name
}

// line writes a line that stays.
func (p *checkProgress) line(text string) {
	p.erase()
	fmt.Fprintf(p.w, "airlock: %s\n", text)
}

// erase takes the moving line away.
func (p *checkProgress) erase() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
}

// spin moves the line until end.
func (p *checkProgress) spin() {
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

func (p *checkProgress) draw(frame rune) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.running) == 0 {
		p.erase()
		return
	}
	r := p.running[len(p.running)-1]
	more := ""
	if n := len(p.running) - 1; n > 0 {
		more = fmt.Sprintf(", %d more", n)
	}
	line := movingLine(frame, r.text, " "+seconds(p.now().Sub(r.began))+retried(r.retries)+more, p.width())
	fmt.Fprintf(p.w, "\r\x1b[K%s", line)
	p.drawn = true
}

// movingLine puts the line together so that it is narrower than the terminal, since
// one that wraps cannot be taken away: the text is cut first, then the rest.
func movingLine(frame rune, text, rest string, width int) string {
	if room := width - 1 - columns(rest); room > 0 {
		return cutColumns(string(frame)+" "+text, room) + rest
	}
	return cutColumns(string(frame)+rest, max(width-1, 1))
}

// cutColumns cuts a text to a number of columns, the last of which says so.
func cutColumns(s string, room int) string {
	if columns(s) <= room {
		return s
	}
	for i, r := range s {
		if room -= columns(string(r)); room < 1 {
			return s[:i] + "…"
		}
	}
	return s
}

// columns is how many columns a text takes at most: scripts whose characters take
// two begin at U+1100.
func columns(s string) (n int) {
	for _, r := range s {
		n++
		if r >= 0x1100 && r != '…' {
			n++
		}
	}
	return n
}

func seconds(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

func retried(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return ", retried once"
	}
	return fmt.Sprintf(", retried %d times", n)
}
