package apply

import (
	"regexp"
	"strings"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// trailerName begins the line of a commit message that says which item the
// commit belongs to: the first 16 digits of the stable key, and of the item's.
const trailerName = "Airlock-Item"

// trailer is the line that ends every commit message of an item.
func trailer(stable, key string) string {
	return trailerName + ": " + stable[:16] + "-" + key[:16]
}

// trailerOf returns the value of a commit message's trailer, "" without one.
func trailerOf(message string) string {
	lines := strings.Split(strings.TrimRight(message, " \t\r\n"), "\n")
	name, value, ok := strings.Cut(lines[len(lines)-1], ": ")
	if !ok || name != trailerName {
		return ""
	}
	return strings.TrimSpace(value)
}

// ofItem reports whether one of the commits was made for the item itself.
func ofItem(commits []githubapi.Commit, stable, key string) bool {
	for _, c := range commits {
		if trailerOf(c.Message) == stable[:16]+"-"+key[:16] {
			return true
		}
	}
	return false
}

// allOfSeries reports whether every commit was made for what has the stable key,
// in whichever workflow run, and is as we made it. Without commits nothing is known.
func allOfSeries(commits []githubapi.Commit, stable string, committer gitrepo.Person) bool {
	for _, c := range commits {
		if !strings.HasPrefix(trailerOf(c.Message), stable[:16]+"-") || !madeBy(c, committer) {
			return false
		}
	}
	return len(commits) > 0
}

// madeBy reports whether we committed it. Who amends or rebases a commit keeps its
// message, and with it our line, and becomes its committer. Of a commit that GitHub
// made for us, GitHub is, and has signed it.
func madeBy(c githubapi.Commit, committer gitrepo.Person) bool {
	return c.Committer.Email == committer.Email || c.Committer.Email == githubEmail && c.Verified
}

// githubEmail is the address of GitHub itself as a committer.
const githubEmail = "noreply@github.com"

// skipCommands are the words in a commit message that keep GitHub from starting
// workflows: an agent may not switch off the checks of its own changes. See
// GitHub's documentation on skipping workflow runs.
var skipCommands = regexp.MustCompile(`(?i)\[(skip ci|ci skip|no ci|skip actions|actions skip)\]`)

// skipTrailer is the other form, a line of its own.
var skipTrailer = regexp.MustCompile(`(?im)^(skip-checks):`)

// startable makes what switches off workflows in a message inert, readable as
// before.
func startable(message string) (clean string, changed bool) {
	clean = skipCommands.ReplaceAllString(message, "($1)")
	clean = skipTrailer.ReplaceAllString(clean, "$1 :")
	return clean, clean != message
}
