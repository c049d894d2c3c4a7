package finding

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// SetFingerprints gives each finding without a fingerprint one that stays the
// same when lines move: 32 hexadecimal digits. It depends on tool, rule, path,
// message without its numbers, and suggestion, and on the finding's position
// among those that are equal in all of these.
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
		if f.Suggestion != "" { // a formatter's messages are all the same
			parts = append(parts, f.Suggestion)
		}
		base := digest(parts...)
		seen[base]++
		sum := digest(string(base[:]), fmt.Sprint(seen[base]))
		f.Fingerprint = hex.EncodeToString(sum[:16])
	}
}

// StableName returns a name for a finding about a piece of code that stays the
// same wherever the code moves: 32 hexadecimal digits. It depends on tool, rule,
// path, message without its numbers, suggestion and code.
func StableName(f Finding, code string) string {
	sum := digest(f.Tool, f.Rule, f.Path, withoutNumbers(f.Message), f.Suggestion, code)
	return hex.EncodeToString(sum[:16])
}

// digest hashes parts. Different lists of parts have different digests.
func digest(parts ...string) [sha256.Size]byte {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

var digits = lazyregexp.New("[0-9]+")

// withoutNumbers replaces each number by 0: messages contain lines and counts,
// which change.
func withoutNumbers(message string) string { return digits.ReplaceAllLiteralString(message, "0") }
