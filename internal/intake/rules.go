package intake

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// rules checks what a schema cannot state, of the fields that the schema has
// let pass.
func (j *judging) rules() {
	switch it := j.verdict.accepted.item.(type) {
	case *safeoutput.CreateReviewComment:
		it.Path = j.relative("path", it.Path)
		if it.StartLine > 0 && it.Line > 0 && it.StartLine > it.Line {
			j.refuse("$.start_line", fmt.Sprintf("'start_line' (%d) must not be after 'line' (%d)", it.StartLine, it.Line))
		}
	case *safeoutput.CreateSecurityReport:
		it.File = j.relative("file", it.File)
		if it.SARIF != nil && !j.refused("sarif") {
			j.checkSARIF(it.SARIF)
		}
	case *safeoutput.AddIssueLabel:
		it.Labels = j.checkLabels(it.Labels)
	case *safeoutput.CreateIssue:
		it.Labels = j.checkLabels(it.Labels)
	case *safeoutput.CreatePullRequest:
		it.Labels = j.checkLabels(it.Labels)
	}
	for _, t := range j.verdict.accepted.item.Texts() {
		// The schema's \S knows only ASCII space.
		if *t.Value != "" && t.Mode != safeoutput.Label && isBlank(*t.Value) && !j.refused(t.Field) {
			if j.mayBeEmpty(t.Field) {
				j.notes.repair(RepairBlankField, t.Field)
				*t.Value = ""
				continue
			}
			j.refuse("$."+t.Field, quote(t.Field)+" must not be blank")
		}
	}
}

// mayBeEmpty reports whether an empty text says the same as none.
func (j *judging) mayBeEmpty(field string) bool {
	_, isPointer := safeoutput.Field(j.verdict.accepted.item, field).(**string)
	return j.optional(field) && !isPointer
}

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }

// relative checks a path and returns it without "." elements and doubled
// slashes.
func (j *judging) relative(field, p string) string {
	if p == "" {
		return p
	}
	clean, why := relativePath(p)
	if why != "" {
		j.refuse("$."+field, quote(field)+" ("+quote(p)+") "+why)
		return p
	}
	return clean
}

// relativePath returns a path without "." elements and doubled slashes, or says
// why it names no file of the repository.
func relativePath(p string) (clean, why string) {
	switch {
	case isBlank(p):
		return p, "must not be blank"
	case strings.ContainsFunc(p, unicode.IsControl):
		return p, "must not hold control characters"
	case strings.ContainsFunc(p, func(r rune) bool { return unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) }):
		return p, "must not hold characters that change how it is displayed"
	case strings.Contains(p, "://"):
		return p, "must be a path in the repository, not a URL"
	case strings.HasPrefix(p, "/"), len(p) > 1 && p[1] == ':' && unicode.IsLetter(rune(p[0])):
		return p, "must be relative to the repository's root"
	case strings.Contains(p, `\`):
		return p, `must have '/' between folders, not '\'`
	case slices.Contains(strings.Split(p, "/"), ".."):
		return p, "must not contain '..'"
	case path.Clean(p) == "." || strings.HasSuffix(p, "/"):
		return p, "must name a file"
	}
	return path.Clean(p), ""
}
