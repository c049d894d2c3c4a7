package scaffold

import (
	"fmt"
	"slices"

	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// next lists what a person still has to do, in order, because Write cannot do it.
func (w *writer) next() []string {
	var list []string
	addIf := func(applies bool, format string, args ...any) {
		if applies {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	allowed := len(w.cfg.Answers.Allow) > 0 // otherwise there are neither an agent nor kinds
	may := func(kind safeoutput.Kind) bool { _, ok := w.policy.Policy.Kinds[kind]; return ok }
	addIf(allowed, "Read %s, which says what the agent may ask for, and say in %s what it is to do.", PolicyFile, taskFile)
	addIf(allowed && w.agent.Name == "other", "Put the command that starts your agent into %s. Until then, that script reports that there is no agent yet.", ownAgentFile)
	addIf(w.agent.secret != "", "Add the secret %s: gh secret set %s. It is %s.", w.agent.secret, w.agent.secret, w.agent.key)
	addIf(may(safeoutput.KindCreatePullRequest), "Allow workflows to open pull requests: Settings, Actions, General, \"Allow GitHub Actions to create and approve pull requests\". GitHub holds the checks of such pull requests until somebody approves them; the token of a GitHub App has neither limit.")
	addIf(may(safeoutput.KindCreateDiscussion), "Turn on discussions: Settings, General, Features.")
	addIf(may(safeoutput.KindCreateSecurityReport), "Turn on code scanning: Settings, Advanced Security. A private repository needs GitHub Code Security.")
	addIf(slices.Contains(w.chosen.triggers, onLabel), "Make the label by which people give an issue to the agent: gh label create %s.", agentLabel)
	addIf(allowed, "Commit the files, and merge them into the default branch: the gate reads the policy there, and events of issues start workflows only there.")
	addIf(!allowed, "Commit the files, and open a pull request with them: its checks run.")
	addIf(w.cfg.Answers.CheckPulls, "In the rules of the default branch require both jobs of the checks, \"check\" and \"report\".")
	addIf(allowed, "Where a person is to agree before anything is written, give the job \"gate\" an environment with required reviewers: Settings, Environments.")
	addIf(allowed, "Try it: gh workflow run airlock.yml")
	return append(list, "See whether everything fits together: airlock doctor")
}
