package secrets

import "slices"

// Allowed is what the owner lets pass although it looks like a secret. A Known value is found all
// the same.
type Allowed struct {
	// Files are patterns, in the form of allowed-files, of files that may contain what looks like
	// a secret. The scanner itself does not use them: its caller knows what a path is.
	Files []string
	// Rules are the names of rules whose hits pass.
	Rules []string
	// Values are the digests of values, as in Hit.Digest.
	Values []string
}

// Allowing returns a scanner that does not find what the owner allows by rule or value.
func (s *Scanner) Allowing(allowed Allowed) *Scanner {
	scanner := *s
	scanner.allowed = allowed
	return &scanner
}

// Allowed returns what the owner allows.
func (s *Scanner) Allowed() Allowed { return s.allowed }

// withoutAllowed returns the hits that are neither published nor allowed by the owner: by their
// rule, by their value, or as a part of a value, because several rules may find parts of one.
func (s *Scanner) withoutAllowed(hits []Hit) []Hit {
	slices.SortFunc(hits, comparePlaces)
	kept := hits[:0]
	allowedEnd := 0 // the last end of the allowed values that start before the hit or with it
	for _, h := range hits {
		if slices.Contains(s.allowed.Values, h.Digest) {
			allowedEnd = max(allowedEnd, h.End)
		}
		if h.End > allowedEnd && !published[h.Digest] && !slices.Contains(s.allowed.Rules, h.Rule) {
			kept = append(kept, h)
		}
	}
	return kept
}

// Rules returns the names of all rules, sorted.
func Rules() ([]string, error) {
	set, err := defaultRules()
	if err != nil {
		return nil, err
	}
	names := make([]string, len(set.rules))
	for i, r := range set.rules {
		names[i] = r.id
	}
	slices.Sort(names)
	return names, nil
}

// published are the digests of values that their issuers publish for everybody's tests: the keys
// of the emulators of Azure's storage and of Cosmos DB.
var published = map[string]bool{
	"0011cc25eb4320717494d2703e8cba85743e71b500283c21c8b88147992f9059": true,
	"aa6547439583c3a275d4542a0df6c1ad6a863971be9f2a2220f027cc02aef615": true,
}
