package sarif

import (
	"cmp"
	"slices"
	"strconv"
	"unicode/utf16"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// The parameters of the line hash are those of code scanning's own uploader.
const (
	hashBlock   = 100
	hashModulus = 37
	hashEnd     = 0xFFFF // the end of the text
)

// lineHashes returns the fingerprint of each line of a text, including the empty
// line after a final newline, as GitHub's own SARIF uploader computes it: a
// rolling hash, a colon, and how often that hash has occurred so far in the text.
// The hash is that of the next 100 UTF-16 units from the line's start on that are
// neither spaces nor tabs.
func lineHashes(text string) []string {
	h := lineHasher{oldest: 1, start: true, counts: make(map[uint64]int)}
	for range hashBlock {
		h.oldest *= hashModulus
	}
	var units [2]uint16
	for _, r := range text {
		for _, c := range utf16.AppendRune(units[:0], r) {
			h.unit(uint64(c))
		}
	}
	h.unit(hashEnd)
	for range hashBlock { // so that the hashes of the last lines are complete
		h.update(0, false)
	}
	return h.hashes
}

type lineHasher struct {
	window [hashBlock]uint64
	starts [hashBlock]bool // a line starts at this unit of the window
	next   int             // the unit of the window that is replaced next
	hash   uint64          // of the window
	oldest uint64          // the factor of the oldest unit when the next is added: hashModulus to the power of hashBlock
	start  bool            // the next unit begins a line
	cr     bool            // the last unit was a carriage return
	counts map[uint64]int  // how often each hash has occurred
	hashes []string        // of the lines so far
}

// unit adds one UTF-16 unit of the text, unless it is a space or a tab. A carriage return counts as
// a newline, and a newline directly after it is left out.
func (h *lineHasher) unit(c uint64) {
	if c == ' ' || c == '\t' || h.cr && c == '\n' {
		h.cr = false
		return
	}
	h.cr = c == '\r'
	if h.cr {
		c = '\n'
	}
	h.update(c, h.start)
	h.start = c == '\n'
}

// update replaces the oldest unit of the window by c, at which a line starts or not. If a line
// starts at the oldest unit, the window now has all units of that line's hash: update first adds
// the line's fingerprint to hashes.
func (h *lineHasher) update(c uint64, starts bool) {
	if h.starts[h.next] {
		h.counts[h.hash]++
		h.hashes = append(h.hashes, strconv.FormatUint(h.hash, 16)+":"+strconv.Itoa(h.counts[h.hash]))
	}
	replaced := h.window[h.next]
	h.window[h.next], h.starts[h.next] = c, starts
	h.hash = hashModulus*h.hash + c - h.oldest*replaced
	h.next = (h.next + 1) % hashBlock
}

// lineHashKey is the only fingerprint that code scanning reads.
const lineHashKey = "primaryLocationLineHash"

// fingerprint adds to each result without a valid line hash that of its first
// location, or notes why it cannot. It reads each file once and keeps one in memory
// at a time.
func (g *group) fingerprint(read func(path string) ([]byte, error)) {
	type need struct {
		result object
		path   string
		line   int
	}
	var needs []need
	for _, r := range g.results {
		o := r.object
		prints := child(o, "partialFingerprints")
		given := stringMember(prints, lineHashKey)
		if lineHashForm.MatchString(given) {
			continue
		}
		if given != "" {
			g.notes.add(RuleBadHashes, "", 1)
		}
		delete(prints, lineHashKey)
		physical := child(objects(list(o, "locations"))[0], "physicalLocation")
		line, _ := intMember(child(physical, "region"), "startLine")
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
				hashes = lineHashes(string(content))
			}
		}
		switch {
		case !readable:
			g.notes.add(RuleHashes, "the file cannot be read", 1)
		case n.line < 1 || n.line > len(hashes):
			g.notes.add(RuleHashes, "the line is after the end of the file", 1)
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

// lineHashForm is a hash, a colon and a count.
var lineHashForm = lazyregexp.New(`^[0-9a-f]{1,16}:[0-9]{1,9}$`)
