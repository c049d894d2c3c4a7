package scaffold

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/config"
)

// Where init, and the workflow that it writes, put things, relative to the root of the repository.
const (
	agentWorkflow  = ".github/workflows/airlock.yml"
	checksWorkflow = ".github/workflows/airlock-checks.yml"
	// PolicyFile is the owner's configuration of what agents may do.
	PolicyFile   = ".airlock/policy.yml"
	taskFile     = ".airlock/task.md"
	toolsFile    = ".airlock/mcp.json"
	ownAgentFile = ".airlock/agent"
	ignoreFile   = ".airlock/.gitignore"
	recordFile   = ".airlock/setup.json"
	outDirectory = ".airlock/out"
	linesFile    = outDirectory + "/lines.ndjson"
	changesFile  = outDirectory + "/changes.patch"
	promptFile   = outDirectory + "/prompt.md"
	eventFile    = outDirectory + "/event.json"
)

// agentLabel is the label by which people give an issue to the agent.
const agentLabel = "agent"

// agentWorkflowText returns the workflow of the agent and its gate. The gate's job has the
// permissions that the policy needs.
func agentWorkflowText(s selection, a Agent, cfg config.SafeOutputs, r Release) []byte {
	b := &strings.Builder{}
	b.WriteString("# Made by 'airlock init'. The agent works in the first job, which can read and nothing else. The\n" +
		"# second job has the token, and executes nothing but the gate. What the agent may ask for is in\n" +
		"# " + PolicyFile + ", what it is told to do in " + taskFile + ".\n" +
		"name: Airlock\n\n")
	writeTriggers(b, s)
	b.WriteString("\npermissions: {}\n\n" +
		"concurrency:\n  group: airlock-${{ " + when(slices.Contains(s.triggers, onLabel), otherLabel+" && github.run_id || ") +
		"github.event.issue.number || github.event.pull_request.number || github.run_id }}\n\n" +
		"jobs:\n")
	writeAgentJob(b, s, a, r)
	b.WriteString("\n  gate:\n    needs: agent\n    runs-on: ubuntu-24.04\n    timeout-minutes: 15\n" +
		indent(apply.WriteBlock(cfg.Permissions()), "    ") +
		"    steps:\n" +
		"      - uses: " + actionDownload + "\n        with:\n          name: agent\n          path: agent\n" +
		"      - uses: " + repository + "/actions/gate@" + r.ref() + "\n        with:\n          output-file: agent/lines.ndjson\n" +
		when(s.carriesCode(), "          changes: agent/changes.patch\n") +
		"          config-file: " + PolicyFile + "\n" +
		when(a.secret != "", "          secrets: ${{ secrets."+a.secret+" }} # so that no text or change can contain it\n"))
	return []byte(b.String())
}

// otherLabel is the condition of a run that another label than agentLabel started. Such a run has
// no job, and shares no group with other runs, because GitHub keeps only the newest run that waits
// for a group.
const otherLabel = "github.event.action == 'labeled' && github.event.label.name != '" + agentLabel + "'"

func writeTriggers(b *strings.Builder, s selection) {
	b.WriteString("on:\n  workflow_dispatch:\n    inputs:\n      task:\n        description: What the agent is to do\n        type: string\n")
	has := func(t trigger) bool { return slices.Contains(s.triggers, t) }
	if has(onIssue) || has(onLabel) {
		var types []string
		if has(onIssue) {
			types = append(types, "opened")
		}
		if has(onLabel) {
			types = append(types, "labeled")
		}
		b.WriteString("  issues:" + when(has(onIssue), " # everybody who opens an issue starts the agent, at your cost") + "\n    types: [" + strings.Join(types, ", ") + "]\n")
	}
	b.WriteString(when(has(onPull), "  pull_request:\n    types: [opened, synchronize, ready_for_review]\n") +
		when(has(onceAWeek), "  schedule:\n    - cron: \"23 6 * * 1\" # Mondays, in UTC\n"))
}

// when returns a text if it applies, otherwise "".
func when(applies bool, text string) string {
	if applies {
		return text
	}
	return ""
}

// condition returns the condition under which the agent's job runs; "" means always. A run for a
// pull request from a fork gets no secret, so an agent that needs one cannot run.
func condition(s selection, a Agent) string {
	var all []string
	if slices.Contains(s.triggers, onLabel) {
		all = append(all, "(github.event.action != 'labeled' || github.event.label.name == '"+agentLabel+"')")
	}
	if slices.Contains(s.triggers, onPull) && a.secret != "" {
		all = append(all, "(github.event_name != 'pull_request' || github.event.pull_request.head.repo.full_name == github.repository)")
	}
	return strings.Join(all, " && ")
}

func writeAgentJob(b *strings.Builder, s selection, a Agent, r Release) {
	c := condition(s, a)
	b.WriteString("  agent:\n" + when(c != "", "    if: "+c+"\n") +
		"    runs-on: ubuntu-24.04\n    timeout-minutes: 30\n    permissions:\n      contents: read\n    steps:\n" +
		"      - uses: " + actionCheckout + "\n        with:\n          fetch-depth: 0\n          persist-credentials: false\n" +
		r.installSteps() +
		when(a.install != "", "      - uses: "+actionSetupNode+"\n        with:\n          node-version: 22\n"+
			"      - run: npm install --global "+a.install+"\n") +
		"      - name: Write the prompt\n        run: |\n" +
		"          mkdir -p " + outDirectory + "\n" +
		"          cp \"$GITHUB_EVENT_PATH\" " + eventFile + "\n" +
		"          : >" + linesFile + "\n" +
		"          {\n            cat " + taskFile + "\n            echo\n            airlock instructions --config " + PolicyFile + " --lines " + linesFile + "\n          } >" + promptFile + "\n" +
		"      - name: Run the agent\n        env:\n          AIRLOCK_PROMPT: " + promptFile + "\n          AIRLOCK_LINES: " + linesFile + "\n" +
		when(a.secret != "", "          "+a.variable+": ${{ secrets."+a.secret+" }}\n"))
	for _, v := range a.variables {
		b.WriteString("          " + v[0] + ": " + v[1] + "\n")
	}
	b.WriteString("        run: |\n" + indent(a.command+"\n", "          ") +
		"      - name: Show what would be refused\n        run: airlock validate --config " + PolicyFile + " " + linesFile + " >/dev/null || [ $? = 1 ]\n" +
		when(s.carriesCode(), "      - name: Hand over the agent's changes, committed or not\n        run: |\n"+
			"          git add --all\n          git diff --cached --binary \"$GITHUB_SHA\" >"+changesFile+"\n") +
		"      - uses: " + actionUpload + "\n        with:\n          name: agent\n          include-hidden-files: true\n          path: |\n            " + linesFile + "\n" +
		when(s.carriesCode(), "            "+changesFile+"\n"))
}

// mostRoots is how many projects may be roots of the checks; where there are more, none is. Roots
// are checked for each pull request, whatever it changes.
const mostRoots = 5

// checksConfig returns the configuration of the checks, for the job that runs them and for the one
// that reports them. projects are the directories of the projects; if there is one at the top, that
// comes first, and the checks need no roots.
func checksConfig(projects []string) string {
	text := "checks:\n  informational: [code-review]\n"
	switch {
	case len(projects) == 0:
		text += "  reviews-only: true\n"
	case projects[0] != "." && len(projects) <= mostRoots:
		// Without roots a pull request that changes no project, only documents for example, would
		// have no language, and its checks would fail.
		text += "  roots:\n"
		for _, dir := range projects {
			text += "  - " + strconv.Quote(dir) + "\n"
		}
	}
	return text
}

// checksWorkflowText returns the workflow that checks pull requests.
func checksWorkflowText(r Release, projects []string) ([]byte, error) {
	checks := checksConfig(projects)
	cfg, err := config.Parse("checks", []byte(checks))
	if err != nil {
		return nil, fmt.Errorf("the configuration of the checks: %w", err)
	}
	given := "          config: |\n" + indent(checks, "            ")
	return []byte("# Made by 'airlock init'. The first job runs the pull request's code, and can read and nothing else.\n" +
		"# The second job has the token: it shows the result, and fails if a check failed. Require both in the\n" +
		"# rules of the branch: GitHub counts a job that was skipped as a success.\n" +
		"name: Airlock checks\n\non: pull_request\n\npermissions: {}\n\n" +
		"concurrency:\n  group: airlock-checks-${{ github.ref }}\n  cancel-in-progress: true\n\n" +
		"jobs:\n  check:\n    runs-on: ubuntu-24.04\n    timeout-minutes: 30\n    permissions:\n      contents: read\n    steps:\n" +
		"      - uses: " + actionCheckout + "\n        with:\n          fetch-depth: 0 # so that git can tell what changed\n          persist-credentials: false\n" +
		"      - uses: " + repository + "@" + r.ref() + "\n        with:\n          mode: check\n          fail-on: never # the job below reports, and fails if a check failed\n" + given +
		"      - uses: " + actionUpload + "\n        with:\n          name: findings\n          include-hidden-files: true\n          path: .airlock/findings.json\n" +
		"\n  report:\n    needs: check\n    runs-on: ubuntu-24.04\n    timeout-minutes: 15\n" + indent(apply.WriteBlock(cfg.Permissions()), "    ") +
		"    steps:\n      - uses: " + actionDownload + "\n        with:\n          name: findings\n" +
		"      - uses: " + repository + "/actions/gate@" + r.ref() + "\n        with:\n          mode: apply\n          findings: findings.json\n" + given), nil
}

// indent puts the prefix before every line.
func indent(lines, prefix string) string {
	return prefix + strings.ReplaceAll(strings.TrimSuffix(lines, "\n"), "\n", "\n"+prefix) + "\n"
}
