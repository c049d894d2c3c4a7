package fixer_test

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/fixer"
	"github.com/agent-airlock/airlock/internal/policy/tree"
	"github.com/agent-airlock/airlock/internal/secrets"
	"github.com/agent-airlock/airlock/internal/token"
)

// TestWhatAFixMayNotChange asserts that a fix is refused if it makes a change that agents may not
// make. Then none of its files is taken over, and the reason does not contain the secret.
func TestWhatAFixMayNotChange(t *testing.T) {
	t.Parallel()
	const key, known = "AKIAQX5RD2WZ7PLMKEUY", "a-password-for-nothing"
	for _, c := range []struct{ name, script, want string }{
		{"a protected file", "mkdir -p .github/workflows && echo x > .github/workflows/ci.yml; echo y > fine.go", "protected-files: \".github/workflows/ci.yml\""},
		{"a link out of the tree", "ln -s /etc/passwd link", "link: \"link\""},
		{"too many files", "for i in $(seq 1 6); do echo $i > f$i; done", "max-patch-files: 6 files"},
		{"too much", "head -c 300000 /dev/zero | tr '\\0' x > big", "max-patch-size"},
		{"a secret", "echo 'aws_access_key_id = " + key + "' > conf.ini", "secret: \"conf.ini\" contains one in line 1"},
		{"a secret that moves", "mv keys.ini moved.ini", ""},
		{"a known value that moves", "mv known.ini moved.ini", "secret: \"moved.ini\" contains one in line 1 (the password, rule known-value)"},
		{"a known value whose file changes", "echo more >> known.ini", ""},
		{"an ordinary change", "echo 'var More = 2' >> shop.go", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := work(t)
			write(t, dir, "keys.ini", "aws_access_key_id = AKIAZ3MSTK9QD7HXWNBE\n")
			write(t, dir, "known.ini", "pass "+known+"\n")
			cfg := config(dir, "sh", "-c", c.script)
			cfg.Rules = fixer.Rules{Files: tree.Config{MaxFiles: 5, MaxSizeKB: 200}, Secrets: secrets.New([]secrets.Known{{Name: "the password", Value: token.New(known, "")}})}
			r := run(t, cfg)
			if c.want == "" {
				if len(r.Refused) > 0 || len(r.Files) == 0 {
					t.Errorf("refused: %q, files %q; want files", r.Refused, r.Paths())
				}
				return
			}
			if len(r.Refused) != 1 || !strings.Contains(r.Refused[0], c.want) || len(r.Files) > 0 || strings.Contains(strings.Join(r.Refused, ""), key) || strings.Contains(strings.Join(r.Refused, ""), known) {
				t.Errorf("refused: %q, files %q; want %q", r.Refused, r.Paths(), c.want)
			}
		})
	}
}
