package apply

import (
	"cmp"
	"errors"
	"net/http"
	"strings"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// ruleRefusal returns GitHub's reason if it refused commits because of a rule or of their contents.
// It does not matter whether they were pushed or made through the API. For another failure it
// returns "".
func ruleRefusal(err error) string {
	if p, ok := errors.AsType[*gitrepo.PushError](err); ok {
		if p.Kind == gitrepo.PushRefused && p.Status != http.StatusUnavailableForLegalReasons {
			return cmp.Or(p.Reason, "it gave no reason")
		}
		return ""
	}
	e, ok := errors.AsType[*githubapi.Error](err)
	if !ok || e.Kind != githubapi.Forbidden && e.Kind != githubapi.Validation {
		return ""
	}
	reason := e.Message
	for _, f := range e.Fields {
		reason += "; " + f.Message
	}
	for _, words := range []string{"rule violation", "protected branch", "through a pull request", "protected ref", "reference update failed"} {
		if strings.Contains(strings.ToLower(reason), words) {
			return strings.Trim(reason, "; ")
		}
	}
	return ""
}

// pushRemedies say what to do if GitHub does not accept a push and its message contains certain
// words. The first entry that fits counts.
var pushRemedies = []struct{ words, remedy string }{
	{"cannot lock ref", "git cannot have two branches of which one's name is a directory of the other's: delete or rename the other one, or set branch-prefix"},
	{"reference update failed", "a rule protects branches of this name, or another branch is in the way: set branch-prefix, or let the token's account bypass the rule"},
	{"verified signature", "a rule wants signed commits: set signed-commits: true"},
	{"force-push", "a rule does not let anybody replace commits, as Airlock does with its own on this branch: let the token's account bypass the rule, or exempt branches that begin with branch-prefix from it"},
	{"non-fast-forward", "a rule does not let anybody replace commits, as Airlock does with its own on this branch: let the token's account bypass the rule, or exempt branches that begin with branch-prefix from it"},
	{"creations being restricted", "a ruleset restricts which branches may be created: set branch-prefix to one that it allows, or let the token's account bypass it"},
	{"name must", "a ruleset wants other names of branches: set branch-prefix so that they match"},
	{"contain secrets", "GitHub's push protection found a secret: remove it from the changes, or allow it at the address that GitHub names"},
	{"commit message must", "a ruleset wants other commit messages: let the agent write them so, or let the token's account bypass it"},
	{"email must", "a ruleset wants other addresses of authors or committers: let the token's account bypass it"},
	{"gh001", "a file is larger than GitHub takes: leave it out, or set a smaller max-patch-size so that such changes are refused before"},
	{"gh006", "let the token's account bypass the branch's protection, or let the agent ask for a pull request (create-pull-request)"},
	{"protected branch", "let the token's account bypass the branch's protection, or let the agent ask for a pull request (create-pull-request)"},
	{"through a pull request", "let the token's account bypass the rule, or let the agent ask for a pull request (create-pull-request)"},
	{"gh013", "change what the ruleset names, or let the token's account bypass it"},
	{"rule violation", "change what the ruleset names, or let the token's account bypass it"},
}

// pushRemedy returns what to do about a push that GitHub did not accept. For a reason that is not
// known, it returns only what may have forbidden the push.
func pushRemedy(reason string) string {
	reason = strings.ToLower(reason)
	for _, r := range pushRemedies {
		if strings.Contains(reason, r.words) {
			return r.remedy
		}
	}
	return "a rule of the repository forbids it, or the content does"
}
