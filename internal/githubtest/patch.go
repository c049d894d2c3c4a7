package githubtest

import (
	"strconv"
	"strings"
)

// hunk holds the lines of one hunk that a comment may stand on, by side.
type hunk struct{ left, right map[int]bool }

// hunksOf reads a unified diff without file headers, as the API's patch is.
// Context lines are on both sides.
func hunksOf(patch string) []hunk {
	var out []hunk
	var l, r int
	for line := range strings.SplitSeq(patch, "\n") {
		if rest, ok := strings.CutPrefix(line, "@@ -"); ok {
			old, after, _ := strings.Cut(rest, " +")
			new, _, _ := strings.Cut(after, " @@")
			l, r = firstNumber(old), firstNumber(new)
			out = append(out, hunk{map[int]bool{}, map[int]bool{}})
			continue
		}
		if len(out) == 0 {
			continue
		}
		h := out[len(out)-1]
		switch {
		case strings.HasPrefix(line, "+"):
			h.right[r] = true
			r++
		case strings.HasPrefix(line, "-"):
			h.left[l] = true
			l++
		case strings.HasPrefix(line, " "):
			h.left[l], h.right[r] = true, true
			l++
			r++
		}
	}
	return out
}

func firstNumber(s string) int {
	s, _, _ = strings.Cut(s, ",")
	n, _ := strconv.Atoi(s)
	return n
}

func countChanges(patch string) (add, del int) {
	for line := range strings.SplitSeq(patch, "\n") {
		switch {
		case strings.HasPrefix(line, "+"):
			add++
		case strings.HasPrefix(line, "-"):
			del++
		}
	}
	return add, del
}

// filesAt returns the diff at a commit; ok is false where the commit is not part
// of the pull request.
func (p *Pull) filesAt(sha string) (files []File, ok bool) {
	if sha == p.Head.SHA {
		return p.Files, true
	}
	for _, r := range p.Earlier {
		if r.SHA == sha {
			return r.Files, true
		}
	}
	return nil, false
}

// anchored says what is wrong with a comment's place in a diff, or "".
func anchored(files []File, d *DiffComment) string {
	for _, f := range files {
		if f.Path != d.Path {
			continue
		}
		if d.Subject == "file" {
			return ""
		}
		for _, h := range hunksOf(f.Patch) {
			if !h.on(d.Side)[d.Line] {
				continue
			}
			if d.StartLine == 0 {
				return ""
			}
			if !h.on(d.StartSide)[d.StartLine] {
				return "Start line must be part of the same hunk as the line."
			}
			if d.StartSide == d.Side && d.StartLine >= d.Line {
				return "Start line must precede the end line."
			}
			return ""
		}
		return "Line could not be resolved"
	}
	return "Path could not be resolved"
}

func (h hunk) on(side string) map[int]bool {
	if side == "LEFT" {
		return h.left
	}
	return h.right
}
