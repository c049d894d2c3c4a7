package toolreport

import (
	neturl "net/url"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

var (
	denoFormat = starting("from ", `^from (/.+):$`)
	denoRule   = starting("file://", `^(file://.+?): line (\d+), col (\d+) - (.*) \(([\w/-]+)\)$`)
	denoError  = starting("Error ", `^Error (?:checking|linting|formatting): (.+)$`)
	denoPlace  = containing("at file://", `^\s+at file://.+:(\d+):(\d+)$`)
)

// denoReader reads deno fmt --check, which prints the lines of each file that it would change, and
// deno lint --compact. Both commands name a file that cannot be parsed and go on.
type denoReader struct {
	*collector
	unread  string // the file whose error is being read
	message string
}

func newDeno(c *collector) lineReader { return &denoReader{collector: c} }

func (d *denoReader) line(line string) {
	if m := denoError.match(line); m != nil {
		d.end()
		d.unread = m[1]
		return
	}
	if d.unread != "" {
		d.unreadLine(line)
		return
	}
	if m := denoFormat.match(line); m != nil {
		d.add(unformatted(m[1]))
	} else if m := denoRule.match(line); m != nil {
		d.add(finding.Finding{Path: pathOfURL(m[1]), Rule: m[5], Message: m[4], Severity: finding.Medium, Range: finding.Range{StartLine: atoi(m[2]), StartColumn: atoi(m[3])}})
	} else if startsWithAny(line, []string{"error: Found #", "Found # problem", "Checked # file"}) {
		d.recognised = true
	}
}

// unreadLine reads a line about a file that cannot be parsed: its message, the code, and the place.
func (d *denoReader) unreadLine(line string) {
	if m := denoPlace.match(line); m != nil {
		d.addUnparsed(unparsed(d.unread, d.message, m[1], m[2]))
		d.unread, d.message = "", ""
	} else if d.message == "" {
		d.message = strings.TrimSpace(line)
	}
}

// pathOfURL returns the path of a file's URL, or the URL itself if it is not valid.
func pathOfURL(url string) string {
	if path, err := neturl.PathUnescape(strings.TrimPrefix(url, "file://")); err == nil {
		return path
	}
	return url
}

// end adds a file that cannot be parsed and whose place was not printed.
func (d *denoReader) end() {
	if d.unread != "" {
		d.addUnparsed(unparsed(d.unread, d.message, "", ""))
	}
	d.unread, d.message = "", ""
}
