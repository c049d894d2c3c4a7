package branchname

import (
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// reserved lists complete names, and beginnings of names, that mean something to others. They are
// in lower case.
var reserved = []struct {
	why               string
	names, beginnings []string
}{
	{why: "it is usually the name of a branch that people release or deploy from",
		names:      []string{"main", "master", "trunk", "mainline", "default", "dev", "devel", "develop", "development", "next", "canary", "alpha", "beta", "stable", "latest", "staging", "stage", "test", "qa", "uat", "preprod", "prod", "production", "live", "release", "releases", "hotfix", "gh-pages", "pages", "deploy", "deployment"},
		beginnings: []string{"release/", "releases/", "release-", "rel/", "rel-", "hotfix/", "hotfix-", "support/", "stable/", "stable-", "maint/", "maintenance/", "lts/", "prod/", "production/", "staging/", "env/", "environment/", "environments/", "deploy/"}},
	{why: "it is the name of a branch of another bot, which may overwrite or delete it",
		beginnings: []string{"dependabot/", "dependabot-", "renovate/", "renovate-", "snyk-", "snyk/", "pyup-", "pyup/", "greenkeeper/", "greenkeeper-", "depfu/", "imgbot", "whitesource", "pre-commit-ci-", "pre-commit-ci/", "all-contributors/", "release-please--", "release-please/", "changeset-release/", "mergify/", "backport/", "backport-", "crowdin", "l10n_", "weblate", "transifex", "lokalise", "allcontributors", "create-pull-request/", "copilot/", "claude/", "codex/", "cursor/", "devin/", "jules/", "sweep/", "gemini/", "deepsource-"}},
	{why: "GitHub makes such branches itself",
		beginnings: []string{"gh-readonly-queue/", "revert-"}},
	{why: "git would take it for another ref",
		names:      []string{"head", "fetch_head", "orig_head", "merge_head", "cherry_pick_head", "revert_head", "rebase_head", "bisect_head", "auto_merge", "stash", "@", "refs", "heads", "tags", "remotes", "origin", "upstream"},
		beginnings: []string{"refs/", "heads/", "tags/", "remotes/", "origin/", "upstream/", "pull/", "merge-requests/", "stash/"}},
}

// version matches the names of version branches and tags: v1, 1.0, 2.x, v1.2.3-rc.1.
var version = lazyregexp.New(`^v?[0-9]+((\.[0-9x]+)+([-+][0-9a-z.]+)?)?$`)

// Reserved returns why a new branch should not have a name, although git would allow it: the
// name means something to people, other programs or GitHub. For any other name it returns "".
// Case does not count.
func Reserved(name string) string {
	name = strings.ToLower(name)
	for _, r := range reserved {
		begins := func(beginning string) bool { return strings.HasPrefix(name, beginning) }
		if slices.Contains(r.names, name) || slices.ContainsFunc(r.beginnings, begins) {
			return r.why
		}
	}
	if version.MatchString(name) {
		return "it reads as a version, which tags and branches of releases are named after"
	}
	return ""
}
