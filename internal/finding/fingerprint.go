package finding

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// SetFingerprints gives each finding that has none a fingerprint that stays the
// same when lines move: 32 hexadecimal digits over tool, rule, path and message,
// without the numbers in the message, the suggestion if there is one, and the
// finding's count among those that are equal in all this, in the order of their
// places.
func SetFingerprints(findings []Finding) {
	order := make([]int, len(findings))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return compare(findings[a], findings[b]) })
	seen := make(map[[sha256.Size]byte]int)
	for _, i := range order {
		f := &findings[i]
		if f.Fingerprint != "" {
			continue
		}
		parts := []string{f.Tool, f.Rule, f.Path, withoutNumbers(f.Message)}
		if f.Suggestion != "" { // a formatter says the same of all lines
			parts = append(parts, f.Suggestion)
		}
		base := digest(parts...)
		seen[base]++
		sum := digest(string(base[:]), fmt.Sprint(seen[base]))
		f.Fingerprint = hex.EncodeToString(sum[:16])
	}
}

// Named returns a name for what is said of a piece of code, wherever the code moves: 32
// hexadecimal digits over tool, rule, path, message without its numbers, suggestion and
// the code. Findings that are equal in all this have one name.
func Named(f Finding, code string) string {
	sum := digest(f.Tool, f.Rule, f.Path, withoutNumbers(f.Message), f.Suggestion, code)
	return hex.EncodeToString(sum[:16])
}

// digest hashes parts so that no two lists of parts look alike.
func digest(parts ...string) [sha256.Size]byte {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// withoutNumbers puts one 0 in the place of each run of digits: messages name
// lines and counts, which change.
func withoutNumbers(s string) string {
	digit := false
	return strings.Map(func(r rune) rune {
		was := digit
		digit = r >= '0' && r <= '9'
		switch {
		case digit && was:
			return -1
		case digit:
			return '0'
		}
		return r
	}, s)
}
