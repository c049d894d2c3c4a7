package token_test

import (
	"bytes"
	"encoding/base64"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log"
	"log/slog"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/agent-airlock/airlock/internal/token"
)

// hidden holds a token where fmt may not call its methods.
type hidden struct{ t token.Token }

// shown holds a token where marshallers reach it.
type shown struct {
	T token.Token  `json:"t" yaml:"t" xml:"t"`
	P *token.Token `json:"p" yaml:"p" xml:"p"`
}

func assertStars(t *testing.T, how, out string, wantStars bool) {
	t.Helper()
	if strings.Contains(out, secret) || strings.Contains(out, base64.StdEncoding.EncodeToString([]byte(secret))) ||
		strings.Contains(out, fmt.Sprintf("%x", secret)) {
		t.Errorf("%s shows the token", how)
	}
	if wantStars && !strings.Contains(out, "***") {
		t.Errorf("%s = %q, want ***", how, out)
	}
}

func TestEveryVerbPrintsStars(t *testing.T) {
	tok := token.New(secret, "https://api.github.com")
	for _, verb := range "vTtbcdoOqxXUeEfFgGspw!" {
		for _, flag := range []string{"", "+", "#", " ", "0", "-60", ".3"} {
			format := "%" + flag + string(verb)
			for name, v := range map[string]any{
				"value": tok, "pointer": &tok, "slice": []token.Token{tok}, "map": map[string]any{"t": tok},
				"exported field": shown{tok, &tok}, "hidden field": hidden{tok}, "hidden pointer": &hidden{tok}, "error": errOf{tok},
			} {
				assertStars(t, name+" by "+format, fmt.Sprintf(format, v), false)
			}
		}
		if !strings.ContainsRune("Tpw!", verb) {
			assertStars(t, "%"+string(verb), fmt.Sprintf("%"+string(verb), tok), true)
		}
	}
	assertStars(t, "Sprint", fmt.Sprint(tok, &tok), true)
	assertStars(t, "String", tok.String(), true)
	assertStars(t, "GoString", tok.GoString(), true)
}

type errOf struct{ t token.Token }

func (e errOf) Error() string { return fmt.Sprint("failed with ", e.t) }

func TestEveryMarshallerPrintsStars(t *testing.T) {
	tok := token.New(secret, "https://api.github.com")
	v := shown{tok, &tok}
	for name, marshal := range map[string]func(any) ([]byte, error){"json": json.Marshal, "yaml": yaml.Marshal, "xml": xml.Marshal} {
		out, err := marshal(v)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		assertStars(t, name, string(out), true)
	}
	out, err := json.Marshal(map[string]any{"a": []any{tok}})
	if err != nil {
		t.Error(err)
	}
	assertStars(t, "json in a map", string(out), true)
	var buf bytes.Buffer
	if err := gob.NewEncoder(&buf).Encode(tok); err != nil {
		t.Error(err)
	}
	assertStars(t, "gob", buf.String(), true)
}

func TestLoggersPrintStars(t *testing.T) {
	tok := token.New(secret, "https://api.github.com")
	var buf bytes.Buffer
	log.New(&buf, "", 0).Println(tok, hidden{tok})
	slog.New(slog.NewTextHandler(&buf, nil)).Info("x", "t", tok, "h", hidden{tok}, "s", shown{tok, &tok})
	slog.New(slog.NewJSONHandler(&buf, nil)).Info("x", "t", tok, "h", hidden{tok}, "s", shown{tok, &tok})
	assertStars(t, "loggers", buf.String(), true)
}
