package secrets

import (
	"slices"
	"strings"

	ahocorasick "github.com/BobuSumisu/aho-corasick"
)

// indexed is how many bytes of each word are in the search tree, which takes 2 KB a
// byte. Where these are found, the rest of the word is compared.
const indexed = 6

// searcher finds many words in a text at once, in one reading of the text.
type searcher struct {
	tree  *ahocorasick.Trie
	words [][]word // by the number of their first bytes in the tree
}

type word struct {
	text string
	id   int // its place in the list that the searcher was made of
}

// newSearcher returns a searcher for words that are not empty and differ.
func newSearcher(words []string) *searcher {
	s := &searcher{}
	numbers := map[string]int{}
	builder := ahocorasick.NewTrieBuilder()
	for id, text := range words {
		head := text[:min(len(text), indexed)]
		n, ok := numbers[head]
		if !ok {
			n = len(numbers)
			numbers[head] = n
			builder.AddString(head)
			s.words = append(s.words, nil)
		}
		s.words[n] = append(s.words[n], word{text: text, id: id})
	}
	s.tree = builder.Build()
	return s
}

// each calls found for every occurrence of every word until found returns false.
// Occurrences come in the order in which the words' first bytes end.
func (s *searcher) each(text []byte, found func(id, start, end int) bool) {
	s.tree.Walk(text, func(last, length, n int64) bool {
		start := int(last - length + 1)
		for _, w := range s.words[n] {
			end := start + len(w.text)
			if end <= len(text) && string(text[start:end]) == w.text && !found(w.id, start, end) {
				return false
			}
		}
		return true
	})
}

// folded returns the text with its ASCII letters in lower case. Unlike
// strings.ToLower it keeps every byte's place.
func folded(text string) []byte {
	out := make([]byte, len(text))
	for i := range len(text) {
		c := text[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		out[i] = c
	}
	return out
}

// containsAny reports whether one of the searcher's words, which are in lower
// case, stands in the text in any case.
func (s *searcher) containsAny(text string) bool {
	found := false
	s.each(folded(text), func(int, int, int) bool {
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
