package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Limits of a search in a commit.
const (
	maxFound     = 200      // files that are read
	maxFoundFile = 64 << 20 // bytes of one of them
)

// Contained reports which texts are in a commit. A text is in it if a single file contains all of
// it, exactly as it is written. git finds the files. Each file is then read and checked against its
// id, because somebody may have changed the clone to make a text appear in a commit. If more than
// 200 files match, only the first 200 are read. A file that cannot be read counts as not containing
// any of the texts. If git finds too many files or needs too much memory, the error is
// ErrTooLarge. If it fails otherwise, the files that it found until then are read.
func (r *Repo) Contained(ctx context.Context, commit string, texts []string) (map[string]bool, error) {
	var patterns []string
	for _, t := range texts {
		if p := longestLine(t); p != "" {
			patterns = append(patterns, p)
		}
	}
	patterns = unique(patterns)
	contained := map[string]bool{}
	if len(patterns) == 0 {
		return contained, nil
	}
	if !IsObjectID(commit) {
		return nil, fmt.Errorf("%q is not a full object id", commit)
	}
	out, err := r.Run(ctx, Call{Stdin: strings.NewReader(strings.Join(patterns, "\n") + "\n"), Limit: 4 << 20, MaxExit: 1},
		"grep", "--fixed-strings", "--text", "--files-with-matches", "--null", "--full-name", "-f", "-", commit, "--")
	if err != nil && (ctx.Err() != nil || errors.Is(err, ErrTooLarge)) {
		return nil, err
	}
	var paths []string
	for _, record := range out.Records() {
		if path, ok := strings.CutPrefix(record, commit+":"); ok && len(paths) < maxFound {
			paths = append(paths, path)
		}
	}
	for _, path := range paths { // one at a time, because they may be large
		file, err := r.File(ctx, commit, path, maxFoundFile)
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			continue
		}
		content := string(file)
		for _, t := range texts {
			contained[t] = contained[t] || strings.Contains(content, t)
		}
	}
	return contained, nil
}

// longestLine returns the longest line of a text that a search by lines can find; "" if
// there is none.
func longestLine(text string) string {
	longest := ""
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSuffix(line, "\r"); len(line) > len(longest) && !strings.Contains(line, "\x00") {
			longest = line
		}
	}
	return longest
}
