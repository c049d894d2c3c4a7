package githubtest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// GitFile is a file of a commit as it shall be from then on.
type GitFile struct {
	Path string
	// Mode is git's: 100644 (the default), 100755, 120000 for a link, 160000 for a
	// submodule. "0" deletes the file.
	Mode string
	Data string // of a link the target, of a submodule the commit
}

// Commit adds a commit with plain files to a branch and returns its id. A branch
// that is not there begins with it. The same calls give the same ids: the author
// is fixed, and each commit is a minute younger than its parent.
func (g *Git) Commit(branch string, files map[string]string, message string) string {
	var list []GitFile
	for name, data := range files {
		list = append(list, GitFile{Path: name, Data: data})
	}
	return g.CommitFiles(branch, list, message)
}

// CommitFiles is Commit for files of every mode, and to delete some.
func (g *Git) CommitFiles(branch string, files []GitFile, message string) string {
	someone := person{"Octo Cat", "octocat@example.com"}
	c := newCommit{branch: branch, parent: g.SHA(branch), files: files, message: strings.TrimSuffix(message, "\n") + "\n", author: someone, committer: someone,
		when: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	if c.parent != "" {
		seconds, err := strconv.ParseInt(g.Run("log", "-1", "--format=%ct", c.parent), 10, 64)
		if err != nil {
			g.fail("%v", err)
		}
		c.when = time.Unix(seconds, 0).Add(time.Minute)
	}
	sha, err := g.commit(c)
	if err != nil {
		g.fail("%v", err)
	}
	return sha
}

type person struct{ name, email string }

func (p person) String() string { return p.name + " <" + p.email + ">" }

type newCommit struct {
	branch            string
	parent            string // the branch's head; "" for none
	files             []GitFile
	message           string
	author, committer person
	when              time.Time
}

// commit makes a commit and moves the branch to it.
func (g *Git) commit(c newCommit) (string, error) {
	var b strings.Builder
	date := fmt.Sprintf("%d +0000", c.when.Unix())
	fmt.Fprintf(&b, "commit refs/heads/%s\nmark :1\nauthor %s %s\ncommitter %s %s\ndata %d\n%s\n", c.branch, c.author, date, c.committer, date, len(c.message), c.message)
	if c.parent != "" {
		fmt.Fprintf(&b, "from %s\n", c.parent)
	}
	files := slices.SortedFunc(slices.Values(c.files), func(a, b GitFile) int {
		// What is deleted makes room for what is written: a file for a folder.
		return cmp.Or(cmp.Compare(cmp.Or(a.Mode, "100644"), cmp.Or(b.Mode, "100644")), cmp.Compare(a.Path, b.Path))
	})
	for _, f := range files {
		switch f.Mode {
		case "0":
			fmt.Fprintf(&b, "D %s\n", quoted(f.Path))
		case "160000":
			fmt.Fprintf(&b, "M 160000 %s %s\n", f.Data, quoted(f.Path))
		default:
			fmt.Fprintf(&b, "M %s inline %s\ndata %d\n%s\n", cmp.Or(f.Mode, "100644"), quoted(f.Path), len(f.Data), f.Data)
		}
	}
	b.WriteString("\nget-mark :1\ndone\n")
	return g.run(b.String(), "fast-import", "--quiet", "--done", "--date-format=raw")
}

// quoted is a path as fast-import reads it, whatever bytes it holds.
func quoted(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}
