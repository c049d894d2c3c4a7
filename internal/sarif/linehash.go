package sarif

import (
	"strconv"
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
