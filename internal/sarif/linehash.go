package sarif

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// The parameters of the line hash, as code scanning's own uploader has them.
const (
	hashBlock   = 100
	hashModulus = 37
	hashEnd     = 0xFFFF // stands for the end of the text
)

// LineHashes returns the fingerprint of each line of a text, for
// partialFingerprints.primaryLocationLineHash: a rolling hash over the 100
// UTF-16 units from the line's start, without blanks, a colon, and how often
// that hash has occurred so far in the text. There is a fingerprint for the
// empty line after a final newline, too. The algorithm is the one of GitHub's
// own SARIF uploader. It is linear.
func LineHashes(text string) []string {
	h := lineHasher{first: 1, start: true, counts: make(map[uint64]int)}
	for range hashBlock {
		h.first *= hashModulus
	}
	for _, r := range text {
		if r >= 0x10000 {
			high, low := utf16.EncodeRune(r)
			h.unit(uint64(high))
			h.unit(uint64(low))
			continue
		}
		h.unit(uint64(r))
	}
	h.unit(hashEnd)
	for range hashBlock {
		if h.lines[h.at] > 0 {
			h.emit()
		}
		h.update(0)
	}
	return h.hashes
}

type lineHasher struct {
	window [hashBlock]uint64
	lines  [hashBlock]int // the line that starts at this unit of the window, 0 for none
	at     int
	hash   uint64
	first  uint64 // hashModulus to the power of hashBlock
	line   int
	start  bool // the next unit begins a line
	cr     bool // the last unit was a carriage return
	counts map[uint64]int
	hashes []string
}

func (h *lineHasher) unit(c uint64) {
	if c == ' ' || c == '\t' || h.cr && c == '\n' {
		h.cr = false
		return
	}
	h.cr = c == '\r'
	if h.cr {
		c = '\n'
	}
	if h.lines[h.at] > 0 {
		h.emit()
	}
	if h.start {
		h.start = false
		h.line++
		h.lines[h.at] = h.line
	}
	h.start = c == '\n'
	h.update(c)
}

func (h *lineHasher) emit() {
	h.counts[h.hash]++
	line := h.lines[h.at]
	for len(h.hashes) < line {
		h.hashes = append(h.hashes, "")
	}
	h.hashes[line-1] = strconv.FormatUint(h.hash, 16) + ":" + strconv.Itoa(h.counts[h.hash])
	h.lines[h.at] = 0
}

func (h *lineHasher) update(c uint64) {
	b := h.window[h.at]
	h.window[h.at] = c
	h.hash = hashModulus*h.hash + c - h.first*b
	h.at = (h.at + 1) % hashBlock
}

// lineHashKey is the one fingerprint that code scanning reads.
const lineHashKey = "primaryLocationLineHash"

// fingerprint gives each result that has none the line hash of its first
// location. It reads each file once, and holds one at a time.
func (g *group) fingerprint(read func(path string) ([]byte, error)) {
	type need struct {
		result object
		path   string
		line   int
	}
	var needs []need
	for _, o := range g.results {
		prints := child(o, "partialFingerprints")
		if h := stringMember(prints, lineHashKey); isLineHash(h) {
			continue
		} else if h != "" {
			g.notes.add(RuleBadHashes, "", 1)
		}
		delete(prints, lineHashKey)
		physical := child(objects(list(o, "locations"))[0], "physicalLocation")
		line, _ := number(child(physical, "region"), "startLine")
		needs = append(needs, need{o, unescape(stringMember(child(physical, "artifactLocation"), "uri")), line})
	}
	if read == nil {
		g.notes.add(RuleHashes, "no files to read", len(needs))
		return
	}
	slices.SortStableFunc(needs, func(a, b need) int { return cmp.Compare(a.path, b.path) })
	var hashes []string
	readable := false
	for i, n := range needs {
		if i == 0 || needs[i-1].path != n.path {
			content, err := read(n.path)
			if readable = err == nil; readable {
				hashes = LineHashes(string(content))
			}
		}
		switch {
		case !readable:
			g.notes.add(RuleHashes, "the file cannot be read", 1)
		case n.line < 1 || n.line > len(hashes):
			g.notes.add(RuleHashes, "the line is behind the file's end", 1)
		default:
			prints := child(n.result, "partialFingerprints")
			if prints == nil {
				prints = object{}
				n.result["partialFingerprints"] = prints
			}
			prints[lineHashKey] = hashes[n.line-1]
		}
	}
}

// isLineHash reports the form of a line hash: up to 16 lower-case hexadecimal
// digits, a colon and a count.
func isLineHash(s string) bool {
	hash, count, ok := strings.Cut(s, ":")
	return ok && len(hash) >= 1 && len(hash) <= 16 && strings.Trim(hash, "0123456789abcdef") == "" &&
		len(count) >= 1 && len(count) <= 9 && strings.Trim(count, "0123456789") == ""
}
