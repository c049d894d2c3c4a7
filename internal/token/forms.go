package token

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// shortestForm is the least number of bytes of a form. Shorter ones occur in
// ordinary text.
const shortestForm = 6

// Forms returns the secret and the forms in which it may appear in a log or a response, the longest
// first. The forms are each line of the secret, and the secret URL-encoded, as a JSON string and in
// Base64. The Base64 is that of the secret on its own or as part of a longer text, such as git's
// basic authentication. Forms of fewer than shortestForm bytes are left out, and so is the secret
// itself if it is that short. The result is empty for a token without a secret.
func (t Token) Forms() []string {
	secret := t.Reveal()
	if secret == "" {
		return nil
	}
	var forms []string
	add := func(s string) {
		if len(s) >= shortestForm && !slices.Contains(forms, s) {
			forms = append(forms, s)
		}
	}
	add(secret)
	for line := range strings.SplitSeq(secret, "\n") {
		add(strings.TrimSpace(line))
	}
	for _, text := range []string{secret, "x-access-token:" + secret, "oauth2:" + secret} {
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
			add(enc.EncodeToString([]byte(text)))
		}
	}
	// Base64 encodes groups of three bytes. Within a longer text, the secret's form therefore
	// depends on how many bytes come before it, modulo 3.
	for before := range min(3, len(secret)) {
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			add(withinBase64(enc, secret, before))
			// Text that was cut between two groups ends with the last complete group. Here, before is
			// how many bytes of the secret come before its first complete group.
			complete := (len(secret) - before) / 3 * 3 // bytes
			add(enc.EncodeToString([]byte(secret[before : before+complete])))
		}
	}
	add(url.QueryEscape(secret))
	add(url.PathEscape(secret))
	if quoted, err := json.Marshal(secret); err == nil {
		add(string(quoted[1 : len(quoted)-1]))
	}
	slices.SortStableFunc(forms, func(a, b string) int { return len(b) - len(a) })
	return forms
}

// withinBase64 returns the characters that depend on the secret alone in the Base64 of a longer
// text. before is how many bytes come before the secret in the text, modulo 3.
func withinBase64(enc *base64.Encoding, secret string, before int) string {
	text := enc.EncodeToString(append(make([]byte, before), secret...))
	from := (before*8 + 5) / 6
	to := (before + len(secret)) * 8 / 6
	if from >= to {
		return ""
	}
	return text[from:to]
}

// Redact replaces every form of the secret in a text with ***.
func (t Token) Redact(text string) string {
	for _, form := range t.Forms() {
		text = strings.ReplaceAll(text, form, stars)
	}
	return text
}
