package apply

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/policy"
)

// TestTitleKey asserts which titles are the same subject, and which are not.
func TestTitleKey(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"Upgrade the parser", "upgrade the parser", "  Upgrade   the\tparser. ", "“Upgrade” the parser!", "Upgrade-the-parser", "Upgrade the par\u200bser", "🎉 Upgrade the parser", "UPGRADE THE PARSER…", "`Upgrade` the parser"},
		{"Fix the login page", "fix: the login page", "Fix the login page (#)"},
		{"Straße fegen", "STRASSE FEGEN"},
		{"Mettre à jour", "Mettre a\u0300 jour"},
		{"Use C++", "use c++"}, {"Use C#", "Use C#."}, {"Release 1.2", "Release 1-2"},
		{"更新解析器", "更新解析器。"}, {"???", " ??? "},
	} {
		for _, title := range same[1:] {
			if titleKey(title) != titleKey(same[0]) {
				t.Errorf("%q and %q are %q and %q", same[0], title, titleKey(same[0]), titleKey(title))
			}
		}
	}
	titles := []string{"Upgrade the parser", "Fix the login page", "Use C++", "Use C#", "Use C", "Pay $5", "Pay 5", "Pay €5", "Release 1.2", "Release 12", "更新解析器", "修复登录页", "हिन्दी", "हनद", "!!!", "???", "👍", "👎", "Fix #1", "Fix #2", "Upgrade",
		"Use <= here", "Use >= here", "Use ≠ here", "Use here", "Set it to -1", "Set it to 1", "Keep 100%", "Keep 100", "Ignore .env", "Ignore env", "Negate !x", "Negate x",
		"Allow * in names", "Allow `?` in names", "Allow `&&` in names", "Allow (&) in names", "Allow in names"}
	seen := map[string]string{}
	for _, title := range titles {
		if other, ok := seen[titleKey(title)]; ok {
			t.Errorf("%q and %q are both %q", title, other, titleKey(title))
		}
		seen[titleKey(title)] = title
	}
}

// titled returns a line that asks for a pull request.
func titled(title, branch string) string {
	return line(map[string]any{"type": "create-pull-request", "title": title, "body": "B", "branch": branch})
}

// TestRunsWithoutANumberKeepTheirSubjects plays runs of a schedule. Each updates the pull
// request of its own subject, and no other.
func TestRunsWithoutANumberKeepTheirSubjects(t *testing.T) {
	t.Parallel()
	b := newCodeBench(t)
	b.ev.Name = "schedule"
	run := func(text string, states string, lines ...string) {
		t.Helper()
		b.nextRun()
		b.write(map[string]string{"docs/a.md": text})
		want(t, b.run(lines...), states)
	}
	// content returns titles and contents of the open pull requests.
	content := func() (out string) {
		for _, p := range b.pulls() {
			out += p.Title + ": " + b.file(p.Pull.Head.Ref, "docs/a.md") + "\n"
		}
		return out
	}
	wantContent := func(want string) {
		t.Helper()
		if got := content(); got != want {
			t.Errorf("the pull requests are\n%swant\n%s", got, want)
		}
	}
	run("monday", "applied", titled("Fix the login page", ""))
	run("tuesday", "applied", titled("Upgrade the parser", ""))
	wantContent("Fix the login page: monday\nUpgrade the parser: tuesday\n")
	run("wednesday", "applied", titled("Upgrade  the Parser.", ""))
	wantContent("Fix the login page: monday\nUpgrade  the Parser.: wednesday\n")
	run("thursday", "applied", titled("Fix the login page", ""))
	wantContent("Fix the login page: thursday\nUpgrade  the Parser.: wednesday\n")

	// The order of the items of a run does not matter.
	run("friday", "applied applied", titled("Upgrade  the Parser.", ""), titled("Fix the login page", ""))
	wantContent("Fix the login page: friday\nUpgrade  the Parser.: friday\n")
	// Another item with the same title has a pull request of its own.
	run("saturday", "applied applied applied", titled("Fix the login page", ""), titled("Fix the login page", ""), titled("Upgrade  the Parser.", ""))
	run("sunday", "applied applied", titled("Upgrade  the Parser.", ""), titled("Fix the login page", ""))
	wantContent("Fix the login page: sunday\nUpgrade  the Parser.: sunday\nFix the login page: saturday\n")

	// A branch that the item names is the subject, whatever the title.
	run("one", "applied", titled("Nightly: 3 files", "nightly"))
	run("two", "applied", titled("Nightly: 5 files", "nightly"))
	if got := content(); !strings.HasSuffix(got, "Nightly: 5 files: two\n") || strings.Contains(got, "Nightly: 3 files") {
		t.Errorf("the pull requests are\n%s", got)
	}

	// So is the owner's.
	b.pull(func(s *policy.ChangeSettings) { s.Branch = "bot/docs" })
	run("three", "applied", titled("Docs of Monday", ""))
	run("four", "applied", titled("Docs of Tuesday", ""))
	if got := content(); !strings.HasSuffix(got, "Docs of Tuesday: four\n") || strings.Contains(got, "Docs of Monday") {
		t.Errorf("the pull requests are\n%s", got)
	}
}
