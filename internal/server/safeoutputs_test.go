package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/guide"
	"github.com/agent-airlock/airlock/internal/server"
	"github.com/agent-airlock/airlock/internal/token"
)

// safeOutputs returns a server for a policy, and the file of lines that it writes.
func safeOutputs(t *testing.T, policy string) (s *server.SafeOutputs, lines string) {
	t.Helper()
	return safeOutputsOn(t, policy, doors.Rehearsal{})
}

// safeOutputsOn does the same for a server that knows the workflow run's event.
func safeOutputsOn(t *testing.T, policy string, known doors.Rehearsal) (s *server.SafeOutputs, lines string) {
	t.Helper()
	cfg, err := config.Parse("policy.yml", []byte(policy))
	if err != nil {
		t.Fatal(err)
	}
	gate, err := doors.New(doors.Config{SafeOutputs: cfg, Secrets: doors.NewScanner(token.Token{}, "", nil), Repository: "octo/repo"})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := guide.Tools(cfg)
	if err != nil {
		t.Fatal(err)
	}
	lines = filepath.Join(t.TempDir(), "lines.ndjson")
	return server.NewSafeOutputs(server.SafeOutputsConfig{Tools: tools, Version: "1.2.3"}, gate.Asking(action.NewLines(lines), known)), lines
}

// TestToolsAskTheGate asserts that an accepted call is a line of the file, by whatever name of the
// kind it was called, and that a refused one names every problem and writes nothing.
func TestToolsAskTheGate(t *testing.T) {
	s, lines := safeOutputs(t, "add-issue-comment: {max: 2}\ncreate-issue:\n")
	session := connect(t, s.Serve)
	for _, name := range []string{"add_issue_comment", "add-comment"} {
		answer, isError := call(t, session, name, `{"body":"Hello, @octocat","issue_number":7}`)
		if isError || !strings.Contains(answer, `"accepted":true`) || !strings.Contains(answer, `"mentions"`) {
			t.Errorf("%s: %s", name, answer)
		}
	}
	answer, isError := call(t, session, "create_issue", `{"title":" ","labels":7}`)
	if !isError {
		t.Error("an issue without a body is accepted")
	}
	for _, want := range []string{`"$.title"`, `"$.body"`, `"$.labels"`, `"schema":{`} {
		if !strings.Contains(answer, want) {
			t.Errorf("the refusal lacks %s: %s", want, answer)
		}
	}
	if answer, isError := call(t, session, "add_issue_comment", `{"body":"One more","issue_number":7}`); !isError || !strings.Contains(answer, `"rule":"max"`) {
		t.Errorf("more than the policy allows: %s", answer)
	}
	written, err := os.ReadFile(lines)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(written, []byte("\n")); n != 2 || !json.Valid(bytes.Split(written, []byte("\n"))[0]) {
		t.Errorf("%d lines:\n%s", n, written)
	}
}

// TestToolsSayWhatIsLeftOut asserts that an accepted call names what the owner's rules change about
// it, although the event is not known.
func TestToolsSayWhatIsLeftOut(t *testing.T) {
	s, _ := safeOutputs(t, "create-issue: {allowed-labels: [bug]}\nadd-issue-label: {allowed: [bug]}\n")
	session := connect(t, s.Serve)
	for name, arguments := range map[string]string{
		"create_issue": `{"title":"T","body":"B","labels":["bug","nope"]}`,
		"add_labels":   `{"labels":["bug","nope"]}`,
	} {
		if answer, isError := call(t, session, name, arguments); isError || !strings.Contains(answer, `"notes":["left out \"nope\"; allowed: bug"]`) {
			t.Errorf("%s: %s", name, answer)
		}
	}
}

// TestToolsSayOnceWhatIsLeftOut asserts that the answer to an accepted call names only once a part
// that intake leaves out, even if the call is checked against an event as well.
func TestToolsSayOnceWhatIsLeftOut(t *testing.T) {
	s, _ := safeOutputsOn(t, "create-issue:\nadd-issue-label: {max: 1}\n", doors.Rehearsal{Event: &event.Event{Name: "issues", Number: 7, Repo: event.Repo{Owner: "o", Name: "r"}}})
	session := connect(t, s.Serve)
	for arguments, want := range map[string]string{
		`{"title":"T","body":"B","foo  bar":1}`: `"ignored":["foo  bar"],"kind":"create-issue","remaining":0`,
		`{"labels":["bug","nope"]}`:             `"notes":["more labels than the limit of 1: [\"nope\"] will be left out"]`,
	} {
		name := "create_issue"
		if strings.Contains(arguments, "labels") {
			name = "add_labels"
		}
		if answer, isError := call(t, session, name, arguments); isError || !strings.Contains(answer, want) {
			t.Errorf("%s: %s", name, answer)
		}
	}
}

// TestAFailedCallCountsNothingTwice asserts that a call that fails, because the changes in the
// workspace cannot be loaded, does not lower how many items of another kind may be asked for.
func TestAFailedCallCountsNothingTwice(t *testing.T) {
	const failure = "the clone is broken"
	s, _ := safeOutputsOn(t, "create-issue: {max: 2}\ncreate-pull-request:\n", doors.Rehearsal{
		Event: &event.Event{Name: "issues", Number: 7, Repo: event.Repo{Owner: "o", Name: "r"}},
		Code: func(context.Context, event.Event) (*apply.Code, func(), error) {
			return nil, func() {}, errors.New(failure)
		},
	})
	session := connect(t, s.Serve)
	for i, tool := range []string{"create_issue", "create_pull_request", "create_issue"} {
		fails := tool == "create_pull_request"
		answer, isError := call(t, session, tool, fmt.Sprintf(`{"title":"T%d","body":"B"}`, i))
		if isError != fails || strings.Contains(answer, failure) != fails {
			t.Errorf("%s: %s", tool, answer)
		}
	}
}

// TestTypeIsNotAnArgument asserts that a call with its kind as an argument is refused with what to
// do. The message does not speak of two members of one name, because the agent has written only
// one.
func TestTypeIsNotAnArgument(t *testing.T) {
	s, _ := safeOutputs(t, "create-issue:\n")
	session := connect(t, s.Serve)
	for _, name := range []string{"type", "Type"} {
		answer, isError := call(t, session, "create_issue", `{"`+name+`":"create_issue","title":"T","body":"B"}`)
		if !isError || !strings.Contains(answer, "'type' is not an argument, because the tool's name says what is asked for; leave it out") {
			t.Errorf("%s: %s", name, answer)
		}
	}
}

// TestCallsAtOnceAreCounted asserts that calls which arrive together are counted as if one came
// after the other.
func TestCallsAtOnceAreCounted(t *testing.T) {
	s, lines := safeOutputs(t, "create-issue: {max: 3}\n")
	session := connect(t, s.Serve)
	var accepted atomic.Int64
	var calls sync.WaitGroup
	for i := range 12 {
		calls.Go(func() {
			res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "create_issue", Arguments: json.RawMessage(fmt.Sprintf(`{"title":"T%d","body":"B"}`, i))})
			if err != nil {
				t.Error(err)
			} else if !res.IsError {
				accepted.Add(1)
			}
		})
	}
	calls.Wait()
	written, err := os.ReadFile(lines)
	if n := accepted.Load(); err != nil || n != 3 || bytes.Count(written, []byte("\n")) != 3 {
		t.Errorf("%d accepted, %v, lines:\n%s", n, err, written)
	}
}

// TestLinesThatAreNotMessages asserts that each such line but the empty one is answered with an
// error, that the requests after it are answered, and that neither a byte order mark nor the end of
// the input loses an answer.
func TestLinesThatAreNotMessages(t *testing.T) {
	s, _ := safeOutputs(t, "create-issue:\n")
	input := "\ufeff" + begin + strings.Join([]string{
		`hello`, `[]`, `{} {}`, `{"a":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`, "", `{"cut`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"create_issue","arguments":{"title":"T","body":"B"}}}`,
	}, "\n")
	var output bytes.Buffer
	if err := s.Serve(t.Context(), strings.NewReader(input), &output); err != nil {
		t.Fatal(err)
	}
	refused, answered := answers(t, output.String())
	if len(refused) != 5 || answered["1"] == 0 || answered["2"] == 0 {
		t.Errorf("%d lines refused, answers to %v:\n%s", len(refused), answered, output.String())
	}
	for _, problem := range refused {
		if !strings.HasPrefix(problem, "-32700 ") {
			t.Errorf("a line that is not a message is refused by %s", problem)
		}
	}
}
