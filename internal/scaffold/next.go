package scaffold

import (
	"fmt"
	"slices"

	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// next lists what a person has to do, in order: nothing of it can be done with files.
func (w *writer) next() []string {
	var list []string
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if len(w.cfg.Answers.Allow) > 0 {
		add("Read %s, which says what the agent may ask for, and say in %s what it is to do.", PolicyFile, taskFile)
		if w.agent.Name == "other" {
			add("Start your agent in %s. Until then it reports that there is none.", ownAgentFile)
		}
		if w.agent.secret != "" {
			add("Add the secret %s: gh secret set %s. It is %s.", w.agent.secret, w.agent.secret, w.agent.key)
		}
		kinds := w.policy.Policy.Kinds
		if _, ok := kinds[safeoutput.KindCreatePullRequest]; ok {
			add("Allow workflows to open pull requests: Settings, Actions, General, \"Allow GitHub Actions to create and approve pull requests\". GitHub holds the checks of such pull requests until somebody approves them; the token of a GitHub App has neither limit.")
		}
		if _, ok := kinds[safeoutput.KindCreateDiscussion]; ok {
			add("Turn on discussions: Settings, General, Features.")
		}
		if _, ok := kinds[safeoutput.KindCreateSecurityReport]; ok {
			add("Turn on code scanning: Settings, Advanced Security. A private repository needs GitHub Code Security.")
		}
		if slices.Contains(w.chosen.triggers, onLabel) {
			add("Make the label by which people give an issue to the agent: gh label create %s.", agentLabel)
		}
		add("Commit the files, and merge them into the default branch: the gate reads the policy there, and events of issues start workflows only there.")
	} else {
		add("Commit the files, and open a pull request with them: its checks run.")
	}
	if w.cfg.Answers.CheckPulls {
		add("In the rules of the default branch require both jobs of the checks, \"check\" and \"report\".")
	}
	if len(w.cfg.Answers.Allow) > 0 {
		add("Where a person is to agree before anything is written, give the job \"gate\" an environment with required reviewers: Settings, Environments.")
		add("Try it: gh workflow run airlock.yml")
	}
	add("See whether everything fits together: airlock doctor")
	return list
}
