package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
)

// begin is what a client sends first.
const begin = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
	`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"

// withoutBegin returns a server's output without the answer to the first request of begin. That
// answer may come last.
func withoutBegin(output string) string {
	var rest strings.Builder
	for line := range strings.Lines(output) {
		if !strings.Contains(line, `"id":1,`) {
			rest.WriteString(line)
		}
	}
	return rest.String()
}

// answers returns the errors without an id in a server's output, and how often it answered each
// request.
func answers(t *testing.T, output string) (refused []string, answered map[string]int) {
	t.Helper()
	answered = map[string]int{}
	for line := range strings.Lines(output) {
		var message struct {
			ID    json.RawMessage
			Error *struct {
				Code    int
				Message string
			}
		}
		if err := json.Unmarshal([]byte(line), &message); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if string(message.ID) == "null" {
			refused = append(refused, fmt.Sprint(message.Error.Code, " ", message.Error.Message))
		} else {
			answered[string(message.ID)]++
		}
	}
	return refused, answered
}

// TestObjectsThatAreNotMessages asserts that an invalid request is answered with an error, that an
// answer or a notification is ignored, that the request after it is answered, and that the server
// then ends.
func TestObjectsThatAreNotMessages(t *testing.T) {
	t.Parallel()
	const good = "\n" + `{"jsonrpc":"2.0","id":9,"method":"ping"}`
	for message, want := range map[string]string{ // the error; "" for none
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`:                             `"id" must be`,
		`{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`:                          `"id" must be`,
		`{"jsonrpc":"2.0","id":[3],"method":"ping"}`:                              `"id" must be`,
		`{"jsonrpc":"2.0","id":true,"method":"ping"}`:                             `"id" must be`,
		`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`:                              `"id" must be`,
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`:                 `"id" must be`,
		`{"jsonrpc":"2.0","id":` + strings.Repeat("9", 400) + `,"method":"ping"}`: `"id" must be`,
		`{"jsonrpc":"2.0","id":3}`:                                                `must have a "method"`,
		`{"jsonrpc":"2.0","ID":3,"METHOD":"ping"}`:                                `must have a "method"`,
		`{"jsonrpc":"2.0","id":3,"method":7}`:                                     `"method" must be a text`,
		`{"jsonrpc":"2.0","id":3,"method":null}`:                                  `"method" must be a text`,
		`{"id":3,"method":"ping"}`:                                                `must have "jsonrpc": "2.0"`,
		`{"jsonrpc":"1.0","id":3,"method":"ping"}`:                                `must have "jsonrpc": "2.0"`,
		`{"jsonrpc":"2.0","id":3,"id":4,"method":"ping"}`:                         `"id" twice`,
		`{"jsonrpc":"2.0","id":3,"method":"ping","m\u0065thod":"tools/list"}`:     `"method" twice`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"noop","arguments":{"message":"a"},"arguments":{"message":"b"}}}`: `"arguments" twice`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"noop","n\u0061me":"create_issue"}}`:                              `"name" twice`,
		`[{"jsonrpc":"2.0","id":3,"method":"ping"}]`:                                                      `one JSON object`,
		`{"jsonrpc":"2.0","id":55,"result":{}}`:                                                           "",
		`{"jsonrpc":"2.0","id":{},"error":"x"}`:                                                           "",
		`{"jsonrpc":"2.0","method":"notifications/nope"}`:                                                 "",
		`{"jsonrpc":"2.0","method":"notifications/initialized","params":7}`:                               "",
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77,"reason":"none"}}`:  "",
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{"a":1}}}`:             "",
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`:                                            "",
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}`: "",
	} {
		s, _ := safeOutputs(t, "create-issue:\n")
		var output bytes.Buffer
		if err := s.Serve(t.Context(), strings.NewReader(begin+message+good), &output); err != nil {
			t.Errorf("%.100s ends the session: %v", message, err)
			continue
		}
		refused, answered := answers(t, output.String())
		if answered["1"] != 1 || answered["9"] != 1 || len(answered) != 2 {
			t.Errorf("%.100s: answers to %v", message, answered)
		}
		if (want == "") != (len(refused) == 0) || want != "" && !strings.Contains(refused[0], want) {
			t.Errorf("%.100s: %q, want %q", message, refused, want)
		}
	}
}

// TestErrorsAreShort asserts that an error of the protocol repeats only the beginning of a wrong
// value, wherever in a request the value is. The error has the request's id if that can be read.
// The error for an unknown tool lists the known tools.
func TestErrorsAreShort(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("add_coment ", 10_000)
	requests := map[string]string{ // and what the answer says
		`"method":"` + long + `"`:                                    "add_coment",
		`"method":"tools/call","params":{"name":"` + long + `"}`:     "the tools are: ",
		`"method":"tools/call","params":{"name":["` + long + `"]}`:   "invalid params",
		`"method":"tools/call","params":"` + long + `"`:              "invalid params",
		`"method":"tools/call","params":{"NAME":"` + long + `"}`:     `"name\" is missing`,
		`"method":"prompts/get","params":{"name":"` + long + `"}`:    "add_coment",
		`"method":"resources/read","params":{"uri":"` + long + `"}`:  "not found",
		`"method":"completion/complete","params":{"ref":["` + long:   "", // not JSON, so that its id is not known
		`"method":"completion/complete","params":{"` + long + `":1}`: `missing required 'ref' field`,
		`"method":"tools/list","params":{"cursor":"` + long + `"}`:   "invalid params",
	}
	coordinator := serving(func(context.Context, string, string, []byte) (int, []byte, error) { return 200, []byte("{}"), nil })
	tools, _ := safeOutputs(t, "add-issue-comment:\n")
	for name, serve := range map[string]func(context.Context, io.Reader, io.Writer) error{"coordinator": coordinator, "safe outputs": tools.Serve} {
		for request, says := range requests {
			var output bytes.Buffer
			if err := serve(t.Context(), strings.NewReader(begin+`{"jsonrpc":"2.0","id":9,`+request+"}\n"), &output); err != nil {
				t.Errorf("%s: %.60s ends the session: %v", name, request, err)
			}
			answer := withoutBegin(output.String())
			if len(answer) > 2000 || !strings.Contains(answer, `"error":`) || !strings.Contains(answer, says) {
				t.Errorf("%s: %.60s: %d bytes, want %q: %.300s", name, request, len(answer), says, answer)
			}
			if says != "" && !strings.Contains(answer, `"id":9,`) {
				t.Errorf("%s: %.60s: the answer has another id: %.300s", name, request, answer)
			}
		}
	}
	var output bytes.Buffer
	if err := tools.Serve(t.Context(), strings.NewReader(begin+`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"add_coment","arguments":{"body":"b"}}}`), &output); err != nil || !strings.Contains(output.String(), `did you mean \"add_comment\"?; the tools are: add_comment, missing_tool,`) {
		t.Errorf("%v, a name that is nearly known: %s", err, output.String())
	}
}

// TestErrorsOfArgumentsAreBounded asserts that the error of a call describes what is wrong with its
// arguments without repeating all of them.
func TestErrorsOfArgumentsAreBounded(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 900 {
		many = append(many, fmt.Sprintf(`"unknown%d":1`, i))
	}
	coordinator := serving(func(context.Context, string, string, []byte) (int, []byte, error) { return 200, []byte("{}"), nil })
	for arguments, says := range map[string]string{
		"{" + strings.Join(many, ",") + "}":                                                    "there are 891 more violations",
		`{"` + strings.Repeat("run_id", 10_000) + `":1}`:                                       "was unexpected",
		`{"run_id":"` + strings.Repeat("x", 10_000) + `",` + strings.Join(many[:5], ",") + "}": "$.unknown4",
	} {
		var output bytes.Buffer
		if err := coordinator(t.Context(), strings.NewReader(begin+`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"get_run","arguments":`+arguments+"}}\n"), &output); err != nil {
			t.Error(err)
		}
		answer := withoutBegin(output.String())
		if len(answer) > 6000 || !strings.Contains(answer, says) { // the violations that are listed stand there twice: as text and as data
			t.Errorf("%.60s: %d bytes, want %q: %.300s", arguments, len(answer), says, answer)
		}
	}
}

// TestAnIDThatIsInUse asserts that a second request with the id of one that has no answer yet
// is refused, that the text "5" is another id than the number 5, and that a cancelled request is
// stopped.
func TestAnIDThatIsInUse(t *testing.T) {
	t.Parallel()
	waiting, stopped := make(chan struct{}), make(chan struct{})
	api := func(ctx context.Context, _, target string, _ []byte) (int, []byte, error) {
		if !strings.Contains(target, "/wait") {
			return 200, []byte(`{"agents":[]}`), nil
		}
		close(waiting)
		<-ctx.Done()
		close(stopped)
		return 0, nil, ctx.Err()
	}
	in := newScript(
		begin+`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"get_run","arguments":{"run_id":"run_1","wait_seconds":600},"_meta":{"progressToken":"p"}}}`+"\n", waiting,
		`{"jsonrpc":"2.0","id":5,"method":"ping"}`+"\n"+`{"jsonrpc":"2.0","id":"5","method":"tools/call","params":{"name":"list_agent_blueprints","_meta":{"progressToken":"p"}}}`+"\n"+
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`+"\n", stopped)
	var output bytes.Buffer
	if err := serving(api)(t.Context(), in, &output); err != nil {
		t.Fatal(err)
	}
	refused, answered := answers(t, output.String())
	if len(refused) != 1 || !strings.Contains(refused[0], "id of its own") || answered[`"5"`] != 1 {
		t.Errorf("%q, answers to %v", refused, answered)
	}
}

// script is input whose parts become readable one by one, each after an event.
type script struct {
	text   *strings.Reader   // the part that is being read
	events []<-chan struct{} // one before each of the following parts
	texts  []string          // the following parts
}

// newScript returns two texts as input. The second one can be read when the channel released is
// closed, and the input ends when the channel finished is.
func newScript(first string, released <-chan struct{}, second string, finished <-chan struct{}) *script {
	return &script{strings.NewReader(first), []<-chan struct{}{released, finished}, []string{second, ""}}
}

// Read implements io.Reader.
func (s *script) Read(p []byte) (int, error) {
	if s.text.Len() == 0 && len(s.events) > 0 {
		<-s.events[0]
		s.text, s.events, s.texts = strings.NewReader(s.texts[0]), s.events[1:], s.texts[1:]
	}
	return s.text.Read(p)
}
