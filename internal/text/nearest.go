package text

import "fmt"

// Nearest returns the candidate that differs from a word in the fewest letters, the first
// of several. At most a third of the word's letters may differ, but one always may; "" where
// no candidate is as near.
func Nearest(word string, candidates []string) string {
	best, bestDistance := "", max(len(word)/3, 1)+1
	for _, c := range candidates {
		if d := Distance(word, c, bestDistance); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// DidYouMean returns how a message about an unknown word ends: with the Nearest candidate, as
// in `; did you mean "lint"?`; "" where there is none.
func DidYouMean(word string, candidates []string) string {
	if near := Nearest(word, candidates); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// Distance returns the number of letters to insert, remove, replace or swap with
// their neighbour (Damerau's optimal string alignment), or limit if it is more.
// It counts bytes, so a letter outside of ASCII counts as several.
// It takes time in proportion to the product of both lengths.
func Distance(a, b string, limit int) int {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) >= limit {
		return limit
	}
	var before []int // the row before the previous one
	row := make([]int, len(a)+1)
	for i := range row {
		row[i] = i
	}
	for j := 1; j <= len(b); j++ {
		next := make([]int, len(a)+1)
		next[0] = j
		for i := 1; i <= len(a); i++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[i] = min(row[i]+1, next[i-1]+1, row[i-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[i] = min(next[i], before[i-2]+1)
			}
		}
		before, row = row, next
	}
	return min(row[len(a)], limit)
}
