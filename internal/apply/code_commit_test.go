package apply

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubapi"
)

// TestMessagesSpeakForNobodyElse asserts that trailers that name an author, reviewer or tester are
// removed from an agent's commit messages.
func TestMessagesSpeakForNobodyElse(t *testing.T) {
	t.Parallel()
	forged := []string{
		"Signed-off-by: Linus Torvalds <torvalds@example.com>", "signed-off-by : Linus Torvalds <torvalds@example.com>", "SIGNED-OFF-BY:torvalds",
		"Co-authored-by: Octo Cat <octocat@example.com>", "Co-Authored-By: Octo Cat\n <octocat@example.com>", "\u200bCo-authored-by: Octo Cat <octocat@example.com>",
		"Co-developed-by: Octo Cat <octocat@example.com>", "Reviewed-by: Mona <mona@example.com>", "Acked-by: Mona", "Tested-by: Mona", "Reported-by: Mona", "Reported-and-tested-by: Mona",
		"Suggested-by: Mona", "Approved-by: @mona", "On-behalf-of: @octo <legal@example.com>", "Sponsored-by: Mona <mona@example.com>",
		"\u00a0Signed-off-by\u00a0: Mona", "\u2003Verified-by\u202f: Mona <mona@example.com>",
		"Airlock-Item: 0123456789abcdef-0123456789abcdef", "\r\nCo-authored-by: Octo Cat <octocat@example.com>\r",
	}
	kept := []string{"Sort-by: name", "Blocked-by: the release", "Change-Id: I0123", "Reviewed by nobody yet.", "See co-authored-by: in the documents"}
	for _, form := range []string{"workspace", "mailbox"} {
		b := newCodeBench(t)
		b.write(map[string]string{"docs/b.md": "1\n"}).commit("Change b\n\n" + strings.Join(kept, "\n") + "\n\n" + strings.Join(forged, "\n"))
		b.handOver(form)
		r := b.run(aPull)
		want(t, r, "applied")
		log := b.git.Run("log", "-1", "--format=%B", b.pulls()[0].Pull.Head.Ref)
		for _, line := range kept {
			if !strings.Contains(log, line) {
				t.Errorf("%s: %q is gone: %s", form, line, log)
			}
		}
		for _, part := range []string{"torvalds", "Octo", "Cat", "octocat@", "Mona", "mona", "Airlock-Item: 0123"} { // of forged ones
			if strings.Contains(log, part) {
				t.Errorf("%s: %q is there: %s", form, part, log)
			}
		}
		if trailers := strings.TrimSpace(b.git.Run("log", "-1", "--format=%(trailers:only)", b.pulls()[0].Pull.Head.Ref)); strings.Count(trailers, "\n") != 0 || !strings.HasPrefix(trailers, trailerName) {
			t.Errorf("%s: the trailers are %q", form, trailers)
		}
		if notes := strings.Join(r[0].Notes, "; "); !strings.Contains(notes, `an agent cannot speak for them: "Signed-off-by"`) {
			t.Errorf("notes: %q", notes)
		}
	}
}

// TestMessageOfCreditsAlone asserts that the item's title replaces a commit message that consists
// only of credits.
func TestMessageOfCreditsAlone(t *testing.T) {
	t.Parallel()
	b := newCodeBench(t)
	b.write(map[string]string{"docs/b.md": "1\n"}).commit("Reviewed-by: Mona <mona@example.com>")
	want(t, b.run(aPull), "applied")
	if title := b.git.Run("log", "-1", "--format=%s", b.pulls()[0].Pull.Head.Ref); title != "Mend the demo" {
		t.Errorf("the title is %q", title)
	}
}

// TestCommitterOnEachServer asserts that a commit's committer is an account of the server that it is
// pushed to. It also asserts which committers count as Airlock: the server itself is one, and so is
// the account under an old name, or at github.com.
func TestCommitterOnEachServer(t *testing.T) {
	t.Parallel()
	for server, host := range map[string]string{
		"": "github.com", "https://github.com/": "github.com", "https://ghe.example:8443/": "ghe.example", "https://octo.ghe.com": "octo.ghe.com",
	} {
		b := newCodeBench(t)
		b.cfg.Server = server
		b.write(map[string]string{"docs/a.md": "1\n"})
		want(t, b.run(aPull), "applied")
		branch := b.pulls()[0].Pull.Head.Ref
		if got, want := b.git.Run("log", "-1", "--format=%ce", branch), "41898282+github-actions[bot]@users.noreply."+host; got != want {
			t.Errorf("server %q: the committer is %s, want %s", server, got, want)
		}
		own := committerOf(b.viewer(), host)
		for email, want := range map[string]bool{
			own.Email:                   true,
			"noreply@" + host:           true, // the server itself
			"noreply@elsewhere.example": false,
			"41898282+github-actions[bot]@users.noreply.github.com": true, // which earlier versions wrote for each server
			"41898282+old-name@users.noreply." + host:               true, // the account was renamed
			"41898282+old-name@users.noreply.elsewhere.example":     false,
			"4189+github-actions[bot]@users.noreply." + host:        false, // another account
			"41898282+github-actions[bot]@elsewhere.example":        false,
		} {
			c := githubapi.Commit{Verified: true}
			c.Committer.Email = email
			if madeBy(c, own, host) != want {
				t.Errorf("server %q: a commit of %s is Airlock's: %v", server, email, !want)
			}
		}
	}
}
