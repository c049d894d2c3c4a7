package gitrepo

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	firstDiff  = regexp.MustCompile(`(?m)^(diff --git |--- .*\n\+\+\+ )`)
	binarySize = regexp.MustCompile(`(?m)^(?:literal|delta) ([0-9]+)$`)
	combined   = regexp.MustCompile(`(?m)^diff --(?:cc|combined) `)
	submodule  = regexp.MustCompile(`(?m)^Submodule .* [0-9a-f]{7,64}\.\.\.?[0-9a-f]{7,64}`)
	lineOf     = regexp.MustCompile(`^(.*?)(?: \(| at | on )?line ([0-9]+)\)?(.*)$`)
)

// hasDiff reports whether there is a line that a diff begins with.
func hasDiff(text []byte) bool { return firstDiff.Match(text) }

// checkPatch finds out how a patch writes its paths, and has git parse it.
func (r *Repo) checkPatch(ctx context.Context, p *patch) error {
	if !hasDiff(p.text) {
		return fmt.Errorf("%s holds no patch: 'git format-patch --stdout BASE..' or 'git diff --binary BASE' writes one", p.where)
	}
	for _, m := range binarySize.FindAllSubmatchIndex(p.text, -1) {
		if n, err := strconv.Atoi(string(p.text[m[2]:m[3]])); err != nil || n > maxPatchFile {
			return fmt.Errorf("%w: %s: a file of %s bytes, and a patch's file may have at most %d", ErrTooLarge,
				p.at(1+bytes.Count(p.text[:m[0]], []byte{'\n'})), p.text[m[2]:m[3]], maxPatchFile)
		}
	}
	if m := combined.FindIndex(p.text); m != nil { // git apply would pass over it
		return fmt.Errorf("%s: the diff of a merge against all its parents cannot be applied: 'git diff --binary BASE' writes one that can",
			p.at(1+bytes.Count(p.text[:m[0]], []byte{'\n'})))
	}
	strip, line, err := stripOf(p.text)
	if err != nil {
		return fmt.Errorf("%s: %w", p.at(line), err)
	}
	p.strip = strip
	a, err := r.gitWith(ctx, call{stdin: bytes.NewReader(p.text), fails: true}, "apply", "--numstat", "-z", "-p"+strconv.Itoa(strip), "-")
	if err == nil && a.code != 0 {
		err = p.refused(a)
	}
	return err
}

// at says where a line of the patch's text is, counted from 1.
func (p *patch) at(line int) string {
	if p.line == 0 || line == 0 {
		return p.where
	}
	return fmt.Sprintf("%s, line %d", p.where, p.line+line-1)
}

// refused is the error for a patch that git does not take.
func (p *patch) refused(a answer) error {
	said := firstError(a.stderr)
	if m := lineOf.FindStringSubmatch(said); m != nil {
		line, _ := strconv.Atoi(m[2])
		return fmt.Errorf("%s: git says %.300q: the file is cut off, or was edited; write it again", p.at(line), strings.TrimSpace(m[1]+m[3]))
	}
	if strings.HasPrefix(said, "invalid path") {
		return fmt.Errorf("%s leaves the repository or writes where git keeps its own files: %.300q", p.where, said)
	}
	return fmt.Errorf("%s: git says %.300q", p.where, said)
}

// firstError returns what git said first, without its prefix.
func firstError(stderr string) string {
	for line := range strings.Lines(stderr) {
		for _, prefix := range []string{"error: ", "fatal: "} {
			if text, ok := strings.CutPrefix(strings.TrimSpace(line), prefix); ok {
				return text
			}
		}
	}
	return strings.TrimSpace(stderr)
}
