package main_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// utf16Text returns a text in UTF-16, little endian unless big is set.
func utf16Text(text string, big bool) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		low, high := byte(unit), byte(unit>>8)
		if big {
			low, high = high, low
		}
		b.WriteByte(low)
		b.WriteByte(high)
	}
	return b.String()
}

// TestNoBadLineCostsTheOthers asserts that bad bytes before, after or between good lines do no harm
// to these: they are read, there is a document, and the exit code is 1.
func TestNoBadLineCostsTheOthers(t *testing.T) {
	t.Parallel()
	const good = `{"type":"missing_tool","tool":"kept","reason":"r"}` + "\n"
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for name, bad := range map[string]string{
		"Latin-1":                    "caf\xe9 cr\xe8me\n",
		"much Latin-1":               strings.Repeat("\xe9\xe8\xe0 ", 2000) + "\n",
		"60 control characters":      strings.Repeat("\x01", 60) + "\n",
		"a terminal":                 strings.Repeat("\x1b[2K\x08\x07", 1000) + "\n",
		"every byte":                 string(every) + "\n",
		"an executable":              "\x7fELF\x02\x01\x01" + strings.Repeat("\x00\x03\x00>\x00\x01\xff", 800) + "\n",
		"NULs between":               "{\x00\"a\":\x00 1}\x00x\n",
		"UTF-16 with a mark":         "\xff\xfe" + utf16Text(good, false),
		"UTF-16 with a mark, big":    "\xfe\xff" + utf16Text("{\"type\":\"noop\"}\r", true) + "\x00\n",
		"UTF-16 without a mark":      utf16Text(good, false),
		"UTF-16 without a mark, big": utf16Text(good, true),
		"UTF-32":                     "\xff\xfe\x00\x00{\x00\x00\x00}\x00\x00\x00\n",
		"gzip":                       "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xab\xae\x05\x00\x43\xbf\xa6\xa3\x02\x00\x00\x00\n",
		"a lone surrogate's bytes":   "\"\xed\xa0\x80\n",
		"a cut-off line":             `{"type":"missing_tool","tool":"x","reason":"cut` + "\n",
		"a cut-off document":         `{"items" [` + "\n",
		"brackets":                   strings.Repeat("[", 5000) + "\n",
		"braces":                     strings.Repeat("{", 5000) + "\n",
	} {
		for where, text := range map[string]string{"first": bad + good, "last": good + strings.TrimSuffix(bad, "\n"), "between": good + bad + good} {
			want := strings.Count(text, `"kept"`)
			res := run(t, t.TempDir(), nil, text, "collect")
			var doc struct {
				Items  []struct{ Tool string }
				Errors []string
			}
			if err := json.Unmarshal([]byte(res.stdout), &doc); err != nil || res.code != 1 || len(doc.Errors) == 0 {
				t.Errorf("%s %s: exit code %d, %v\n%.500s%.500s", name, where, res.code, err, res.stdout, res.stderr)
				continue
			}
			if len(doc.Items) != want {
				t.Errorf("%s %s: %d of %d items\n%.500s", name, where, len(doc.Items), want, res.stdout)
			}
		}
	}
}

// TestActionFailsBelowTheMinimum asserts that a run fails, and says so, if fewer items of a kind
// pass than the owner's configuration demands.
func TestActionFailsBelowTheMinimum(t *testing.T) {
	t.Parallel()
	const comment = `{"type":"add_comment","body":"b"}` + "\n"
	const label = `{"type":"add_labels","labels":["x"]}` + "\n"
	secret := `{"type":"add_comment","body":"ghp_` + strings.Repeat("aB3dE6gH9", 4) + `"}` + "\n"
	for name, c := range map[string]struct {
		config, lines string
		code          int
	}{
		"enough":     {"add-comment: {min: 1}\n", comment, 0},
		"none":       {"add-comment: {min: 1}\nadd-labels:\n", label, 1},
		"too few":    {"add-comment: {min: 2, max: 3}\n", comment, 1},
		"too short":  {"add-comment: {min: 1}\n", `{"type":"add_comment","body":""}` + "\n", 1},
		"not let in": {"add-comment:\nadd-labels: {min: 1, allowed: [y]}\n", comment + label, 1},
		"denied":     {"add-comment: {min: 1}\n", secret, 1},
		"one denied": {"add-comment: {min: 1, max: 2}\n", secret + comment, 0},
		"empty":      {"add-comment: {min: 1}\n", "", 1},
		"off":        {"add-comment: {min: 1, enabled: false}\nadd-labels:\n", label, 0},
	} {
		s := server(t, pullRequestFixture(), githubtest.Options{})
		ws := newWorkspace(t, map[string]string{"lines.ndjson": c.lines})
		res := run(t, ws.dir, ws.env(workflowEnv(s, "pull_request", "pull_request.opened.json"), map[string]string{
			"mode": "apply", "output-file": "lines.ndjson", "config": c.config,
		}), "", "action")
		if res.code != c.code || strings.Contains(res.stdout, "of this kind must be asked for and allowed") != (c.code == 1) {
			t.Errorf("%s: exit code %d, want %d\n%s%s", name, res.code, c.code, res.stdout, res.stderr)
		}
	}
}
