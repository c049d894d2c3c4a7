package action

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
)

// maskedForms returns the secret and the forms in which it may appear in a log:
// Base64, by itself and as in git's basic authentication, URL-encoded, and as a
// JSON string. A secret of several lines is masked line by line as well, since
// the runner masks within lines. Parts too short to be told from ordinary text
// are left out.
func maskedForms(secret string) []string {
	const shortest = 6
	var forms []string
	seen := map[string]bool{}
	add := func(s string) {
		if len(s) >= shortest && !seen[s] {
			seen[s] = true
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
	add(url.QueryEscape(secret))
	add(url.PathEscape(secret))
	if quoted, err := json.Marshal(secret); err == nil {
		add(string(quoted[1 : len(quoted)-1]))
	}
	return forms
}
