package main_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/pelletier/go-toml/v2"

	"github.com/agent-airlock/airlock/internal/safeoutput"
)

var updateTools = flag.Bool("update", false, "write the golden file of the tools' schemas anew")

// connect starts "airlock mcp" in a directory and connects the SDK's own client to it.
func connect(t *testing.T, dir string, env []string, args ...string) *mcp.ClientSession {
	t.Helper()
	cmd := exec.Command(binary, append([]string{"mcp", "--safe-outputs"}, args...)...)
	cmd.Dir, cmd.Env = dir, append([]string{"PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"), "TMPDIR=" + t.TempDir()}, env...)
	return connectTo(t, &mcp.CommandTransport{Command: cmd})
}

// connectTo connects the SDK's own client.
func connectTo(t *testing.T, transport mcp.Transport) *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// toolAnswer is the structured content of an answer.
type toolAnswer struct {
	Error    string
	Accepted bool
	Kind     string
	Problems []struct {
		Path, Message, Rule string
		SchemaPath          string `json:"schema_path"`
	}
	Cleaned   []struct{ Field, Rule string }
	Ignored   []string
	Remaining *int
	Schema    json.RawMessage
}

// call calls a tool; arguments is JSON. It asserts that the words and the structured content
// of the answer agree.
func call(t *testing.T, s *mcp.ClientSession, tool, arguments string) toolAnswer {
	t.Helper()
	res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatalf("%s(%s): %v", tool, arguments, err)
	}
	a := parse[toolAnswer](t, jsonText(t, res.StructuredContent))
	if res.IsError == a.Accepted || len(res.Content) != 2 {
		t.Errorf("%s: isError is %t and accepted %t, with %d contents", tool, res.IsError, a.Accepted, len(res.Content))
	}
	for _, p := range a.Problems {
		if words := res.Content[0].(*mcp.TextContent).Text; !strings.Contains(words, p.Message) {
			t.Errorf("%s: %q does not contain %q", tool, words, p.Message)
		}
	}
	return a
}

// readLines returns a file's lines. A missing or empty file has one, which is empty.
func readLines(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// TestToolsArePinned asserts that the tools' names, descriptions and schemas change only on
// purpose: a model has learned them. It also asserts that every client can take them.
func TestToolsArePinned(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := connect(t, dir, nil, "--output", "lines.ndjson")
	tools, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(tools.Tools, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "tools.json")
	if *updateTools {
		writeFile(t, golden, string(got)+"\n")
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(bytes.TrimSpace(want)) != string(got) {
		t.Errorf("the tools are others than those of %s; run this test with -update if that is meant (%v)", golden, err)
	}
	for _, tool := range tools.Tools {
		schema := tool.InputSchema.(map[string]any)
		for _, keyword := range []string{"anyOf", "oneOf", "allOf", "not", "$ref"} {
			if _, has := schema[keyword]; has {
				t.Errorf("%s has %s, which many clients do not take", tool.Name, keyword)
			}
		}
		for name, property := range schema["properties"].(map[string]any) {
			p := property.(map[string]any)
			if description, _ := p["description"].(string); p["type"] != "string" && strings.Contains(description, "string") {
				t.Errorf("%s: %s is of type %v, and its description promises more: %s", tool.Name, name, p["type"], description)
			}
		}
		if strings.Contains(tool.Name, "-") {
			t.Errorf("%s is not a name that every client takes", tool.Name)
		}
	}
}

// TestEveryToolTakesItsExample calls a tool of each kind, by one of the kind's names, with the
// example in its description. It asserts that the call is accepted, and that collect accepts the
// lines that were written.
func TestEveryToolTakesItsExample(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := connect(t, dir, nil, "--output", "lines.ndjson", "--config", writeFile(t, filepath.Join(dir, "policy.yml"), strings.ReplaceAll(everyKind, "max: 1", "max: 9")))
	tools, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(tools.Tools) != len(safeoutput.Kinds()) {
		t.Fatalf("%d tools for %d kinds", len(tools.Tools), len(safeoutput.Kinds()))
	}
	for i, spec := range safeoutput.Kinds() {
		name := string(spec.Kind)
		if len(spec.Aliases) > 0 {
			name = spec.Aliases[0]
		}
		tool := find(tools.Tools, strings.ReplaceAll(name, "-", "_"))
		if tool == nil {
			t.Fatalf("there is no tool for %s", spec.Kind)
		}
		_, example, _ := strings.Cut(tool.Description, "\nExample: ")
		names := []string{tool.Name, string(spec.Kind), strings.ReplaceAll(string(spec.Kind), "-", "_")}
		if a := call(t, s, names[i%len(names)], example); !a.Accepted || a.Kind != string(spec.Kind) {
			t.Errorf("%s(%s): %+v", names[i%len(names)], example, a)
		}
	}
	if r := run(t, dir, nil, "", "collect", "--config", "policy.yml", "--input", "lines.ndjson", "--output", "out.json"); r.code != 0 {
		t.Errorf("collect ended with %d:\n%s", r.code, r.stderr)
	}
}

func find(tools []*mcp.Tool, name string) *mcp.Tool {
	for _, t := range tools {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// TestToolErrorsSayEverything asserts that the answer to a refused call names every violation and
// contains the schema. Nothing is written then, and the corrected call is accepted.
func TestToolErrorsSayEverything(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lines := filepath.Join(dir, "lines.ndjson")
	policy := writeFile(t, filepath.Join(dir, "policy.yml"), `
add-issue-comment: {max: 2}
add-issue-label: {allowed: [bug], max: 1}
create-issue: {title-prefix: "[bot] "}
update-issue: {status: true}
`)
	s := connect(t, dir, []string{"GITHUB_EVENT_PATH=" + filepath.Join(root, "testdata", "events", "issues.opened.json"), "GITHUB_REPOSITORY=Codertocat/Hello-World"}, "--config", policy, "--output", lines)
	for _, c := range []struct {
		name, tool, arguments string
		want                  []string // a part of each problem; nil: the call is accepted
	}{
		{"wrong types", "add_comment", `{"body": 5, "issue_number": "x", "extra": 1}`, []string{"5 is not of type 'string'", "'issue_number'"}},
		{"missing", "create_issue", `{}`, []string{"'body' is a required property", "'title' is a required property"}},
		{"no object", "add_comment", `"text"`, []string{"must be an object"}},
		{"nothing", "add_comment", `null`, []string{"'body' is a required property"}},
		{"a type of its own", "add_comment", `{"type": "noop", "body": "x"}`, []string{"'type' is not an argument"}},
		{"another target", "add_comment", `{"body": "x", "issue_number": 7}`, []string{"7"}},
		{"another repository", "add_comment", `{"body": "x", "repo": "other/place"}`, []string{"other/place"}},
		{"a label", "add_labels", `{"labels": ["wontfix"]}`, []string{"allowed: bug"}},
		{"a field", "update_issue", `{"title": "x"}`, []string{"'title' may not be changed"}},
		{"a secret", "add_comment", `{"body": "the key is ghp_` + strings.Repeat("a1B2c3", 6) + `"}`, []string{"secret"}},
		{"stored elsewhere", "add_comment", `{"body": "[Content too large, saved to file: 12ab.json]"}`, []string{"stored in a file"}},
		{"good, of another kind", "create_issue", `{"title": "a", "body": "b"}`, nil},
		{"good", "add_comment", `{"body": "Seen by @octocat."}`, nil},
		{"good again", "add_comment", "{\n  \"body\": \"over\\nlines\"\n}", nil},
		{"too many", "add_comment", `{"body": "third"}`, []string{"at most 2"}},
	} {
		before := len(readLines(t, lines))
		a := call(t, s, c.tool, c.arguments)
		if c.want == nil {
			if !a.Accepted {
				t.Errorf("%s: %+v", c.name, a.Problems)
			}
			continue
		}
		if a.Accepted || len(a.Problems) != len(c.want) || len(a.Schema) < 20 {
			t.Errorf("%s: accepted %t with %+v", c.name, a.Accepted, a.Problems)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(a.Problems[i].Message, want) {
				t.Errorf("%s: %q does not contain %q", c.name, a.Problems[i].Message, want)
			}
		}
		if len(readLines(t, lines)) != before {
			t.Errorf("%s: a refused call was recorded", c.name)
		}
	}
	if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "create_pull_request", Arguments: json.RawMessage(`{}`)}); err == nil {
		t.Error("a tool of a kind that is not enabled was called")
	}
	if got := readLines(t, lines); len(got) != 3 || got[2] != `{"type":"add-issue-comment","body":"over\nlines"}` {
		t.Errorf("the file says %q", got)
	}
}

// TestToolsWithoutAnEvent calls tools while no event is known. It asserts that a call is refused if
// the gate would deny its item for every event, and is accepted otherwise.
func TestToolsWithoutAnEvent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, c := range map[string]struct {
		policy, tool, arguments, want string // a part of the problem; "": the call is accepted
	}{
		"any, without a number":             {`add-issue-comment: {target: "*"}`, "add_comment", `{"body":"x"}`, "'issue_number' is missing"},
		"any, with a number":                {`add-issue-comment: {target: "*"}`, "add_comment", `{"body":"x","issue_number":7}`, ""},
		"labels for any, without a number":  {`add-issue-label: {target: "*"}`, "add_labels", `{"labels":["bug"]}`, "'issue_number' is missing"},
		"a review of any, without a number": {`create-pull-request-review-comment: {target: "*"}`, "create_pull_request_review_comment", `{"path":"a","line":1,"body":"x"}`, "'pull_request_number' is missing"},
		"a push to any, without a number":   {`push-to-branch: {target: "*"}`, "push_to_pull_request_branch", `{}`, "'pull_request_number' is missing"},
		"one, and another":                  {`add-issue-comment: {target: 5}`, "add_comment", `{"body":"x","issue_number":7}`, "allows only #5"},
		"one, and it":                       {`add-issue-comment: {target: 5}`, "add_comment", `{"body":"x","issue_number":5}`, ""},
		"one, unnamed":                      {`add-issue-comment: {target: 5}`, "add_comment", `{"body":"x"}`, ""},
		"the triggering one":                {`add-issue-comment:`, "add_comment", `{"body":"x","issue_number":7}`, ""},
		"the triggering one, unnamed":       {`add-issue-comment:`, "add_comment", `{"body":"x"}`, ""},
		"a discussion where none may be":    {`add-issue-comment: {discussions: false}`, "add_comment", `{"body":"x","discussion_number":7}`, "acts only on issues and pull requests"},
		"a push to the branch":              {`push-to-branch: {branch: bot}`, "push_to_pull_request_branch", `{"pull_request_number":7}`, "only to the configured branch"},
	} {
		policy := writeFile(t, filepath.Join(dir, name+".yml"), c.policy+"\n")
		a := call(t, connect(t, dir, nil, "--config", policy, "--output", name+".ndjson"), c.tool, c.arguments)
		if c.want == "" && !a.Accepted || c.want != "" && (len(a.Problems) != 1 || !strings.Contains(a.Problems[0].Message, c.want)) {
			t.Errorf("%s: accepted %t with %+v, want %q", name, a.Accepted, a.Problems, c.want)
		}
	}
}

// TestToolsJudgeTheWorkspace asserts that a call that publishes changes is judged by the
// changes that are in the workspace at that moment.
func TestToolsJudgeTheWorkspace(t *testing.T) {
	t.Parallel()
	hosted := newHosted(t)
	workspace := hosted.checkout(t, "changes")
	policy := writeFile(t, filepath.Join(t.TempDir(), "policy.yml"), "push-to-branch: {allowed-files: [\"docs/**\"]}\ncreate-pull-request: {allowed-files: [\"docs/**\"]}\n")
	lines := filepath.Join(workspace, "lines.ndjson")
	s := connect(t, workspace, hosted.env(t), "--config", policy, "--output", lines)
	push := func() toolAnswer { return call(t, s, "push_to_pull_request_branch", `{"message":"Describe it"}`) }
	if a := push(); a.Accepted || !strings.Contains(a.Problems[0].Message, "no changes") {
		t.Errorf("without a change: %+v", a)
	}
	writeFile(t, filepath.Join(workspace, "src/main.go"), "package main\n")
	if a := push(); a.Accepted || a.Problems[0].Rule != "allowed-files" {
		t.Errorf("with a file that is not allowed: %+v", a)
	}
	if err := os.Remove(filepath.Join(workspace, "src/main.go")); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(workspace, "docs/new.md"), "key = ghp_"+strings.Repeat("a1B2c3", 6)+"\n")
	if a := push(); a.Accepted {
		t.Errorf("with a secret: %+v", a)
	}
	writeFile(t, filepath.Join(workspace, "docs/new.md"), "New.\n")
	if a := push(); !a.Accepted || a.Remaining == nil || *a.Remaining != 0 {
		t.Errorf("with a good change: %+v", a)
	}
}

// TestSeveralServersAppendToOneFile asserts that lines of several servers stay whole and that
// the limit holds for all together.
func TestSeveralServersAppendToOneFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	policy, lines := writeFile(t, filepath.Join(dir, "policy.yml"), "create-security-report: {max: 30}\n"), filepath.Join(dir, "lines.ndjson")
	writeFile(t, lines, `{"type":"create-security-report","file":"a.go","line":1,"severity":"error","message":"by hand"}`+"\n"+`{"type":"noop","mess`)
	var accepted [3]int
	var wg sync.WaitGroup
	for i := range accepted {
		s := connect(t, dir, nil, "--config", policy, "--output", lines)
		wg.Go(func() {
			for range 20 {
				if call(t, s, "create_code_scanning_alert", `{"file":"a.go","line":1,"severity":"error","message":"`+strings.Repeat("m", 5000)+`"}`).Accepted {
					accepted[i]++
				}
			}
		})
	}
	wg.Wait()
	if sum := accepted[0] + accepted[1] + accepted[2]; sum != 29 {
		t.Errorf("%d calls were accepted, want 29", sum)
	}
	got := readLines(t, lines)
	for i, line := range got {
		if i != 1 && !json.Valid([]byte(line)) {
			t.Errorf("line %d is not whole: %.80q", i+1, line)
		}
	}
	if len(got) != 31 || got[1] != `{"type":"noop","mess` {
		t.Errorf("%d lines, the second %q", len(got), got[1])
	}
}

// TestToolsRefuseWhatIsNotAFile asserts that a link or a directory in the place of the file, or a
// missing directory, is an error that says so, and that nothing is written through the link.
func TestToolsRefuseWhatIsNotAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target, link := writeFile(t, filepath.Join(dir, "target"), ""), filepath.Join(dir, "link")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{link: "is a link", dir: "is a directory", filepath.Join(dir, "none", "lines"): "in a directory that does not exist"} {
		s := connect(t, dir, nil, "--output", path)
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "noop", Arguments: json.RawMessage(`{"message":"x"}`)})
		if err != nil || !res.IsError || !strings.Contains(res.Content[0].(*mcp.TextContent).Text, want) {
			t.Errorf("%s: %v %+v", path, err, res)
		}
	}
	if data, err := os.ReadFile(target); err != nil || len(data) > 0 {
		t.Errorf("%q was written through a link (%v)", data, err)
	}
}

// TestBrokenMessages asserts that an unreadable line does no harm to other lines. Every request
// gets its answer before the server ends, and the exit code is 0.
func TestBrokenMessages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	begin := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	good := `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"noop","arguments":{"message":"done"}}}`
	for name, bad := range map[string]string{
		"cut off":     `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"na`,
		"words":       "hello",
		"a list":      "[]",
		"two objects": `{"jsonrpc":"2.0","method":"x"} {}`,
		"deep":        `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"noop","arguments":{"message":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}}}`,
		"long":        `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"noop","arguments":{"message":"` + strings.Repeat("x", 65<<20) + `"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			lines := filepath.Join(dir, name+".ndjson")
			r := run(t, dir, nil, begin+bad+"\n"+good, "mcp", "--safe-outputs", "--output", lines)
			if r.code != 0 {
				t.Errorf("it ended with %d:\n%s", r.code, r.stderr)
			}
			if !strings.Contains(r.stdout, `"code":-32700`) || !strings.Contains(r.stdout, `"id":9`) {
				t.Errorf("it answered %.500s", r.stdout)
			}
			if got := readLines(t, lines); len(got) != 1 || got[0] != `{"type":"noop","message":"done"}` {
				t.Errorf("the file says %q", got)
			}
		})
	}
}

// TestExampleConfigurationsStartTheTools asserts that the example configuration for each agent has
// the form that the agent documents, and starts a server with tools.
func TestExampleConfigurationsStartTheTools(t *testing.T) {
	t.Parallel()
	type server struct {
		Type    string
		Command any
		Args    []string
		Tools   []string
		Enabled bool
	}
	for name, at := range map[string]string{
		"claude-code.mcp.json": "mcpServers", "copilot-cli.mcp-config.json": "mcpServers", "gemini-cli.settings.json": "mcpServers",
		"opencode.json": "mcp", "codex.config.toml": "mcp_servers",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(filepath.Join(root, "examples", "mcp", name))
			if err != nil {
				t.Fatal(err)
			}
			decode := json.Unmarshal
			if strings.HasSuffix(name, ".toml") {
				decode = toml.Unmarshal
			}
			file := map[string]any{}
			if err := decode(data, &file); err != nil {
				t.Fatal(err)
			}
			s := parse[server](t, jsonText(t, file[at].(map[string]any)["airlock"]))
			args := s.Args
			if list, ok := s.Command.([]any); ok { // OpenCode: the program is the first element
				if s.Type != "local" || !s.Enabled {
					t.Errorf("it is %+v", s)
				}
				for _, a := range list[1:] {
					args = append(args, a.(string))
				}
				s.Command = list[0]
			}
			if s.Command != "airlock" || args[0] != "mcp" {
				t.Fatalf("it starts %v %v", s.Command, args)
			}
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "policy.yml"), "add-issue-comment:\n")
			session := connect(t, dir, nil, args[2:]...)
			if a := call(t, session, "add_comment", `{"body":"Seen."}`); !a.Accepted {
				t.Errorf("%+v", a)
			}
		})
	}
}
