//go:build real

package reviewer

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/gitrepo"
)

var (
	historyFrom    = flag.String("historyFrom", "", "draw from the history of the repositories in this directory")
	historyCommits = flag.Int("historyCommits", 60, "how many of the last changes of a repository are reviewed")
)

// TestHistory reviews the last changes of the repositories in -historyFrom, each a merged pull
// request or a commit on the main branch, as the product reviews a pull request: its changed files,
// and what is found on its changed lines. It draws from these findings, and prints them for judging.
func TestHistory(t *testing.T) {
	if *historyFrom == "" {
		t.Fatal("-historyFrom is needed: the directory with the clones, each in a directory of its own")
	}
	entries, err := os.ReadDir(*historyFrom)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		h := openHistory(t, filepath.Join(*historyFrom, e.Name()))
		var found []changeFinding
		counts, seen := map[string]int{}, map[string]bool{}
		reviewed := h.changes()
		for _, commit := range reviewed {
			for _, f := range h.review(commit) {
				if key := f.Rule + " " + f.Path + " " + f.Fingerprint; !isNote(f.Finding) && !seen[key] {
					seen[key] = true
					counts[f.Rule]++
					found = append(found, f)
				}
			}
		}
		fmt.Printf("SOURCE %s at=%s changes=%d found=%d %v\n", e.Name(), h.head, len(reviewed), len(found), counts)
		for _, f := range drawn(found, *drawSeed, *drawMost) {
			fmt.Printf("CHANGE %s %.10s %s\n", e.Name(), f.commit, strings.TrimSpace(string(output(t, h.gitDir, "git", "log", "-1", "--format=%s", f.commit))))
			show(t, []File{f.file}, []finding.Finding{f.Finding})
		}
	}
}

// changeFinding is a finding in a change of a repository's history.
type changeFinding struct {
	finding.Finding
	commit string
	file   File
}

// history is a repository whose last changes are reviewed.
type history struct {
	t            *testing.T
	gitDir, head string
	repo         *gitrepo.Repo
	reviewer     *Reviewer
}

// openHistory opens a clone, which may be bare.
func openHistory(t *testing.T, dir string) *history {
	t.Helper()
	dir = strings.TrimSpace(string(output(t, dir, "git", "rev-parse", "--absolute-git-dir")))
	tree := t.TempDir()
	if err := os.WriteFile(filepath.Join(tree, ".git"), []byte("gitdir: "+dir+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	clone, err := gitrepo.Locate(tree)
	if err != nil {
		t.Fatal(err)
	}
	repo, err := gitrepo.New(clone, gitrepo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { repo.Close() })
	config := Config{MinPrecision: finding.Precision(*leastPrecision)}
	if *realOnly != "" {
		config.Only = strings.Split(*realOnly, ",")
	}
	return &history{t: t, gitDir: dir, head: strings.TrimSpace(string(output(t, dir, "git", "rev-parse", "HEAD"))), repo: repo, reviewer: newReviewer(t, config)}
}

// changes returns the last changes of code on the main branch, the newest first.
func (h *history) changes() []string {
	args := []string{"log", "--first-parent", "--min-parents=1", "--format=%H", "-n", strconv.Itoa(*historyCommits), "--"}
	for _, l := range languages {
		for _, e := range l.extensions {
			args = append(args, "*"+e)
		}
	}
	return strings.Fields(string(output(h.t, h.gitDir, "git", args...)))
}

// review returns what is found on the lines that a change touched.
func (h *history) review(commit string) []changeFinding {
	h.t.Helper()
	parent := strings.TrimSpace(string(output(h.t, h.gitDir, "git", "rev-parse", commit+"^1")))
	set, err := changes.SetFromGit(h.t.Context(), changes.GitSource{Repo: h.repo, MergeBase: parent, Head: commit}, changes.Options{})
	if err != nil {
		fmt.Printf("LEFT OUT %s: %v\n", commit, err)
		return nil
	}
	files := changedFiles(set)
	code, err := h.reviewer.Code(h.t.Context(), files)
	if err != nil {
		h.t.Fatal(err)
	}
	for i := range files {
		files[i].Generated = false // the author of a change can write the mark
	}
	security, err := h.reviewer.Security(h.t.Context(), files)
	if err != nil {
		h.t.Fatal(err)
	}
	var found []changeFinding
	for _, f := range slices.Concat(security.Findings, code.Findings) {
		i := slices.IndexFunc(files, func(file File) bool { return file.Path == f.Path })
		found = append(found, changeFinding{f, commit, files[i]})
	}
	return found
}

// changedFiles returns the files of a change as the product gives them to the reviews. It leaves out
// deleted files and the former paths of renamed ones, because no finding depends on them.
func changedFiles(set *changes.Set) []File {
	var files []File
	for _, f := range set.Files {
		_, hard := f.Skip()
		if hard && !f.Binary || f.Status == changes.Deleted {
			continue
		}
		_, vendored := f.Marked(changes.MarkVendored)
		_, generated := f.Marked(changes.MarkGenerated)
		file := File{Path: f.Path, Text: string(f.Text), Language: f.Language, Changed: f.Changed, Patch: f.Patch, Size: max(f.Size, 0), Binary: f.Binary, Vendored: vendored, Generated: generated}
		switch {
		case f.AllChanged:
			file.Changed = nil
		case file.Changed == nil:
			file.Changed = []changes.Span{} // renamed: no line is new
		}
		files = append(files, file)
	}
	return files
}
