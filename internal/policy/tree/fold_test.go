package tree

import (
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// TestNamesThatFoldToProtectedOnes goes through all of Unicode. It asserts that a protected name is
// still protected with a character in it that a file system can ignore or take for one of the
// name's letters. It also asserts that such a spelling of .git is refused.
func TestNamesThatFoldToProtectedOnes(t *testing.T) {
	t.Parallel()
	r := newRules(Config{})
	spellings := map[string]bool{}
	for c := rune(0x80); c <= unicode.MaxRune; c++ {
		for _, same := range []string{string(unicode.ToLower(c)), string(unicode.ToUpper(c)), string(unicode.SimpleFold(c)), norm.NFKC.String(string(c))} {
			if same = strings.ToLower(same); isASCII(same) && strings.TrimLeft(same, "abcdefghijklmnopqrstuvwxyz.-0123456789") == "" {
				for _, name := range []string{".github/workflows/x.yml", "CODEOWNERS", "AGENTS.md", ".gitattributes"} {
					if spelling := strings.Replace(strings.ToLower(name), same, string(c), 1); !isASCII(spelling) {
						spellings[spelling] = true
					}
				}
			}
		}
		if unicode.In(c, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			spellings[".git"+string(c)+"hub/workflows/x.yml"] = true
			spellings[string(c)+".github/x"] = true
		}
	}
	for _, name := range []string{".gıthub/workflows/x.yml", ".gİthub/x", ".gI\u0307thub/x", ".ɢithub"} {
		spellings[name] = name != ".ɢithub" // no file system takes ɢ for a g
	}
	if len(spellings) < 1000 {
		t.Fatalf("%d spellings", len(spellings))
	}
	for name, protected := range spellings {
		if _, got := r.protects(name); got != protected {
			t.Errorf("%q (%+q): protected %v", name, name, got)
		}
	}
	for _, name := range []string{".gıt/config", ".G\u0130T", ".gi\u034ft/x", "．ｇｉｔ/config", "gıt~1/x"} {
		if got := broken(Config{}, Tree{Changes: added(name)}); len(got) == 0 || !strings.HasPrefix(got[0], RuleGitPath) {
			t.Errorf("%q breaks %q", name, got)
		}
	}
	// Other letters and longer names make other names.
	for _, name := range []string{"docs/größe.md", "日本/語.txt", ".github2/x", "docs/.gıthubx", "ğithub/x"} {
		if _, got := r.protects(name); got {
			t.Errorf("%q is protected", name)
		}
	}
}
