package apply

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// hostile contains, in one line and without a code span, everything that must not act.
const hostile = "hi @octocat and @octo/team fixes #12 closes octo/repo#3 [here](https://evil.example/a) <img src=https://evil.example/b> " +
	"<!-- hidden --> <script>alert(1)</script> \u202eevil\u202c \U000e0041 \x1b[31mred " + "<!-- airlock:v1 key=00 -->"

// live returns patterns of texts that act anywhere, such as a mention. U+200B or an entity after
// the @ or before the # makes a mention or a closing word inert.
func live() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		"a mention":        regexp.MustCompile(`@octo`),
		"a closing word":   regexp.MustCompile(`(?i)(fix|close)e?s? (octo/repo)?#\d`),
		"a denied link":    regexp.MustCompile(`https?://evil\.example`),
		"a direction mark": regexp.MustCompile("\u202e"),
		"a tag character":  regexp.MustCompile("\U000e0041"),
		"an escape":        regexp.MustCompile("\x1b"),
	}
}

// markup returns patterns of HTML that acts in Markdown. Titles and plain text show it as it is.
func markup() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		"a comment": regexp.MustCompile(`(^|[^\\])<!--`),
		"a script":  regexp.MustCompile(`(?i)(^|[^\\])<script`),
		"an image":  regexp.MustCompile(`(?i)(^|[^\\])<img`),
	}
}

// inert asserts that nothing in a text acts. In Markdown, our own markers are left out, and so are
// code spans, which show their content as it is.
func inert(t *testing.T, where, text string, isMarkdown bool) {
	t.Helper()
	rules := live()
	if isMarkdown {
		maps.Copy(rules, markup())
		text = withoutOurMarkers(text)
		text = regexp.MustCompile("`[^`\n]+`").ReplaceAllString(text, "code")
	}
	for what, re := range rules {
		if m := re.FindString(text); m != "" {
			t.Errorf("%s contains %s, %q:\n%s", where, what, m, text)
		}
	}
}

// withoutOurMarkers removes the lines that are markers with complete keys: the one at the end of a
// body and, in the body of an issue, those of earlier additions. A second copy of a marker stays.
func withoutOurMarkers(text string) string {
	seen := map[string]bool{}
	var rest strings.Builder
	for line := range strings.Lines(text) {
		if _, key, ok := markdown.LineMarker(line); ok && len(key) >= keyLen && !seen[line] {
			seen[line] = true
			continue
		}
		rest.WriteString(line)
	}
	return rest.String()
}

// texts calls f with every string in a JSON value except GraphQL's document.
func texts(path string, v any, f func(path, s string)) {
	switch v := v.(type) {
	case string:
		f(path, v)
	case []any:
		for i, e := range v {
			texts(fmt.Sprintf("%s[%d]", path, i), e, f)
		}
	case map[string]any:
		for k, e := range v {
			if k != "query" {
				texts(path+"."+k, e, f)
			}
		}
	}
}

// hostileLines returns items of every kind that has text fields, with the hostile text in each of
// them except labels, categories and the branch of a pull request.
func hostileLines(t *testing.T) []string {
	t.Helper()
	sarif := map[string]any{"version": "2.1.0", "runs": []any{map[string]any{
		"tool":    map[string]any{"driver": map[string]any{"name": "Tool " + hostile, "rules": []any{map[string]any{"id": "R1", "shortDescription": map[string]any{"text": hostile, "markdown": hostile}}}}},
		"results": []any{map[string]any{"ruleId": "R1", "message": map[string]any{"text": hostile, "markdown": hostile}, "locations": []any{map[string]any{"physicalLocation": map[string]any{"artifactLocation": map[string]any{"uri": "main.go"}, "region": map[string]any{"startLine": 1}}}}}},
	}}}
	lines := []string{
		line(map[string]any{"type": "create-issue", "title": hostile, "body": hostile, "labels": []string{"a label"}}),
		line(map[string]any{"type": "add-issue-comment", "body": hostile}),
		line(map[string]any{"type": "add-issue-label", "labels": []string{"another"}}),
		line(map[string]any{"type": "update-issue", "title": hostile, "body": hostile, "issue_number": issueNumber}),
		line(map[string]any{"type": "update-issue", "body": hostile, "operation": "append", "issue_number": issueNumber}),
		line(map[string]any{"type": "update-issue", "body": hostile, "operation": "replace-island", "issue_number": issueNumber}),
		line(map[string]any{"type": "create-pull-request", "title": hostile, "body": hostile}),
		line(map[string]any{"type": "push-to-branch", "message": hostile}),
		line(map[string]any{"type": "create-pull-request-review-comment", "path": "main.go", "line": 3, "body": hostile}),
		line(map[string]any{"type": "create-pull-request-review-comment", "path": "@octocat fixes #12.go", "line": 3, "body": hostile}),
		line(map[string]any{"type": "create-discussion", "title": hostile, "body": hostile, "category": "general"}),
		line(map[string]any{"type": "missing-tool", "tool": hostile, "reason": hostile, "alternatives": hostile}),
		line(map[string]any{"type": "missing-data", "data_type": hostile, "reason": hostile, "context": hostile, "alternatives": hostile}),
		line(map[string]any{"type": "report-incomplete", "reason": hostile, "details": hostile}),
		line(map[string]any{"type": "create-security-report", "file": "main.go", "line": 3, "severity": "error", "message": hostile, "ruleIdSuffix": "sql-injection"}),
		line(map[string]any{"type": "create-security-report", "sarif": sarif, "category": "c"}),
		line(map[string]any{"type": "noop", "message": hostile}),
	}
	// Every text field of every kind must occur above.
	seen := map[string]bool{}
	for _, l := range lines {
		var m map[string]any
		if err := json.Unmarshal([]byte(l), &m); err != nil {
			t.Fatal(err)
		}
		for k := range m {
			seen[fmt.Sprint(m["type"], ".", k)] = true
		}
	}
	for _, s := range safeoutput.Kinds() {
		it := s.New()
		if u, ok := it.(*safeoutput.UpdateIssue); ok {
			u.Title, u.Body = new(string), new(string)
		}
		for _, x := range it.Texts() {
			if name := string(s.Kind) + "." + x.Field; !seen[name] && name != "create-pull-request.branch" {
				t.Errorf("%s is not tested", name)
			}
		}
	}
	return lines
}

// hostileBench has hostile texts in the configuration too, because those are cleaned as well.
func hostileBench(t *testing.T) *codeBench {
	b := newPullBench(t)
	b.write(map[string]string{"docs/a.md": "1\n"})
	b.cfg.Workflow = hostile
	b.kind(safeoutput.KindUpdateIssue, func(k *policy.KindConfig) { k.Target.Any = true })
	b.kind(safeoutput.KindMissingTool, func(k *policy.KindConfig) { k.CreateIssue = true; k.TitlePrefix = "@octocat " })
	b.kind(safeoutput.KindMissingData, func(k *policy.KindConfig) { k.CreateIssue = true })
	b.kind(safeoutput.KindCreateIssue, func(k *policy.KindConfig) { k.TitlePrefix = "fixes #12 " })
	b.kind(safeoutput.KindAddIssueComment, func(k *policy.KindConfig) { k.Footer = &policy.Footer{Text: hostile} })
	return b
}

func TestHostileTextIsInertInEveryRequest(t *testing.T) {
	t.Parallel()
	b := hostileBench(t)
	lines := hostileLines(t)
	results := b.run(lines...)
	for _, r := range results {
		if r.State != Applied && r.Kind != safeoutput.KindReportIncomplete {
			t.Errorf("%s: %s(%s): %s", r.Kind, r.State, r.Code, r.Message)
		}
	}
	writes := b.srv.Writes()
	if len(writes) < 8 {
		t.Errorf("only %d writes", len(writes))
	}
	bodies := 0
	for _, w := range writes {
		if strings.HasPrefix(w.Operation, "git-http/") {
			continue // a pack; its messages are below
		}
		var doc any
		if err := json.Unmarshal(w.Body, &doc); err != nil {
			t.Fatal(err)
		}
		texts(w.Operation, doc, func(path, s string) {
			if strings.HasSuffix(path, ".path") {
				return // a file's name is a file's name
			}
			inert(t, path, s, strings.HasSuffix(path, "body"))
			if strings.HasSuffix(path, "body") {
				bodies++
				if _, _, ok := markdown.LineMarker(s[strings.LastIndexByte(s, '\n')+1:]); !ok {
					t.Errorf("%s has no marker as its last line", path)
				}
			}
		})
	}
	inert(t, "commit messages", b.git.Run("log", "--all", "--format=%an%n%cn%n%B"), false)
	if bodies < 8 {
		t.Errorf("only %d bodies", bodies)
	}
}

// TestHarmlessPartsStayHarmlessTogether puts into one review body comments that change how the next
// one is read.
func TestHarmlessPartsStayHarmlessTogether(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{}).on("pull_request", pullNumber)
	b.run(
		reviewLine("nowhere.go", 1, "<pre>\nopen"),
		reviewLine("nowhere.go", 2, "```\nopen fence"),
		reviewLine("nowhere.go", 3, "<details><summary>x</summary>\n\n[x]: https://github.com/a"),
		reviewLine("nowhere.go", 4, "`@octocat fixes #12`"),
	)
	body := b.issue(pullNumber).Pull.Reviews[0].Body
	if n := strings.Count(body, "```"); n%2 != 0 {
		t.Errorf("%d fence lines in\n%s", n, body)
	}
	if _, ok := markdown.LastLineMarker(body); !ok {
		t.Error("no marker")
	}
	if !strings.Contains(body, "`nowhere.go`, line 4") {
		t.Errorf("a heading is lost:\n%s", body)
	}
}

// TestHostileSARIFIsInert asserts that the strings of an upload are inert for what code scanning
// does with them: it renders Markdown, follows addresses, and shows text with the links in it.
func TestHostileSARIFIsInert(t *testing.T) {
	t.Parallel()
	b := hostileBench(t)
	b.run(hostileLines(t)...)
	uploads := b.srv.State().Uploads
	if len(uploads) != 1 {
		t.Fatalf("%d uploads", len(uploads))
	}
	var doc any
	if err := json.Unmarshal(uploads[0].SARIF, &doc); err != nil {
		t.Fatal(err)
	}
	n := 0
	texts("sarif", doc, func(path, s string) {
		n++
		switch {
		case strings.HasSuffix(path, "markdown"):
			inert(t, path, s, true)
		case strings.HasSuffix(strings.ToLower(path), "uri"):
			if strings.Contains(s, "evil.example") {
				t.Errorf("%s leads to %q", path, s)
			}
		case strings.HasSuffix(path, ".text") && strings.Contains(s, "](https://evil.example"):
			t.Errorf("%s embeds a denied link: %q", path, s)
		case strings.ContainsAny(s, "\x00\x07\x1b\u200b\u202e\u2066\U000e0041"):
			t.Errorf("%s contains a control or an invisible character: %q", path, s)
		}
	})
	if n < 20 {
		t.Errorf("only %d strings", n)
	}
}
