package branchname_test

import (
	"cmp"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/branchname"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"main", "fix/issue-7", "a;b", "$(touch", "`x`", "ümlaut", "a'b\"c", "a-", "heads/x", "=x", "%2e%2e", "a\u202eb", strings.Repeat("a", 244)} {
		if err := branchname.Check(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{
		"", "-x", "--upload-pack=touch x", "HEAD", "@", "$(touch x)", "a b", "a..b", "a//b", "/a", "a/", ".a", "a/.b", "a.lock", "a.lock/b", "a.",
		"a~1", "a^", "a:b", "a?b", "a*", "a[b", `a\b`, "a@{1}", "@{-1}", "a\nb", "a\x00b", "a\x7fb", "\xff", "refs/heads/main",
		strings.Repeat("0a", 20), strings.Repeat("0A", 20), strings.Repeat("a", 245),
	} {
		if err := branchname.Check(name); err == nil {
			t.Errorf("%q passes", name)
		} else if strings.ContainsAny(err.Error(), "\n\x00") {
			t.Errorf("%q: the error is not one line: %v", name, err)
		}
	}
}

// assertClean asserts what Clean promises of every result, and returns the result.
func assertClean(t *testing.T, asked string) string {
	t.Helper()
	name := branchname.Clean(asked)
	switch {
	case strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/-") != "":
		t.Errorf("%q becomes %q, with other characters", asked, name)
	case len(name) > 100:
		t.Errorf("%q becomes %q, of %d bytes", asked, name, len(name))
	case branchname.Check(name) != nil || branchname.Check("airlock/"+name) != nil:
		t.Errorf("%q becomes %q: %v", asked, name, cmp.Or(branchname.Check(name), branchname.Check("airlock/"+name)))
	case branchname.Clean(name) != name:
		t.Errorf("%q becomes %q, and that %q", asked, name, branchname.Clean(name))
	}
	return name
}

func TestClean(t *testing.T) {
	t.Parallel()
	for _, same := range []string{"fix", "fix/login", "Fix_Login-2.0", "a--b", "airlock/x", "gh-pages", strings.Repeat("a", 100)} {
		if got := assertClean(t, same); got != same {
			t.Errorf("%q becomes %q", same, got)
		}
	}
	for asked, want := range map[string]string{ // without the hash
		"$(id)": "id", "`id`": "id", "a;b": "a-b", "fix/$({curl,evil}|bash)": "fix/curl-evil-bash", "$(touch${IFS}x)": "touch-IFS-x",
		"-x": "x", "--upload-pack=x": "upload-pack-x", "a..b": "a.b", "a.lock": "a-lock", "a.LOCK/b": "a-lock/b", "refs/heads/x": "x", "refs/tags/v1": "tags/v1",
		"@": "changes", "HEAD": "HEAD", "user/@scope/x": "user/scope/x", "user/\u200b@scope/x": "user/scope/x", "/a//b/": "a/b", "": "changes", "...": "changes",
		"Ünïcode": "Unicode", "straße": "strasse", "ｆｕｌｌ": "full", "日本": "changes", "a\u202eb\x00c": "ab-c", "con": "_con", "x/aux.c/y": "x/_aux.c/y", "nul": "_nul",
		"a b\nc": "a-b-c", "a'b\"c": "a-b-c", "&&rm -rf /": "rm-rf", "<img src=x>": "img-src-x", "\xff\xfe": "changes", "a./b": "a/b", "x/-y": "x/y", "~1^:?*[\\": "1",
		strings.Repeat("0a", 20): strings.Repeat("0a", 20), strings.Repeat("é", 300): strings.Repeat("e", 60), strings.Repeat("a/", 100) + "b": strings.Repeat("a/", 29) + "a",
	} {
		got := assertClean(t, asked)
		if len(got) < 9 || got[:len(got)-9] != want || got[len(got)-9] != '-' {
			t.Errorf("%q becomes %q, want %q and a hash", asked, got, want)
		}
	}
	if branchname.Clean("a;b") == branchname.Clean("a b") || branchname.Clean("a;b") == branchname.Clean("a-b") {
		t.Error("different names have one result")
	}
}

// TestCleanAnything asserts for random names what Clean promises. Two names may have the same
// result only if they differ in no more than white space around them, invisible characters and
// invalid UTF-8.
func TestCleanAnything(t *testing.T) {
	t.Parallel()
	pieces := []string{"a", "Z", "9", "/", ".", "-", "_", "..", ".lock", "@{", "$(id)", "`", "\x00", "\xff", "é", "日", "\u200b", "\u202e", "refs/", "heads/", "HEAD", "con", "~", " ", "😀", "ﬁ", strings.Repeat("long", 20)}
	random := rand.New(rand.NewPCG(3, 4))
	from := map[string]string{}
	for range 20000 {
		asked := ""
		for range 1 + random.IntN(6) {
			asked += pieces[random.IntN(len(pieces))]
		}
		name := assertClean(t, asked)
		plain := strings.TrimSpace(strings.NewReplacer("\u200b", "", "\u202e", "").Replace(strings.ToValidUTF8(asked, "-")))
		if other, ok := from[name]; ok && other != plain {
			t.Fatalf("%q and %q both become %q", other, plain, name)
		}
		from[name] = plain
	}
}

func TestReserved(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"main", "Main", "master", "gh-pages", "GH-Pages", "release/1.0", "releases/x", "v1", "v1.2.3", "1.x", "2.0", "v1.2.3-rc.1", "dependabot/npm/x", "renovate/go", "Renovate/x", "snyk-fix-1",
		"FETCH_HEAD", "HEAD", "ORIG_HEAD", "refs/x", "heads/x", "origin/main", "pull/7/head", "gh-readonly-queue/main/x", "revert-7-x", "develop", "production"} {
		if branchname.Reserved(name) == "" {
			t.Errorf("%q is not reserved", name)
		}
	}
	for _, name := range []string{"fix", "fix/login", "airlock/main", "airlock/dependabot/x", "maintain", "feature/v1", "versions", "mainframe", "docs", "airlock/release/1.0", "7-seas"} {
		if why := branchname.Reserved(name); why != "" {
			t.Errorf("%q is reserved: %s", name, why)
		}
	}
}

func TestSlug(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		title string
		most  int
		want  string
	}{
		{"Mend the demo", 40, "mend-the-demo"}, {"Ünïcode & <b>", 40, "unicode-b"}, {"!!!", 40, "changes"}, {"日本", 40, "changes"}, {"  A  b ", 40, "a-b"},
		{"Abcdef", 3, "abc"}, {"a$(id)b", 2, "a-i"},
	} {
		if got := branchname.Slug(c.title, c.most); got != c.want {
			t.Errorf("Slug(%q, %d) = %q, want %q", c.title, c.most, got, c.want)
		}
	}
}
