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

// Empty reports whether the span holds no line, as the zero Span does.
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

// ParsePatch reads the hunks of a unified diff, as GitHub's API gives them in
// "patch": what stands before the first "@@" is skipped. The spans are counted
// from the lines that are there, so that a patch that was cut off or whose
// headers lie claims no line that it does not show. Such a patch, one whose
// hunks are out of order, and one with a line that no unified diff has, is an
// error beside the hunks read so far.
func ParsePatch(patch string) ([]Hunk, error) {
	var hunks []Hunk
	var end Hunk // where the hunk before ended
	for no := 1; patch != ""; no++ {
		text, rest, _ := strings.Cut(patch, "\n")
		if !strings.HasPrefix(text, "@@") {
			patch = rest
			continue
		}
		h, n, used, e := parseHunk(patch)
		if h.Old.First < end.Old.Last || h.New.First < end.New.Last {
			return hunks, fmt.Errorf("line %d of the patch: the hunk starts before the one above it ends", no)
		}
		if end = h; !h.Old.Empty() || !h.New.Empty() {
			hunks = append(hunks, h)
		}
		if e != nil {
			return hunks, fmt.Errorf("line %d of the patch: %w", no+n, e)
		}
		patch, no = patch[used:], no+n
		if patch != "" && !strings.HasPrefix(patch, "@@") {
			return hunks, fmt.Errorf("line %d of the patch: more lines than the hunk's header says", no+1)
		}
	}
	return hunks, nil
}

// parseHunk reads the hunk at the start of patch. It returns how many lines
// after the header, and how many bytes with it, belong to it.
func parseHunk(patch string) (h Hunk, lines, used int, err error) {
	header, _, _ := strings.Cut(patch, "\n")
	oldStart, oldCount, newStart, newCount, ok := parseHeader(header)
	if !ok {
		return h, 0, 0, fmt.Errorf("%q is not the header of a hunk", clip(header))
	}
	h = Hunk{Old: Span{oldStart, oldStart - 1}, New: Span{newStart, newStart - 1}}
	used = min(len(header)+1, len(patch))
	for {
		rest := patch[used:]
		full := h.lenOld() == oldCount && h.lenNew() == newCount
		if full && !strings.HasPrefix(rest, `\`) {
			return h, lines, used, nil
		}
		if rest == "" {
			return h, lines, used, fmt.Errorf("the hunk %q is cut off", clip(header))
		}
		n := strings.IndexByte(rest, '\n') + 1
		if n == 0 {
			n = len(rest)
		}
		if !h.take(rest[0], oldCount, newCount) {
			return h, lines + 1, used, fmt.Errorf("%q does not belong into the hunk %q", clip(strings.TrimSuffix(rest[:n], "\n")), clip(header))
		}
		used += n
		lines++
	}
}

// take counts one line by its first byte; it reports false when the hunk has no
// place for it. An empty line is a context line whose only blank was trimmed.
func (h *Hunk) take(first byte, oldCount, newCount int) bool {
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
	if h.lenOld() <= oldCount && h.lenNew() <= newCount {
		return true
	}
	h.Old.Last = min(h.Old.Last, h.Old.First+oldCount-1)
	h.New.Last = min(h.New.Last, h.New.First+newCount-1)
	if n := len(h.Added); n > 0 && h.Added[n-1].Last > h.New.Last {
		if h.Added[n-1].Last--; h.Added[n-1].Empty() {
			h.Added = h.Added[:n-1]
		}
	}
	return false
}

func (h *Hunk) lenOld() int { return h.Old.Last - h.Old.First + 1 }
func (h *Hunk) lenNew() int { return h.New.Last - h.New.First + 1 }

// parseHeader reads "@@ -3,7 +3,8 @@ section".
func parseHeader(s string) (oldStart, oldCount, newStart, newCount int, ok bool) {
	s, ok = strings.CutPrefix(s, "@@ -")
	if !ok {
		return
	}
	s, _, ok = strings.Cut(s, " @@")
	if !ok {
		return
	}
	left, right, ok := strings.Cut(s, " +")
	if !ok {
		return
	}
	if oldStart, oldCount, ok = parseRange(left); !ok {
		return
	}
	newStart, newCount, ok = parseRange(right)
	return
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
	if s == "" || len(s) > 10 || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 32)
	return int(n), err == nil
}

// clip keeps a message readable.
func clip(s string) string {
	const most = 60
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}
