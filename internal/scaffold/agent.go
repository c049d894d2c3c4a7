package scaffold

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

// An Agent is a program that works on a task in a job, and how it is set up there.
type Agent struct {
	Name  string // as it is chosen
	Title string // as its makers write it
	// install is the npm package with its version, "" for an agent that the repository brings.
	install string
	// secret is the repository's secret with the agent's key to its model, and variable the
	// environment variable that the agent reads the key from; "" for none.
	secret, variable string
	// key describes the secret, for people.
	key string
	// instructions is the file that the agent reads by itself in a repository.
	instructions string
	// variables are other environment variables of the step, as name and value.
	variables [][2]string
	// command starts the agent on the prompt in the file $AIRLOCK_PROMPT, without a person.
	command string
	// tools returns the content of the file by which the agent starts Airlock's tools; nil for an
	// agent whose command names them, or that appends lines to a file.
	tools func() any
}

// Agents returns the agents that can be chosen. The options in their commands are those that the
// help of the named versions lists.
func Agents() []Agent {
	atRoot := "${{ github.workspace }}/" + toolsFile
	return []Agent{
		{Name: "claude-code", Title: "Claude Code", install: "@anthropic-ai/claude-code@2.1.330", secret: "ANTHROPIC_API_KEY", variable: "ANTHROPIC_API_KEY", key: "a key of Anthropic's API", instructions: "CLAUDE.md",
			command: `claude --print --mcp-config ` + toolsFile + ` --strict-mcp-config --permission-mode acceptEdits --allowedTools "mcp__airlock,Read,Grep,Glob,Edit,Write,Bash" <"$AIRLOCK_PROMPT"`,
			tools:   func() any { return mcpServers(map[string]any{"command": "airlock", "args": toolsArguments()}) }},
		{Name: "codex", Title: "Codex", install: "@openai/codex@0.169.0", secret: "OPENAI_API_KEY", variable: "CODEX_API_KEY", key: "a key of OpenAI's API", instructions: "AGENTS.md",
			command: "codex exec --sandbox workspace-write \\\n  -c 'mcp_servers.airlock.command=\"airlock\"' \\\n  -c 'mcp_servers.airlock.args=" + argumentsJSON() + "' \\\n  -c 'mcp_servers.airlock.default_tools_approval_mode=\"approve\"' \\\n  - <\"$AIRLOCK_PROMPT\""},
		{Name: "copilot-cli", Title: "Copilot CLI", install: "@github/copilot@1.0.102", secret: "COPILOT_TOKEN", variable: "COPILOT_GITHUB_TOKEN", key: "a fine-grained personal access token with the permission \"Copilot Requests\" and access to no repository", instructions: "AGENTS.md",
			command: `copilot --prompt "$(cat "$AIRLOCK_PROMPT")" --allow-all-tools --no-ask-user --disable-builtin-mcps --additional-mcp-config @` + toolsFile,
			tools: func() any {
				return mcpServers(map[string]any{"type": "local", "command": "airlock", "args": toolsArguments(), "tools": []string{"*"}})
			}},
		{Name: "gemini-cli", Title: "Gemini CLI", install: "@google/gemini-cli@0.61.0", secret: "GEMINI_API_KEY", variable: "GEMINI_API_KEY", key: "a key of the Gemini API", instructions: "GEMINI.md",
			// Gemini does not read a settings file that is given by name if others may write to a directory
			// above it.
			command: "mkdir -p \"$HOME/.gemini\"\ncp " + toolsFile + " \"$HOME/.gemini/settings.json\"\n" + `gemini --skip-trust --approval-mode yolo --prompt "$(cat "$AIRLOCK_PROMPT")"`,
			tools: func() any {
				return mcpServers(map[string]any{"command": "airlock", "args": toolsArguments(), "trust": true})
			}},
		{Name: "opencode", Title: "OpenCode", install: "opencode-ai@1.18.33", secret: "ANTHROPIC_API_KEY", variable: "ANTHROPIC_API_KEY", key: "a key of Anthropic's API; for another provider change the variable's name in the workflow", instructions: "AGENTS.md",
			variables: [][2]string{{"OPENCODE_CONFIG", atRoot}},
			command:   `opencode run --auto "$(cat "$AIRLOCK_PROMPT")"`,
			tools: func() any {
				return map[string]any{"$schema": "https://opencode.ai/config.json",
					"mcp": map[string]any{"airlock": map[string]any{"type": "local", "command": append([]string{"airlock"}, toolsArguments()...), "enabled": true}}}
			}},
		{Name: "other", Title: "another agent", instructions: "AGENTS.md", command: "bash " + ownAgentFile},
	}
}

// AgentNames returns the names of the agents that can be chosen.
func AgentNames() []string {
	var names []string
	for _, a := range Agents() {
		names = append(names, a.Name)
	}
	return names
}

func agentNamed(name string) (Agent, error) {
	all := Agents()
	if i := slices.IndexFunc(all, func(a Agent) bool { return a.Name == name }); i >= 0 {
		return all[i], nil
	}
	return Agent{}, fmt.Errorf("there is no agent %q here%s\nchoose from %s; \"other\" is any program that can append to a file", text.Truncate(text.OneLine(name), 60), text.DidYouMean(name, AgentNames()), strings.Join(AgentNames(), ", "))
}

// toolsArguments returns the arguments with which an agent starts Airlock's tools.
func toolsArguments() []string {
	return []string{"mcp", "--safe-outputs", "--config", PolicyFile, "--output", linesFile}
}

func argumentsJSON() string { return strings.TrimSpace(string(encode(toolsArguments(), ""))) }

// mcpServers returns the form of settings that several agents share.
func mcpServers(server map[string]any) any {
	return map[string]any{"mcpServers": map[string]any{"airlock": server}}
}

// encode returns a value as JSON; none of those here can fail.
func encode(v any, indent string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return b.Bytes()
}
