package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/guide"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
)

// SafeOutputsConfig is the configuration of SafeOutputs.
type SafeOutputsConfig struct {
	Tools   []guide.Tool // required; a tool for each enabled kind
	Version string       // Airlock's own version
	// Log receives what is worth a person's attention; nil drops it.
	Log *slog.Logger
}

// maxMessage is the longest message of a client's, in bytes: as long as the longest line that the
// gate reads.
const maxMessage = 64 << 20

// SafeOutputs is a server of the Model Context Protocol whose tools are the kinds that an
// agent may ask for. It has no token, and writes nothing but the file of lines.
type SafeOutputs struct {
	server *mcp.Server
	mu     sync.Mutex // asker takes one question at a time
	asker  *doors.Asking
	log    *slog.Logger
}

// NewSafeOutputs returns a server whose tools pass each call to asker.
func NewSafeOutputs(cfg SafeOutputsConfig, asker *doors.Asking) *SafeOutputs {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &SafeOutputs{asker: asker, log: cfg.Log}
	s.server = mcp.NewServer(&mcp.Implementation{Name: "airlock", Title: "Airlock: safe outputs", Version: cfg.Version}, &mcp.ServerOptions{
		Instructions: safeOutputsInstructions, Logger: cfg.Log,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}, // the list of tools does not change, see Coordinator.server
	})
	names, inOrder := map[safeoutput.Kind]string{}, []string{}
	for _, tool := range cfg.Tools {
		names[tool.Kind], inOrder = tool.Name, append(inOrder, tool.Name)
		s.server.AddTool(&mcp.Tool{Name: tool.Name, Description: tool.Description, InputSchema: tool.InputSchema, Annotations: &mcp.ToolAnnotations{
			Title: tool.Title, DestructiveHint: new(false), OpenWorldHint: new(false),
		}}, s.call(tool))
	}
	s.server.AddReceivingMiddleware(knowOtherNames(names), listTools(inOrder))
	return s
}

// safeOutputsInstructions tell a model what the tools are for.
const safeOutputsInstructions = `You cannot write to GitHub yourself. Each of these tools asks for one thing: the call is checked at once against the repository owner's rules, and what is accepted is carried out after you are done. An error says what has to change; correct the arguments and call again. Do not ask twice for the same thing.`

// Serve answers one client, a message on each line, until it goes away or the context
// ends. The error is one of reading or writing, and carries its exit code.
func (s *SafeOutputs) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	return serveStdio(ctx, s.server, in, out)
}

// knowOtherNames lets a client call a tool by every name of its kind.
func knowOtherNames(names map[safeoutput.Kind]string) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if call, ok := req.(*mcp.CallToolRequest); ok && call.Params != nil {
				if spec, known := safeoutput.Lookup(call.Params.Name); known && names[spec.Kind] != "" {
					call.Params.Name = names[spec.Kind]
				}
			}
			return next(ctx, method, req)
		}
	}
}

// refusal is the structured content of a call that was not accepted.
type refusal struct {
	Error string `json:"error"`
	doors.Answer
	Schema json.RawMessage `json:"schema"`
}

// call returns the handler of a tool.
func (s *SafeOutputs) call(tool guide.Tool) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		var answer doors.Answer
		err := crash.Try(func() (err error) {
			answer, err = s.asker.Ask(ctx, tool.Kind, req.Params.Arguments)
			return err
		})
		if err != nil {
			s.log.Error("a call failed", "tool", tool.Name, "error", err)
			return result(true, "This is not a mistake in your arguments, and nothing was recorded: "+err.Error(), map[string]any{"error": "failed", "message": err.Error()})
		}
		if !answer.Accepted {
			return result(true, refusalText(tool, answer), refusal{Error: "refused", Answer: answer, Schema: tool.InputSchema})
		}
		return result(false, acceptedText(tool, answer), answer)
	}
}

// result returns a tool's result, as a text for the model and as data.
func result(isError bool, text string, data any) (*mcp.CallToolResult, error) {
	structured, err := json.Marshal(data)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{IsError: isError, StructuredContent: json.RawMessage(structured), Content: []mcp.Content{
		&mcp.TextContent{Text: text}, &mcp.TextContent{Text: string(structured)},
	}}, nil
}

// refusalText lists why a call was not accepted.
func refusalText(tool guide.Tool, a doors.Answer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s was refused; nothing was recorded. Correct this and call it again:", tool.Name)
	for _, p := range a.Problems {
		fmt.Fprintf(&b, "\n- %s: %s", p.Path, p.Message)
		if p.Rule != "" {
			fmt.Fprintf(&b, " (rule %s)", p.Rule)
		}
	}
	return b.String()
}

// acceptedText describes what will become of an accepted call.
func acceptedText(tool guide.Tool, a doors.Answer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s was recorded. It is carried out after you are done.", tool.Name)
	if a.Remaining != nil {
		if *a.Remaining == 0 {
			b.WriteString(" No more calls of it are allowed.")
		} else {
			fmt.Fprintf(&b, " %s of it may follow.", text.Count(*a.Remaining, "more call"))
		}
	}
	for _, c := range a.Cleaned {
		fmt.Fprintf(&b, "\n- `%s` will be cleaned: %s", c.Field, c.Rule)
		if c.Detail != "" {
			fmt.Fprintf(&b, " (%s)", c.Detail)
		}
		if c.Count > 1 {
			fmt.Fprintf(&b, ", %d times", c.Count)
		}
	}
	for _, f := range a.Ignored {
		fmt.Fprintf(&b, "\n- `%s` is not a field of it and is left out", f)
	}
	for _, n := range a.Notes {
		fmt.Fprintf(&b, "\n- %s", n)
	}
	return b.String()
}
