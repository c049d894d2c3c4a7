// Command scripted-agent is an agent without a model: it calls tools with mistakes in the
// arguments, and corrects them by what the errors say and nothing else. The server's
// command line is its own arguments.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, server []string) error {
	cmd := exec.CommandContext(ctx, server[0], server[1:]...)
	cmd.Stderr = os.Stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "scripted-agent", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return err
	}
	defer session.Close()
	for _, ask := range []struct {
		tool      string
		arguments map[string]any
	}{
		{"add_comment", map[string]any{"text": "The tests pass."}},                             // the field has another name
		{"add_labels", map[string]any{"labels": []string{"wontfix"}}},                          // not allowed here
		{"create_issue", map[string]any{"title": "Clean up", "body": "Later.", "labels": "x"}}, // not a list
	} {
		if err := askUntilAccepted(ctx, session, ask.tool, ask.arguments); err != nil {
			return err
		}
	}
	return nil
}

// askUntilAccepted calls a tool, corrects the arguments, and calls it once more.
func askUntilAccepted(ctx context.Context, session *mcp.ClientSession, tool string, arguments map[string]any) error {
	const most = 3
	for range most {
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil {
			return err
		}
		words := res.Content[0].(*mcp.TextContent).Text
		fmt.Println(words)
		if !res.IsError {
			return nil
		}
		raw, err := json.Marshal(res.StructuredContent)
		if err != nil {
			return err
		}
		if err := correct(arguments, raw); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s was not accepted", tool)
}

// correct changes the arguments as the answer says.
func correct(arguments map[string]any, answer []byte) error {
	var a struct {
		Problems []struct{ Path, Message string }
		Schema   struct{ Properties map[string]json.RawMessage }
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return err
	}
	for _, p := range a.Problems {
		field := strings.TrimPrefix(p.Path, "$.")
		_, allowed, choice := strings.Cut(p.Message, "allowed: ")
		switch {
		case choice:
			first, _, _ := strings.Cut(allowed, ",")
			arguments["labels"] = []string{strings.TrimSpace(first)}
		case strings.Contains(p.Message, "is a required property"):
			for name, value := range arguments {
				if _, known := a.Schema.Properties[name]; !known {
					delete(arguments, name)
					arguments[field] = value
					break
				}
			}
		default:
			delete(arguments, field)
		}
	}
	return nil
}
