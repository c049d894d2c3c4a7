package checkreport

import (
	"fmt"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/phase"
)

// Words make strangers' texts fit to be shown. Both are required.
type Words struct {
	// Line is for a text of one line: no control character, no live mention, no
	// secret.
	Line func(string) string
	// Code is for many lines of code or of a program's output, which are shown as
	// they are: no control character, no secret.
	Code func(string) string
}

// name is a check's name for people.
func name(c phase.Check) string { return strings.ReplaceAll(string(c), "_", " ") }

// Headline says in one line how it ended.
func (d *Document) Headline() string {
	rows := d.rows()
	blocking, all := failed(rows)
	skipped := 0
	for _, r := range rows {
		if r.status == phase.Skipped {
			skipped++
		}
	}
	names := func(rows []row) string {
		var out []string
		for _, r := range rows {
			out = append(out, name(r.check))
		}
		return strings.Join(out, ", ")
	}
	switch {
	case len(blocking) > 0:
		return fmt.Sprintf("%d of 6 checks failed: %s", len(blocking), names(blocking))
	case d.Failed():
		return "the checks failed"
	case len(all) > 0:
		return "the checks passed, but for " + names(all) + ", which only informs"
	case skipped > 0:
		return fmt.Sprintf("%d checks passed, %d skipped", 6-skipped, skipped)
	}
	return "all 6 checks passed"
}

// duration is a time for people: "0.4 s", "12 s", "3 min 5 s".
func duration(d time.Duration) string {
	switch {
	case d < 50*time.Millisecond:
		return "0.0 s"
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	d = d.Round(time.Second)
	return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
}

// place names where a finding is.
func (f Finding) place() string {
	switch {
	case f.Path == "":
		return ""
	case f.StartLine == 0:
		return f.Path
	case f.EndLine > f.StartLine:
		return fmt.Sprintf("%s:%d-%d", f.Path, f.StartLine, f.EndLine)
	}
	return fmt.Sprintf("%s:%d", f.Path, f.StartLine)
}

// instead says what an owner does who has not the tool.
func (m MissingTool) instead() string {
	check, ok := strings.CutSuffix(m.Override, "_command")
	if !ok { // of a reviewer that plugs in
		return "change " + m.Override + " in the configuration"
	}
	return fmt.Sprintf("name another command by %s-command under checks in the configuration, or by the flag --%[1]s-command", check)
}

// cut shortens a text to about n bytes.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
