package main_test

import (
	"encoding/pem"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

// randomText returns letters and digits, the same ones each time, so that nothing that looks
// like a secret has to be in the repository.
func randomText(length int) string {
	random := rand.New(rand.NewPCG(11, 12))
	out := make([]byte, length)
	for i := range out {
		out[i] = "ABCDEFGHJKMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz0123456789"[random.IntN(56)]
	}
	return string(out)
}

// privateKey returns what looks like a private key.
func privateKey() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: []byte(randomText(600))}))
}

// inUTF16 writes a text as Windows does.
func inUTF16(text string) string {
	out := []byte{0xFF, 0xFE}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = append(out, byte(unit), byte(unit>>8))
	}
	return string(out)
}

// TestWhatCountsAsASecretInChanges asserts which texts in changes count as secrets: known values,
// tokens and keys in the forms that their issuers document, and passwords in URLs and files of
// settings, also in other encodings. Values that have another explanation, such as a UUID, do not
// count.
func TestWhatCountsAsASecretInChanges(t *testing.T) {
	t.Parallel()
	const known = "tr0ub4dor&3-tr0ub4dor"
	sha, uuid := strings.Repeat("0123456789abcdef", 3)[5:45], "3f0c7a52-9d1e-4b6a-8c57-1e2d3c4b5a69"
	key := privateKey()
	percent := strings.ReplaceAll(url.QueryEscape("sk_live_"+randomText(40)), "_", "%5F")
	for _, tt := range shorttest.First(4, []struct {
		name    string
		before  map[string]string // on the branch
		removed string
		written map[string]string
		rule    string // "": pushed
	}{
		{name: "a key that moves", before: map[string]string{"certs/key.pem": key}, removed: "certs/key.pem", written: map[string]string{"internal/certs/key.pem": key}},
		{name: "an Anthropic token", written: map[string]string{"docs/a.md": "Use sk-ant-oat01-" + randomText(95) + ".\n"}, rule: "anthropic-token"},
		{name: "a URL with a password", written: map[string]string{"docs/a.md": "postgres://app:" + randomText(16) + "@db.internal:5432/app\n"}, rule: "url-password"},
		{name: "a known value in UTF-16", written: map[string]string{"docs/a.txt": inUTF16("The key is\r\n" + known + "\r\n")}, rule: "known-value"},
		{name: "a UUID in a test", written: map[string]string{"tests/a_test.py": "api_key = \"" + uuid + "\"\n"}},
		{name: "a UUID", written: map[string]string{"src/a.py": "access_token = \"" + uuid + "\"\n"}},
		{name: "a pinned commit", written: map[string]string{"ci/a.yml": "steps:\n  - uses: actions/create-github-app-token@" + sha + "\n    token_ref: " + sha + "\n"}},
		{name: "a digest", written: map[string]string{"deploy/a.yml": "image_key: sha256:" + sha + sha[:24] + "\n"}},
		{name: "an example", written: map[string]string{"docs/a.md": "DATABASE_URL=postgres://user:password@localhost:5432/app\n_authToken=${NPM_TOKEN}\n"}},
		{name: "a token in a test", written: map[string]string{"tests/a_test.py": "t = '" + "ghp_" + randomText(36) + "'\n"}, rule: "github-pat"},
		{name: "a private key", written: map[string]string{"deploy/key.pem": key}, rule: "private-key"},
		{name: "a .netrc", written: map[string]string{".netrc": "machine git.acme.io\nlogin deploy\npassword " + randomText(20) + "\n"}, rule: "netrc-password"},
		{name: "an .npmrc", written: map[string]string{".npmrc": "//npm.acme.io/:_authToken=" + randomText(36) + "\n"}, rule: "npmrc-auth"},
		{name: "a Docker token", written: map[string]string{"a.sh": "docker login -u acme -p dckr_pat_" + randomText(27) + "\n"}, rule: "docker-token"},
		{name: "percent-encoding", written: map[string]string{"a.txt": "https://example.com/?x=" + percent + "\n"}, rule: "stripe-access-token"},
		{name: "joined strings", written: map[string]string{"a.js": "const t = 'gsk_" + randomText(20) + "' +\n  '" + randomText(32) + "';\n"}, rule: "groq-key"},
		{name: "a UTF-16 token", written: map[string]string{"a.reg": inUTF16("\"Token\"=\"xai-" + randomText(80) + "\"\r\n")}, rule: "xai-key"},
	}) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &codeStep{hosted: newHosted(t), t: t, dir: t.TempDir(), lines: askedPush, env: []string{"AIRLOCK_SECRETS=" + known}}
			if tt.before != nil {
				s.git.Commit("changes", tt.before, "Long ago")
			}
			s.work = s.checkout(t, "changes")
			s.args = []string{"apply", "--pace=0s", "--config", "policy.yml", "--input", "lines.ndjson", "--dir", s.work}
			if tt.removed != "" {
				if err := os.Remove(filepath.Join(s.work, filepath.FromSlash(tt.removed))); err != nil {
					t.Fatal(err)
				}
			}
			for name, text := range tt.written {
				writeFile(t, filepath.Join(s.work, name), text)
			}
			res := s.run()
			if tt.rule == "" {
				assertSays(t, res, 0)
				return
			}
			assertSays(t, res, 1, "denied (secret): nothing was pushed: the file ", "rule "+tt.rule)
			if len(s.server.Writes()) != 0 {
				t.Errorf("%d writes", len(s.server.Writes()))
			}
			if n := strings.Count(res.stderr, "values: ["); (n == 0) != (tt.rule == "known-value") {
				t.Errorf("the digest is shown %d times:\n%s", n, res.stderr)
			}
		})
	}
}

// TestOwnerAllowsASecret takes the digest of a denial into the configuration.
func TestOwnerAllowsASecret(t *testing.T) {
	t.Parallel()
	s := newCodeStep(t, askedPush)
	value := "glpat-" + randomText(20)
	writeFile(t, filepath.Join(s.work, "docs/new.md"), "Tokens look like "+value+".\n")
	res := s.run()
	assertSays(t, res, 1, "denied (secret)", "line 1, column 18")
	digest := regexp.MustCompile(`values: \[([0-9a-f]{64})\]`).FindStringSubmatch(res.stderr)
	if digest == nil || strings.Contains(res.stderr, value) {
		t.Fatalf("no digest, or the value is shown:\n%s", res.stderr)
	}
	writeFile(t, filepath.Join(s.dir, "allows.yml"), bothCodeKinds+"allowed-secrets:\n  values: ["+digest[1]+"]\n")
	assertSays(t, s.run("--config", "allows.yml"), 0)
	for name, c := range map[string]struct{ text, says string }{
		"the value itself": {"values: [" + value + "]", "expected the SHA-256 of a value, 64 hexadecimal digits as a denial shows them; never write the value itself"},
		"a rule":           {"rules: [gitlab-pats]", `"gitlab-pats" is not a rule about secrets; a denial names its rule; did you mean gitlab-pat?`},
		"known values":     {"rules: [known-value]", "cannot be allowed: these are the token and the values of the input secrets"},
		"a pattern":        {"files: ['../x']", "patterns are written from the repository's root"},
	} {
		writeFile(t, filepath.Join(s.dir, "wrong.yml"), bothCodeKinds+"allowed-secrets: {"+c.text+"}\n")
		res := s.run("--config", "wrong.yml")
		assertSays(t, res, 2, c.says)
		if strings.Contains(res.stderr, value) {
			t.Errorf("%s: the value is shown:\n%s", name, res.stderr)
		}
	}
}
