package changes

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Span is a range of lines, both ends included, counted from 1.
type Span struct{ First, Last int }

// Contains reports whether line lies in the span.
func (s Span) Contains(line int) bool { return s.First <= line && line <= s.Last }

// Empty reports whether the span contains no line. The zero Span is empty.
func (s Span) Empty() bool { return s.Last < max(s.First, 1) }

func (s Span) String() string {
	if s.First == s.Last {
		return strconv.Itoa(s.First)
	}
	return fmt.Sprintf("%d-%d", s.First, s.Last)
}

// Hunk is one hunk of a unified diff.
type Hunk struct {
	Old   Span   // the lines of the old file that it shows: removed and context
	New   Span   // the lines of the new file that it shows: added and context
	Added []Span // the lines of the new file that the change added
}

// ParsePatch reads the hunks of a unified diff, as GitHub's API gives them in "patch"; lines before
// the first "@@" are skipped. The spans begin where the headers say, and end with the last line
// that follows, so they contain only lines that the patch shows.
//
// If the patch is cut off, contradicts its headers, has hunks that are out of order or a line that
// cannot be in a unified diff, ParsePatch returns an error together with the hunks read so far.
func ParsePatch(patch string) ([]Hunk, error) {
	var hunks []Hunk
	var previous Hunk
	for no := 1; patch != ""; no++ {
		text, rest, _ := strings.Cut(patch, "\n")
		if !strings.HasPrefix(text, "@@") {
			patch = rest
			continue
		}
		h, lines, size, err := parseHunk(patch)
		if size > 0 && (h.Old.First < previous.Old.Last || h.New.First < previous.New.Last) {
			return hunks, fmt.Errorf("line %d of the patch: the hunk starts before the one above it ends", no)
		}
		if !h.Old.Empty() || !h.New.Empty() {
			hunks = append(hunks, h)
		}
		if err != nil {
			return hunks, fmt.Errorf("line %d of the patch: %w", no+lines, err)
		}
		previous = h
		patch, no = patch[size:], no+lines
		if patch != "" && !strings.HasPrefix(patch, "@@") {
			return hunks, fmt.Errorf("line %d of the patch: more lines than the hunk's header says", no+1)
		}
	}
	return hunks, nil
}

// parseHunk reads the hunk at the start of patch. lines is how many lines after its header belong
// to it, or lead to the line at fault; size is how many bytes it has with its header, 0 if the header
// cannot be read.
func parseHunk(patch string) (h Hunk, lines, size int, err error) {
	text, _, _ := strings.Cut(patch, "\n")
	header, ok := parseHeader(text)
	if !ok {
		return h, 0, 0, fmt.Errorf("%q is not the header of a hunk", clip(text))
	}
	h = Hunk{Old: Span{header.oldStart, header.oldStart - 1}, New: Span{header.newStart, header.newStart - 1}}
	size = min(len(text)+1, len(patch))
	for {
		rest := patch[size:]
		complete := h.lenOld() == header.oldCount && h.lenNew() == header.newCount
		if complete && !strings.HasPrefix(rest, `\`) {
			return h, lines, size, nil
		}
		if rest == "" {
			return h, lines, size, fmt.Errorf("the hunk %q is cut off", clip(text))
		}
		n := strings.IndexByte(rest, '\n') + 1
		if n == 0 {
			n = len(rest)
		}
		if !h.add(rest[0], header) {
			return h, lines + 1, size, fmt.Errorf("%q does not belong to the hunk %q", clip(strings.TrimSuffix(rest[:n], "\n")), clip(text))
		}
		size += n
		lines++
	}
}

// add counts one line by its first byte. It reports false for a line that cannot be in a hunk, and
// for a line beyond the number in the header; neither of them counts. An empty line is a context
// line whose only blank was trimmed.
func (h *Hunk) add(first byte, header hunkHeader) bool {
	switch first {
	case '\\':
		return true
	case '-':
		h.Old.Last++
	case '+':
		h.New.Last++
		if n := len(h.Added); n > 0 && h.Added[n-1].Last == h.New.Last-1 {
			h.Added[n-1].Last++
		} else {
			h.Added = append(h.Added, Span{h.New.Last, h.New.Last})
		}
	case ' ', '\n', '\r':
		h.Old.Last++
		h.New.Last++
	default:
		return false
	}
	if h.lenOld() <= header.oldCount && h.lenNew() <= header.newCount {
		return true
	}
	// One too many: take it back.
	if first != '+' {
		h.Old.Last--
	}
	if first != '-' {
		h.New.Last--
	}
	if n := len(h.Added); n > 0 && h.Added[n-1].Last > h.New.Last {
		if h.Added[n-1].Last--; h.Added[n-1].Empty() {
			h.Added = h.Added[:n-1]
		}
	}
	return false
}

func (h *Hunk) lenOld() int { return h.Old.Last - h.Old.First + 1 }
func (h *Hunk) lenNew() int { return h.New.Last - h.New.First + 1 }

// hunkHeader is the line before a hunk.
type hunkHeader struct{ oldStart, oldCount, newStart, newCount int }

// parseHeader reads "@@ -3,7 +3,8 @@ section".
func parseHeader(s string) (h hunkHeader, ok bool) {
	s, ok = strings.CutPrefix(s, "@@ -")
	if !ok {
		return hunkHeader{}, false
	}
	s, _, closed := strings.Cut(s, " @@")
	left, right, two := strings.Cut(s, " +")
	if !closed || !two {
		return hunkHeader{}, false
	}
	var leftOK, rightOK bool
	h.oldStart, h.oldCount, leftOK = parseRange(left)
	h.newStart, h.newCount, rightOK = parseRange(right)
	return h, leftOK && rightOK
}

// parseRange reads "3,7", or "3" for one line.
func parseRange(s string) (start, count int, ok bool) {
	first, second, two := strings.Cut(s, ",")
	start, ok = parseNumber(first)
	if !ok || !two {
		return start, 1, ok && start > 0
	}
	count, ok = parseNumber(second)
	return start, count, ok && start <= math.MaxInt32-count && (start > 0 || count == 0)
}

func parseNumber(s string) (int, bool) {
	n, err := strconv.ParseUint(s, 10, 31)
	return int(n), err == nil && len(s) <= 10
}
