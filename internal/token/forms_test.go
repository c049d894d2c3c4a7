package token

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	const secret = "ghs_Test+Only/0123456789=~%41.abcdefghij"
	tok := New(secret, "https://api.github.com")
	encode := base64.StdEncoding.EncodeToString
	for name, text := range map[string]string{
		"plain":       "Bearer " + secret,
		"query":       "?token=" + url.QueryEscape(secret),
		"path":        "/" + url.PathEscape(secret),
		"base64":      encode([]byte(secret)),
		"git":         "Basic " + encode([]byte("x-access-token:"+secret)),
		"alignment 1": encode([]byte("a" + secret + "and more")),
		"alignment 2": encode([]byte("ab" + secret + "and more")),
		"alignment 3": encode([]byte("abc" + secret + "and more")),
		"raw url":     base64.RawURLEncoding.EncodeToString([]byte("user:" + secret)),
	} {
		got := tok.Redact("before " + text + " after")
		if !strings.Contains(got, "***") || !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
			t.Errorf("%s: %q", name, got)
		}
		if strings.Contains(got, "0123456789") || strings.Contains(got, encode([]byte(secret[3:15]))) {
			t.Errorf("%s: a part is left: %q", name, got)
		}
	}
	for before := range 3 { // a text that a server cut after the last complete group
		text := encode([]byte("abc"[:before] + secret))
		text = text[:(before+len(secret))/3*4]
		if got := tok.Redact(text); !strings.HasSuffix(got, "***") {
			t.Errorf("cut, with %d bytes before: %q", before, got)
		}
	}
	if got := (Token{}).Redact("untouched"); got != "untouched" {
		t.Errorf("without a secret: %q", got)
	}
	if forms := (Token{}).Forms(); forms != nil {
		t.Errorf("forms of nothing: %q", forms)
	}
}
