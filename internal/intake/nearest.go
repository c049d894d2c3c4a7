package intake

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// nearestKind returns the canonical kind whose name or alias is nearest to
// name, or "" where none is near.
func nearestKind(name string) string {
	if len(name) > 60 {
		return ""
	}
	name = strings.ToLower(strings.NewReplacer("_", "-", " ", "-").Replace(strings.TrimSpace(name)))
	words := strings.Split(name, "-")
	for i, w := range words {
		switch w {
		case "pr", "mr":
			words[i] = "pull-request"
		case "open", "file", "new":
			words[i] = "create"
		case "close", "reopen", "edit":
			words[i] = "update"
		}
	}
	if name = strings.Join(words, "-"); name == "" {
		return ""
	}
	best, distance := "", len(name)/3+2
	for _, s := range safeoutput.Kinds() {
		for _, known := range append([]string{string(s.Kind)}, s.Aliases...) {
			d := editDistance(name, known)
			if len(name) >= 5 && strings.Contains(known, name) {
				d = min(d, 2)
			}
			if d < distance {
				best, distance = string(s.Kind), d
			}
		}
	}
	return best
}

// editDistance counts the insertions, deletions and replacements of bytes that
// turn a into b (Levenshtein).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
