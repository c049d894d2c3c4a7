package server

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-airlock/airlock/internal/text"
)

// listTools returns a middleware that answers a call of an unknown tool with the names of the known
// ones, so that an agent can correct the call.
func listTools(names []string) mcp.Middleware {
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
	}
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if call, ok := req.(*mcp.CallToolRequest); ok && call.Params != nil && !known[call.Params.Name] {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: unknownTool(call.Params.Name, names)}
			}
			return next(ctx, method, req)
		}
	}
}

func unknownTool(name string, names []string) string {
	there := "; the tools are: " + strings.Join(names, ", ")
	if name == "" {
		return `"name" is missing: it names the tool to call` + there
	}
	return fmt.Sprintf("unknown tool %q", text.Truncate(name, 100)) + text.DidYouMean(name, names) + there
}
