package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// state is that of a server with a review of one comment, and a comment on all of the pull request.
const state = `{"repo": {"id": 1, "owner": "octo", "name": "shop"}, "viewer": {"login": "bot", "id": 2}, "issues": [{"id": 3, "number": 7, "title": "Sell <b>",
  "body": "", "state": "open", "author": {"login": "mona", "id": 5},
  "comments": [{"id": 4, "body": "### All **well**\n\n<script>alert(1)</script>![x](https://example.org/x.png)", "author": {"login": "bot", "id": 2}}],
  "pull": {"head": {"ref": "topic", "sha": "a"}, "base": {"ref": "main", "sha": "b"},
    "files": [{"path": "a.go", "patch": "@@ -1,3 +1,6 @@\n one\n-gone\n+two\n+three\n+four\n+five\n+six\n"}],
    "reviews": [{"id": 9, "state": "COMMENTED", "body": "", "commit_id": "a", "author": {"login": "bot", "id": 2}}],
    "comments": [{"id": 10, "review_id": 9, "path": "a.go", "line": 4, "body": "No.\n\n` + "```suggestion\\nfour!\\n```" + `", "commit_id": "a"}]}}]}`

func TestPage(t *testing.T) {
	var out bytes.Buffer
	if err := run([]string{"7"}, strings.NewReader(state), &out); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	for _, want := range []string{
		"Sell &lt;b&gt;", "mona wants to merge topic into main", "<h3>All <strong>well</strong></h3>", "<code>a.go</code> line 4",
		`<pre class="hunk"><span class="removed">- gone</span><span class="added">&#43; two</span><span class="added">&#43; three</span><span class="added">&#43; four</span></pre>`,
		"<strong>Suggested change</strong>", "four!",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s:\n%s", want, page)
		}
	}
	for _, acting := range []string{"<script", "<img", "<link", " src="} {
		if strings.Contains(page, acting) {
			t.Errorf("the page has %s:\n%s", acting, page)
		}
	}
}

func TestHunkOfASingleLine(t *testing.T) {
	files := []githubtest.File{{Path: "a.go", Patch: "@@ -3 +4 @@ func f(a, b int)\n-gone\n+new\n"}}
	got := hunk(files, &githubtest.DiffComment{Path: "a.go", Line: 4})
	if want := []line{{"-", 0, "gone"}, {"+", 4, "new"}}; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestNoPage(t *testing.T) {
	for _, c := range []struct {
		args  []string
		stdin string
		want  string
	}{
		{nil, state, "usage"},
		{[]string{"x"}, state, `"x" is not a number`},
		{[]string{"8"}, state, "there is no pull request #8"},
		{[]string{"7"}, "{", "the fixture cannot be read"},
	} {
		if err := run(c.args, strings.NewReader(c.stdin), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.args, err)
		}
	}
}
