package secrets

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
)

// TestAnAllowedValueCoversItsParts asserts that a key is allowed inside an allowed password, although
// another rule finds it there, and is not allowed alone.
func TestAnAllowedValueCoversItsParts(t *testing.T) {
	sampler := newSamples()
	pat := sampler.match(t, `ghp_[0-9a-zA-Z]{36}`)
	key := sampler.match(t, `[0-9a-f]{32}-us7`)
	password := "Qz7." + key
	digest := sha256.Sum256([]byte(password))
	s := New(nil).Allowing(Allowed{Values: []string{hex.EncodeToString(digest[:])}})
	for text, want := range map[string]string{
		"https://u:" + password + "@db.acme.io/\n" + pat: pat,
		"the key is " + key: key,
	} {
		hits := s.Scan(text)
		if len(hits) != 1 || text[hits[0].Start:hits[0].End] != want {
			t.Errorf("in %q: %+v", text, hits)
		}
	}
}
