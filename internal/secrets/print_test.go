package secrets

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestNothingPrintsASecret(t *testing.T) {
	make := newSamples()
	pat := make.of(t, `ghp_[0-9a-zA-Z]{36}`)
	const word = "open-sesame-and-more"
	list := []Known{known("word", word)}
	s := New(list)
	hits := s.Scan("say " + word + " and " + pat + " and key = \"" + pat[4:] + "\"")
	if len(hits) != 3 {
		t.Fatalf("%v", hits)
	}
	values := []any{list, &list, list[0], &list[0], s, *s, hits, hits[0], &hits[1], hits[2].Finding("a"), hits[1].FindingRule(), s.Ignored()}
	for _, v := range values {
		var out bytes.Buffer
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%p", "%T"} {
			fmt.Fprintf(&out, verb, v)
			out.WriteByte('\n')
		}
		slog.New(slog.NewTextHandler(&out, nil)).Info("x", "value", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "value", v)
		if text, err := json.Marshal(v); err == nil {
			out.Write(text)
		}
		for _, secret := range []string{word, pat, pat[4:], word[:8], pat[8:20], fmt.Sprintf("%x", word), fmt.Sprintf("%X", word[:8])} {
			if strings.Contains(out.String(), secret) {
				t.Errorf("%T prints a secret: %s", v, out.String())
			}
		}
	}
}
