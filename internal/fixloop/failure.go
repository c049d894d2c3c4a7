package fixloop

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/text"
)

// Limits of what a loop keeps of a check's failures. The fingerprints of all failures count, also
// of those that are not kept.
const (
	maxFailures = 100  // of a check, the first ones
	maxMessage  = 500  // characters
	maxDetails  = 2000 // bytes
	maxName     = 200  // characters of a path, a rule, a title or a fix
)

// Failure is one thing that made a check fail.
type Failure struct {
	Check    Check            `json:"check,omitempty"`
	Severity finding.Severity `json:"severity,omitempty"`
	Tool     string           `json:"tool,omitempty"`
	Rule     string           `json:"rule,omitempty"`
	// Path is relative to the repository's root; Line counts from 1, 0 if none is known.
	Path    string `json:"path,omitempty"`
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
	// Details are lines that explain the message, such as an assertion's output.
	Details string `json:"details,omitempty"`
	// Suggestion is the text that should replace the line, or the lines of the finding. One
	// over 2,000 bytes, or with characters that act on a terminal, is left out.
	Suggestion string `json:"suggestion,omitempty"`
	// Fingerprint identifies the same failure in two iterations. It does not depend on
	// line numbers; Step makes one where it is "".
	Fingerprint string `json:"fingerprint,omitempty"`
}

// place returns the failure's file and line, "" if it has none.
func (f Failure) place() string {
	if f.Path == "" || f.Line == 0 {
		return f.Path
	}
	return f.Path + ":" + strconv.Itoa(f.Line)
}

// source returns the tool and rule that reported the failure, "" if none did.
func (f Failure) source() string {
	return strings.Trim(f.Tool+"/"+f.Rule, "/")
}

// keptFailures returns what a loop keeps of a check's failures, and a fingerprint of each failure,
// kept or not: sorted, with the check's name before it.
func keptFailures(c Check, failures []Failure) (kept []Failure, fingerprints []string) {
	prints := printsOf(failures)
	fingerprints = make([]string, len(failures))
	for i := range prints {
		fingerprints[i] = string(c) + " " + prints[i]
	}
	slices.Sort(fingerprints)
	kept = slices.Clone(failures[:min(len(failures), maxFailures)])
	for i := range kept {
		f := &kept[i]
		f.Check = c
		f.Fingerprint = prints[i]
		f.Message = text.Truncate(text.OneLine(f.Message), maxMessage)
		f.Path = text.Truncate(text.OneLine(f.Path), maxName)
		f.Tool = text.Truncate(text.OneLine(f.Tool), maxName)
		f.Rule = text.Truncate(text.OneLine(f.Rule), maxName)
		f.Details = excerpt(f.Details)
		f.Suggestion = verbatim(f.Suggestion)
		f.Line = max(f.Line, 0)
		if f.Severity.Rank() == 0 {
			f.Severity = ""
		}
	}
	return kept, fingerprints
}

// printsOf returns the fingerprint of each failure. It makes those that are missing.
func printsOf(failures []Failure) []string {
	findings := make([]finding.Finding, len(failures))
	for i, f := range failures {
		findings[i] = finding.Finding{Tool: f.Tool, Rule: f.Rule, Path: f.Path, Message: f.Message, Range: finding.Range{StartLine: f.Line}, Fingerprint: f.Fingerprint}
	}
	finding.SetFingerprints(findings)
	prints := make([]string, len(failures))
	for i, f := range findings {
		prints[i] = f.Fingerprint
	}
	return prints
}

// excerpt returns a text of several lines without characters that act on a terminal, at most
// maxDetails bytes of it.
func excerpt(s string) string {
	s = strings.ReplaceAll(text.TruncateBytes(s, 2*maxDetails), "\r\n", "\n")
	return text.TruncateBytes(strings.Trim(strings.Map(shown, strings.ToValidUTF8(s, "")), "\n"), maxDetails)
}

// verbatim returns a text that has to stay as it is, "" if it is too long or would act on a
// terminal.
func verbatim(s string) string {
	if len(s) > maxDetails || !utf8.ValidString(s) || strings.Map(shown, s) != s {
		return ""
	}
	return s
}

// shown drops the characters that act on a terminal, for strings.Map.
func shown(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
		return -1
	}
	return r
}
