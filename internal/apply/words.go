package apply

import (
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/policy"
)

// targetWords names a target for people.
func targetWords(t policy.Target) string {
	n := "#" + strconv.Itoa(t.Number)
	switch {
	case t.Number == 0:
		return "repository"
	case t.IsDiscussion:
		return "discussion " + n
	case t.IsPull:
		return "pull request " + n
	case t.FromEvent:
		return "issue " + n
	}
	return n
}

// quoted joins words for a sentence.
func quoted(words []string) string {
	q := make([]string, len(words))
	for i, w := range words {
		q[i] = strconv.Quote(w)
	}
	return strings.Join(q, ", ")
}

// shorten cuts a text to one line of at most n characters for a summary.
func shorten(s string, n int) string {
	s = strings.Join(strings.Fields(s[:min(len(s), 8*n)]), " ")
	for i := range s {
		if n--; n < 0 {
			return strings.ToValidUTF8(s[:i], "") + "…"
		}
	}
	return strings.ToValidUTF8(s, "")
}

// short shortens a commit's id for people.
func short(oid string) string {
	if oid == "" {
		return "the base"
	}
	return oid[:min(7, len(oid))]
}
