package secrets

import (
	"slices"
	"strings"
)

// gramBits is how many bits of the hash of three bytes choose a bucket: 16,384 buckets take
// 32 KB, which stay in the processor's first cache.
const gramBits = 14

// searcher finds many words in a text at once, in one reading of the text. Three bytes at a
// time lead to the words that begin with them, if there are any.
type searcher struct {
	fold    *[256]byte            // what each byte of a text counts as
	buckets [1 << gramBits]uint16 // the index in lists of the words of a bucket; 0 for none
	lists   [][]word              // lists[0] is empty
}

type word struct {
	text string
	id   int // its place in the list that the searcher was made of
}

var (
	exactCase = foldTable(false)
	anyCase   = foldTable(true)
)

// foldTable returns a table that maps each byte to itself or, if lower is set, ASCII letters to
// lower case. Unlike strings.ToLower, the table keeps every byte's place.
func foldTable(lower bool) *[256]byte {
	var table [256]byte
	for i := range table {
		table[i] = byte(i)
		if lower && upper(byte(i)) {
			table[i] += 'a' - 'A'
		}
	}
	return &table
}

// gram returns the number of the bucket of three bytes.
func gram(a, b, c byte) uint32 {
	return (uint32(a) | uint32(b)<<8 | uint32(c)<<16) * 0x9E3779B1 >> (32 - gramBits)
}

// newSearcher returns a searcher for words that differ and have two bytes or more. Each word must
// be folded already.
func newSearcher(words []string, fold *[256]byte) *searcher {
	s := &searcher{fold: fold, lists: make([][]word, 1)}
	add := func(bucket uint32, w word) {
		n := &s.buckets[bucket]
		if *n == 0 {
			*n = uint16(len(s.lists))
			s.lists = append(s.lists, nil)
		}
		if list := s.lists[*n]; len(list) == 0 || list[len(list)-1] != w { // several third bytes after a short word may share a bucket
			s.lists[*n] = append(list, w)
		}
	}
	for id, text := range words {
		w := word{text: text, id: id}
		if len(text) > 2 {
			add(gram(text[0], text[1], text[2]), w)
			continue
		}
		for third := range 256 {
			add(gram(text[0], text[1], byte(third)), w)
		}
	}
	return s
}

// each calls found for every occurrence of every word until found returns false.
// Occurrences come in the order in which they start.
func (s *searcher) each(text string, found func(id, start, end int) bool) {
	if len(text) < 2 {
		return
	}
	fold := s.fold
	a, b := fold[text[0]], fold[text[1]]
	for start := range len(text) - 1 {
		var c byte
		if start+2 < len(text) {
			c = fold[text[start+2]]
		}
		if n := s.buckets[gram(a, b, c)]; n != 0 {
			for _, w := range s.lists[n] {
				if s.isAt(text[start:], w.text) && !found(w.id, start, start+len(w.text)) {
					return
				}
			}
		}
		a, b = b, c
	}
}

// eachBeginning calls found for each place where a text has at least the first three bytes of a
// word, but not the entire word. end is where the text stops matching the word. length is the
// word's length.
func (s *searcher) eachBeginning(text string, found func(id, length, start, end int)) {
	for start := range max(0, len(text)-2) {
		n := s.buckets[gram(s.fold[text[start]], s.fold[text[start+1]], s.fold[text[start+2]])]
		for _, w := range s.lists[n] {
			if same := s.common(text[start:], w.text); same >= 3 && same < len(w.text) {
				found(w.id, len(w.text), start, start+same)
			}
		}
	}
}

// isAt reports whether a text begins with a word.
func (s *searcher) isAt(text, word string) bool {
	return len(text) >= len(word) && s.common(text, word) == len(word)
}

// common returns how many bytes of a word a text begins with.
func (s *searcher) common(text, word string) int {
	n := min(len(text), len(word))
	for i := range n {
		if s.fold[text[i]] != word[i] {
			return i
		}
	}
	return n
}

// containsAny reports whether one of the searcher's words is in the text.
func (s *searcher) containsAny(text string) bool {
	found := false
	s.each(text, func(int, int, int) bool {
		found = true
		return false
	})
	return found
}

// lowerWords returns the words in lower case, each once, without the empty one.
func lowerWords(words []string) []string {
	out := make([]string, 0, len(words))
	for _, w := range words {
		if w != "" {
			out = append(out, strings.ToLower(w))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
