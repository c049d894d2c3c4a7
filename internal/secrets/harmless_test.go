package secrets

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// excerpt describes a hit, with the text around it.
func excerpt(text string, h Hit) string {
	return fmt.Sprintf("%s at %d:%d in %q", h.Rule, h.Line, h.Column, text[max(0, h.Start-40):min(len(text), h.End+10)])
}

func TestOrdinaryFilesContainNoSecret(t *testing.T) {
	root := os.DirFS("../..")
	s, files := New(nil), 0
	for _, place := range []string{"README.md", "CONTRIBUTING.md", "action.yml", "Dockerfile", "go.mod", "go.sum", "docs", "examples", "schemas", ".github", "testdata", "internal/sarif/testdata", "internal/markdown"} {
		err := fs.WalkDir(root, place, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := fs.ReadFile(root, path)
			if err != nil {
				return err
			}
			files++
			for _, h := range s.ScanFile(path, string(data)) {
				t.Errorf("%s: %s", path, excerpt(string(data), h))
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if files < 50 {
		t.Errorf("only %d files were read", files)
	}
}

// ordinaryLines are expressions for lines without a secret. A test makes many lines of
// each, with other random parts.
var ordinaryLines = map[string]string{
	"go.sum":                 `github\.com/docker/docker-credential-helpers v0\.8\.2 h1:[A-Za-z0-9+/]{43}=`,
	"go.mod":                 `	github\.com/[a-z]{4}/api-token-[a-z]{3} v0\.0\.0-20250424173009-[a-f0-9]{12}`,
	"package-lock.json":      `      "integrity": "sha512-[A-Za-z0-9+/]{86}==",`,
	"package-lock, a key":    `    "node_modules/public-key": \{ "resolved": "https://registry\.npmjs\.org/x/-/x-1\.0\.0\.tgz#[a-f0-9]{40}" \},`,
	"yarn.lock":              `"@types/jsonwebtoken@\^9\.0\.0":\n  version "9\.0\.[0-9]"\n  integrity sha512-[A-Za-z0-9+/]{86}==`,
	"Cargo.lock":             `name = "secret-service"\nversion = "3\.0\.1"\nchecksum = "[a-f0-9]{64}"`,
	"poetry.lock":            `    \{file = "keyring-24\.3\.0-py3-none-any\.whl", hash = "sha256:[a-f0-9]{64}"\},`,
	"requirements.txt":       `keyring==24\.3\.0 --hash=sha256:[a-f0-9]{64}`,
	"a pinned action":        `      - uses: actions/create-github-app-token@[a-f0-9]{40} # v1\.11\.0`,
	"a commit":               `commit [a-f0-9]{40}\nMerge: [a-f0-9]{7} [a-f0-9]{7}`,
	"a commit's token":       `Fix the token at [a-f0-9]{40}, and the key of [a-f0-9]{12}\.`,
	"an image's digest":      `FROM golang:1\.25@sha256:[a-f0-9]{64}`,
	"a diff":                 `index [a-f0-9]{7}\.\.[a-f0-9]{7} 100644\n--- a/token\.go\n\+\+\+ b/token\.go`,
	"a UUID":                 `id: [a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-8[a-f0-9]{3}-[a-f0-9]{12}`,
	"an image":               `!\[logo\]\(data:image/png;base64,iVBORw0KGgo[A-Za-z0-9+/]{900}=\)`,
	"a public key":           `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI[A-Za-z0-9+/]{43} me@host`,
	"a certificate":          `-----BEGIN CERTIFICATE-----\n([A-Za-z0-9+/]{64}\n){12}-----END CERTIFICATE-----`,
	"a public PEM":           `-----BEGIN PUBLIC KEY-----\n([A-Za-z0-9+/]{64}\n){5}-----END PUBLIC KEY-----`,
	"the mention of a PEM":   `Text between -----BEGIN PRIVATE KEY----- and -----END PRIVATE KEY----- is a key, [a-z]{40} as everybody knows\.`,
	"a source map":           `//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjoz[A-Za-z0-9+/]{300}`,
	"AWS's example":          `aws_access_key_id = AKIA[A-Z2-7]{9}EXAMPLE`,
	"crosses":                `token: ghp_x{36}`,
	"zeros":                  `GITHUB_TOKEN=ghp_0{36}`,
	"a row":                  `api_key = "abcdefghijklmnopqrstuvwxyz[0-9]{2}"`,
	"digits in a row":        `secret_key: "12345678901234567890"`,
	"a placeholder":          `Authorization: Bearer <(your-)?token>`,
	"your key":               `OPENAI_API_KEY=sk-your-(api-)?key-here-[0-9]{6}`,
	"an expression":          `          token: \$\{\{ secrets\.[A-Z_]{8,20} \}\}`,
	"a shell variable":       `export API_TOKEN="\$\{?[A-Z_]{8,20}\}?"`,
	"the environment":        `token = os\.environ\["[A-Z_]{8,20}"\]`,
	"the environment, Go":    `	token := os\.Getenv\("[A-Z_]{8,20}"\)`,
	"a template":             `password: \{\{ \.Values\.[a-zA-Z]{5,12}\.password \}\}`,
	"code":                   `	apiKey := client\.NewTokenSource(Func|With)\(ctx, "[a-z]{8}"\)`,
	"a type":                 `type PrivateKey = ed25519\.PrivateKey`,
	"a constant":             `		Keytype = KeyAlgoED25519`,
	"a call":                 `	secret := newSecretKey[A-Z][a-z]{5}2048FromFile\(path\)`,
	"a keyed hash":           `cache-key: \$\{\{ runner\.os \}\}-go-\$\{\{ hashFiles\('\*\*/go\.sum'\) \}\}`,
	"prose":                  `The token, the key and the password: each is a secret that gives access to the API\. It is [0-9]{2} bytes long\.`,
	"a question":             `What if the key => value, or a password\? See https://example\.com/docs/token\?page=[0-9]{2}`,
	"a keyboard":             `keyboard: "us-intl-[a-z]{6}-105"`,
	"a public token's name":  `csrf_token_name = "csrfmiddlewaretoken[0-9]{2}"`,
	"a primary key":          `primary_key = "user_account_id_[0-9]{5}abc"`,
	"curl":                   `curl -fsSL https://example\.com/install\.sh \| sh -s -- --version v1\.[0-9]\.0`,
	"curl with a variable":   `curl -H "Authorization: Bearer \$TOKEN" https://api\.example\.com/v[0-9]`,
	"curl with a user":       `curl -u "\$USER:\$PASSWORD" https://example\.com/[a-z]{5}`,
	"redacted":               `token=\*\*\*, password=\[redacted\], key=\.\.\.`,
	"a JWT's head":           `The header eyJhbGciOiJIUzI1NiJ9 says HS256\.`,
	"an empty secret":        `apiVersion: v1\nkind: Secret\nmetadata:\n  name: [a-z]{6}\ndata: \{\}`,
	"a base64 of prose":      base64.StdEncoding.EncodeToString([]byte("The password is never written down, and the token neither.")),
	"minified code":          `\}function k\(a,b\)\{var c=a\.key,d=b\.token\|\|"[a-z]{9}";return c\?d:k\(d,c\)\}`,
	"a long word":            `[a-z]{400}`,
	"data in Base64":         `[A-Za-z0-9+/]{300}/AKID[A-Za-z0-9]{32}/[A-Za-z0-9+/]{60}`,
	"hexadecimal data":       `0x[a-f0-9]{2}, 0x[a-f0-9]{2}, 0x[a-f0-9]{2}, 0x[a-f0-9]{2},`,
	"a PGP signature":        `-----BEGIN PGP SIGNATURE-----\n\n([A-Za-z0-9+/]{64}\n){4}-----END PGP SIGNATURE-----`,
	"an object id":           `gpgsig-sha256 [a-f0-9]{64}`,
	"a workflow's cache":     `key: linux-amd64-go-[a-f0-9]{64}`,
	"an LFS pointer":         `version https://git-lfs\.github\.com/spec/v1\noid sha256:[a-f0-9]{64}\nsize [0-9]{5}`,
	"a sourcegraph link":     `https://sourcegraph\.com/github\.com/a/b/-/blob/[a-z]{5}\.go`,
	"a path":                 `/home/runner/work/[a-z]{5}/[a-z]{5}/internal/token/key_[0-9]{3}\.go`,
	"a log line":             `2026-11-20T10:00:00\.[0-9]{7}Z ##\[debug\]token length=[0-9]{2} key=[a-z]{6}`,
	"a bucket":               `bucket_key = "reports/2026/11/[a-z]{8}-[0-9]{4}\.csv"`,
	"a test id":              `data-testid="access-panel-[a-z]{5}" aria-keyshortcuts="Control\+K"`,
	"CSS":                    `\.token\.keyword \{ color: #[a-f0-9]{6}; \}`,
	"SQL":                    `ALTER TABLE tokens ADD CONSTRAINT tokens_key FOREIGN KEY \(user_id\) REFERENCES users\(id\) /\* [a-f0-9]{8} \*/;`,
	"a lock of a module":     `name = "github\.com/sourcegraph/annotate"\n  packages = \["\."\]\n  revision = "[a-f0-9]{40}"`,
	"a filled-up example":    `createTokenAuth\("ghp_PersonalAccessToken[0-9]{5}789000000000000"\);`,
	"a fingerprint's name":   `TEST_KEY_FINGERPRINT_MACHINE = "[A-F0-9]{40}"`,
	"a key's digest":         `sign-key-sha3-384: [a-zA-Z0-9_-]{64}`,
	"a Discord invite":       `https://discord\.gg/[a-zA-Z0-9]{8}`,
	"a Slack channel":        `https://[a-z]{6}\.slack\.com/archives/C[A-Z0-9]{8}/p[0-9]{16}`,
	"a Jira issue":           `See JIRA: PROJ-[0-9]{4}, https://[a-z]{5}\.atlassian\.net/browse/PROJ-[0-9]{4}`,
	"a version's table":      `token\.Token	v1\.[0-9]\.0	[a-f0-9]{12}`,
	"an agent's line":        `\{"type": "add-issue-comment", "body": "The key is \x60[a-z]{12}\x60, see commit [a-f0-9]{40}", "issue_number": [0-9]{3}\}`,
	"a fingerprint":          `SHA256:[A-Za-z0-9+/]{43} me@host \(ED25519\)`,
	"Subresource integrity":  `<script src="https://cdn\.example\.com/key\.js" integrity="sha384-[A-Za-z0-9+/]{64}" crossorigin="anonymous"></script>`,
	"a key with a checksum":  `token = "sha256:[a-f0-9]{64}"`,
	"a hash of a style":      `style-src 'self' 'sha256-[A-Za-z0-9+/]{43}='`,
	"an issuer in a name":    `exports\.AirtableOAuth2Api = AirtableOAuth2Api;\nexports\.twitterApiRequestAllItems = twitterApiRequestAllItems; // [0-9]\nexport type LinkedInNode = LinkedInV1Node;`,
	"a name after an issuer": `"sendLinkedinVisit","getUrlAnalysis","[a-z]{6}"`,
	"an issuer's form id":    `  private readonly hubspotFormId = '[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-8[a-f0-9]{3}-[a-f0-9]{12}';`,
	"random words with keys": `([a-z]{3,9} ){8}key ([a-z]{3,9} ){8}token ([a-z]{3,9} ){8}secret`,
}

func TestOrdinaryLinesContainNoSecret(t *testing.T) {
	sampler, s := newSamples(), New(nil)
	for name, line := range ordinaryLines {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			for range 30 {
				text.WriteString(sampler.match(t, line))
				text.WriteByte('\n')
			}
			hits := s.ScanFile("a.yaml", text.String())
			for _, h := range hits[:min(3, len(hits))] {
				t.Errorf("%d hits: %s", len(hits), excerpt(text.String(), h))
			}
			if s.Mask(text.String()) != text.String() {
				t.Error("masked")
			}
		})
	}
}
