package sanitize

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNotesOfSeveralLeaves asserts that a detail survives the leaf that it was
// found in: the memory of one leaf's text is used for the next.
func TestNotesOfSeveralLeaves(t *testing.T) {
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	_, got := s.Body("cc @octocat and @org/team\n\nA longer paragraph, whose text overwrites the one before; this closes #12\n\n> another one, at https://evil.example/path\n\n- and @hubot\n\nThe last paragraph has &amp; an entity, so it is decoded too, @monalisa")
	want := []Note{
		{RuleClosingWords, "closes", 1}, {RuleLinks, "evil.example", 1},
		{RuleMentions, "hubot", 1}, {RuleMentions, "monalisa", 1}, {RuleMentions, "octocat", 1}, {RuleMentions, "org/team", 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}
