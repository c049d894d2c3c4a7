package apply

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/secrets"
)

// madeUp returns a random text, the same one each time, so that no test has to contain what
// looks like a secret.
func madeUp(prefix string, length int) string {
	random := rand.New(rand.NewPCG(5, 6))
	out := []byte(prefix)
	for range length {
		out = append(out, "ABCDEFGHJKMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz0123456789"[random.IntN(56)])
	}
	return string(out)
}

// madeUpKey returns a private key in PEM.
func madeUpKey(t *testing.T) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(ed25519.NewKeyFromSeed([]byte(strings.Repeat("airlock!", 4))))
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func sha256Hex(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// TestWhatLooksLikeASecretInChanges asserts which values deny changes, which ones pass because of the
// file that they are in, and which ones the owner can allow.
func TestWhatLooksLikeASecretInChanges(t *testing.T) {
	t.Parallel()
	key, pat, general := madeUpKey(t), madeUp("ghp_", 36), madeUp("", 32)
	known := "correct-horse-battery"
	assigned := "api_key = '" + general + "'\n"
	for name, c := range map[string]struct {
		before  map[string]string // on the base branch
		removed string
		written map[string]string
		allowed secrets.Allowed
		state   string
		said    string // in the message or a note
	}{
		"an issuer's token":             {written: map[string]string{"a.py": "t = '" + pat + "'\n"}, state: "denied(secret)", said: "values: [" + sha256Hex(pat) + "]"},
		"an issuer's token in a test":   {written: map[string]string{"tests/a_test.py": "t = '" + pat + "'\n"}, state: "denied(secret)", said: "rule github-pat"},
		"a general value":               {written: map[string]string{"a.py": assigned}, state: "denied(secret)", said: "rule generic-api-key"},
		"a general value in a test":     {written: map[string]string{"tests/a_test.py": assigned}, state: "applied", said: "was let pass, because the file is a test"},
		"a private key":                 {written: map[string]string{"deploy/key.pem": key}, state: "denied(secret)", said: "rule private-key"},
		"a private key in a test":       {written: map[string]string{"testdata/key.pem": key}, state: "applied", said: `"testdata/key.pem" contains what looks like a secret in line 1 (rule private-key)`},
		"a key that moves":              {before: map[string]string{"certs/key.pem": key}, removed: "certs/key.pem", written: map[string]string{"deploy/key.pem": key}, state: "applied"},
		"a key that is copied":          {before: map[string]string{"certs/key.pem": key}, written: map[string]string{"deploy/a.yaml": "key: |\n" + key}, state: "applied"},
		"a token of another file":       {before: map[string]string{"docs/a.txt": "x " + pat + "\n"}, written: map[string]string{"src/a.go": "// " + pat + "\n"}, state: "applied"},
		"a token there, here in Base64": {before: map[string]string{"docs/a.txt": "x " + pat + "\n"}, written: map[string]string{"src/a.go": "// " + base64.StdEncoding.EncodeToString([]byte(pat)) + "\n"}, state: "denied(secret)"},
		"one token there, one not":      {before: map[string]string{"docs/a.txt": pat}, written: map[string]string{"a.go": "// " + pat + "\n// " + strings.Replace(pat, pat[10:14], "Zq7Y", 1) + "\n"}, state: "denied(secret)", said: "line 2"},
		"a known value that moves":      {before: map[string]string{"old": "key " + known + "\n"}, removed: "old", written: map[string]string{"new": "key " + known + "\n"}, state: "denied(secret)", said: "the deploy key"},
		"a known value, not moved":      {before: map[string]string{"old": "key " + known + "\n"}, written: map[string]string{"old": "# for the host\nkey " + known + "\n"}, state: "applied"},
		"an allowed file":               {written: map[string]string{"certs/key.pem": key}, allowed: secrets.Allowed{Files: []string{"certs/**"}}, state: "applied"},
		"another file":                  {written: map[string]string{"deploy/key.pem": key}, allowed: secrets.Allowed{Files: []string{"certs/**"}}, state: "denied(secret)"},
		"an allowed rule":               {written: map[string]string{"a.py": assigned}, allowed: secrets.Allowed{Rules: []string{"generic-api-key"}}, state: "applied"},
		"an allowed value":              {written: map[string]string{"a.py": "t = '" + pat + "'\n"}, allowed: secrets.Allowed{Values: []string{sha256Hex(pat)}}, state: "applied"},
		"an allowed value in Base64":    {written: map[string]string{"a.py": "t = '" + base64.StdEncoding.EncodeToString([]byte(pat)) + "'\n"}, allowed: secrets.Allowed{Values: []string{sha256Hex(pat)}}, state: "applied"},
		"a known value, all allowed":    {written: map[string]string{"certs/a": "key " + known + "\n"}, allowed: secrets.Allowed{Files: []string{"**"}, Rules: []string{secrets.KnownRule}, Values: []string{sha256Hex(known)}}, state: "denied(secret)"},
		"an allowed file's own name":    {written: map[string]string{"certs/" + pat: "x\n"}, allowed: secrets.Allowed{Files: []string{"**"}}, state: "denied(secret)", said: "the name of a file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newCodeBench(t)
			if c.before != nil {
				b.checkout(b.git.Commit("main", c.before, "Long ago"))
			}
			b.cfg.Secrets = b.cfg.Secrets.Allowing(c.allowed)
			if c.removed != "" {
				if err := os.Remove(filepath.Join(b.dir, filepath.FromSlash(c.removed))); err != nil {
					t.Fatal(err)
				}
			}
			b.write(c.written)
			r := b.run(aPull)
			want(t, r, c.state)
			said := r[0].Message + strings.Join(r[0].Notes, "\n")
			if !strings.Contains(said, c.said) {
				t.Errorf("%q does not contain %q", said, c.said)
			}
			for _, secret := range []string{pat, general, known, key[40:80]} {
				if strings.Contains(said, secret) {
					t.Errorf("the secret is in %q", said)
				}
			}
		})
	}
}
