package secrets

import (
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
)

// hostile are texts of a given length that make careless searching slow.
var hostile = map[string]func(n int) string{
	"keywords":           func(n int) string { return strings.Repeat("key token secret password ", n/26) },
	"assignments":        func(n int) string { return strings.Repeat("api_key = ", n/10) },
	"names":              func(n int) string { return strings.Repeat("key_token_secret_", n/17) + "=" },
	"one value":          func(n int) string { return "key = " + strings.Repeat("a1", n/2) },
	"values in values":   func(n int) string { return strings.Repeat("key=a1b2c3d4e5f6,", n/17) },
	"heads of JWTs":      func(n int) string { return strings.Repeat("eyJ", n/3) },
	"parts of JWTs":      func(n int) string { return strings.Repeat("eyJhbGciOiJIUzI1NiIsInR5cCI.", n/28) },
	"heads of PEM":       func(n int) string { return strings.Repeat("-----BEGIN PRIVATE KEY-----", n/27) },
	"curl":               func(n int) string { return strings.Repeat("curl ", n/5) },
	"curl -H":            func(n int) string { return strings.Repeat("curl -H \"Authorization: ", n/24) },
	"vendors":            func(n int) string { return strings.Repeat("facebook okta jira twitter sumo heroku ", n/39) },
	"prefixes":           func(n int) string { return strings.Repeat("ghp_ sk- xoxb- AKIA glpat- npm_ ", n/33) },
	"base64":             func(n int) string { return strings.Repeat("YWJj", n/4) },
	"base64 of keywords": func(n int) string { return base64.StdEncoding.EncodeToString([]byte(strings.Repeat("key = ", n/8))) },
	"hexadecimal":        func(n int) string { return hex.EncodeToString([]byte(strings.Repeat("key = ", n/12))) },
	"short base64 lines": func(n int) string { return strings.Repeat(strings.Repeat("A", 60)+"\n", n/61) },
	"kubernetes":         func(n int) string { return strings.Repeat("kind: secret data: ", n/19) },
	"long spaces":        func(n int) string { return "password" + strings.Repeat(" ", n) + "= x" },
	"numbers":            func(n int) string { return strings.Repeat("6b 65 79 3d ", n/12) },
	"short lists":        func(n int) string { return strings.Repeat("41 41 41 41 41 x ", n/17) },
	"lists with blanks":  func(n int) string { return strings.Repeat("41"+strings.Repeat(" ", 23), n/25) },
	"percent":            func(n int) string { return strings.Repeat("%6b%65%79%3D", n/12) },
	"percent of percent": func(n int) string { return strings.Repeat("%256b", n/5) },
	"backslashes":        func(n int) string { return strings.Repeat(`\`, n) },
	"Unicode escapes":    func(n int) string { return strings.Repeat(`\u006b\u0065\u0079=`, n/19) },
	"joints":             func(n int) string { return strings.Repeat(`key"+"`, n/6) },
	"wide joints":        func(n int) string { return strings.Repeat(`a"`+strings.Repeat(" ", 150)+`"`, n/153) },
	"entities":           func(n int) string { return strings.Repeat("&#107;&#x65;", n/12) },
	"lines of mail":      func(n int) string { return strings.Repeat("key=\n", n/5) },
	"UTF-16":             func(n int) string { return strings.Repeat("k\x00e\x00y\x00=\x00", n/8) },
	"escapes in UTF-16":  func(n int) string { return strings.Repeat("%\x006\x00b\x00", n/6) },
	"URLs":               func(n int) string { return strings.Repeat("http://", n/7) },
	"URLs with users":    func(n int) string { return strings.Repeat("a://b:c", n/7) },
	"passwords":          func(n int) string { return strings.Repeat("login x password ", n/17) },
	"parameters":         func(n int) string { return strings.Repeat("&password=", n/10) },
	"basic":              func(n int) string { return strings.Repeat("basic YWJjOmRlZmdoaWprbA", n/24) },
	"Secrets in YAML":    func(n int) string { return strings.Repeat(" kind: Secret\n data:\n  a: QUJDREVGR0hJSktM\n", n/46) },
	"members d": func(n int) string {
		return strings.Repeat(`"d":"abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH" "kty"`, n/58)
	},
	"zero bytes": func(n int) string { return strings.Repeat("\x00", n) },
	"not UTF-8":  func(n int) string { return strings.Repeat("key=\xff\xfe", n/6) },
}

func TestHostileTextsEndAndHideNothing(t *testing.T) {
	sampler := newSamples()
	pat := sampler.match(t, `ghp_[0-9a-zA-Z]{36}`)
	s := New([]Known{known("word", "open-sesame")})
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			filler := text(1 << 15)
			hidden := filler + " open-sesame " + pat + "\n" + filler
			var rules []string
			for _, h := range s.ScanFile("deploy/a.yaml", hidden) {
				rules = append(rules, h.Rule)
			}
			if !slices.Contains(rules, KnownRule) || !slices.Contains(rules, "github-pat") {
				t.Errorf("found %d: %q", len(rules), rules[:min(5, len(rules))])
			}
		})
	}
}

const alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

func TestASecretLongerThanAWindowIsFoundCompletely(t *testing.T) {
	sampler, s := newSamples(), New(nil)
	head := sampler.match(t, `eyJhbGciOiJIUzI1NiJ9\.eyJ[a-zA-Z0-9]{20}`)
	for _, length := range []int{100, 1000, endlessAfter - 100, endlessAfter + 100, 3 * endlessAfter} {
		jwt := head + randomText(alphanumeric, length) + "." + randomText(alphanumeric, 43)
		if length > endlessAfter {
			jwt = head + "." + randomText(alphanumeric, length) // a signature that has no end in sight
		}
		text := "a " + jwt + " b"
		hits := s.Scan(text)
		if len(hits) != 1 || hits[0].Start != 2 || hits[0].End != len(text)-2 {
			t.Errorf("%d: %v of %d", length, hits, len(text))
		}
		if got := s.Mask(text); got != "a *** b" {
			t.Errorf("%d: %d bytes are left", length, len(got))
		}
	}
	for _, length := range []int{100, 300, 5000, endlessAfter - 100} {
		text := randomText("0123456789QXZV", length) // without words that gitleaks allows
		if got := s.Mask("password = '" + text + "'"); got != "password = '***'" {
			t.Errorf("%d: %.100q", length, got)
		}
	}
}

// randomText returns a random text of the given letters, the same one each time.
func randomText(letters string, length int) string {
	random := rand.New(rand.NewPCG(3, 4))
	out := make([]byte, length)
	for i := range out {
		out[i] = letters[random.IntN(len(letters))]
	}
	return string(out)
}

func TestWordsOfATextLetNoSecretPass(t *testing.T) {
	sampler, s := newSamples(), New(nil)
	pat := sampler.match(t, `ghp_[0-9a-zA-Z]{36}`)
	body := sampler.match(t, `([A-Za-z0-9+/]{64}\n){8}`)
	for name, text := range map[string]string{
		"gitleaks:allow":      "token = " + pat + " # gitleaks:allow",
		"nosec":               "token = " + pat + " // nosec example placeholder",
		"an example file":     "EXAMPLE ONLY\n" + pat + "\nexample",
		"a word in a key":     "-----BEGIN PRIVATE KEY-----\nComment: false example ${x}\n" + body + "-----END PRIVATE KEY-----",
		"a key of short rows": "-----BEGIN PRIVATE KEY-----\n" + rows(body, 20) + "-----END PRIVATE KEY-----",
		"a key in JSON":       `{"key": "-----BEGIN RSA PRIVATE KEY-----\n` + strings.ReplaceAll(body, "\n", `\n`) + `-----END RSA PRIVATE KEY-----"}`,
		"a lock file":         "sha512-x " + pat,
	} {
		for _, path := range []string{"", "a.go", "package-lock.json", "vendor/modules.txt", "testdata/example.md", "gitleaks.toml", "node_modules/a.js", "@octokit/auth-token/README.md"} {
			if hits := s.ScanFile(path, text); len(hits) != 1 {
				t.Errorf("%s in %q: %v", name, path, hits)
			}
		}
	}
}

// rows returns a text, without its line breaks, in rows of a length.
func rows(text string, length int) string {
	var out strings.Builder
	for row := range slices.Chunk([]byte(strings.ReplaceAll(text, "\n", "")), length) {
		out.Write(row)
		out.WriteByte('\n')
	}
	return out.String()
}

func TestScannerIsSafeForConcurrentUse(t *testing.T) {
	sampler := newSamples()
	pat := sampler.match(t, `ghp_[0-9a-zA-Z]{36}`)
	s := New([]Known{known("word", "open-sesame")})
	want := s.Scan("open-sesame " + pat)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 20 {
				if got := s.Scan("open-sesame " + pat); !slices.Equal(got, want) {
					t.Errorf("got %v, want %v", got, want)
				}
			}
		})
	}
	wait.Wait()
	if len(want) != 2 {
		t.Errorf("%v", want)
	}
}
