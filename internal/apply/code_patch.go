package apply

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/secrets"
	"github.com/agent-airlock/airlock/internal/text"
)

// Limits of a patch that is kept for people.
const (
	maxPatch     = 64 << 20  // bytes
	maxKeptFile  = 256 << 10 // bytes of each file, in a patch that would exceed maxPatch otherwise
	patchTimeout = time.Minute
)

// patchMaker makes patches of changes that were not delivered, without secrets.
type patchMaker struct {
	repo    *gitrepo.Repo
	scanner *secrets.Scanner // may be nil
	notes   []string
}

// preparePatch makes the patch of the changes if they were refused. Otherwise it prepares the patch
// in case they cannot be pushed. plain is set if the changes are known to contain no secret.
func (c *codePreparer) preparePatch(st *codeState, plain bool) error {
	series, err := c.code.Repo.SeriesOf(c.o.ctx, st.onto, st.tip())
	if err != nil {
		return err
	}
	if st.refusal != nil {
		c.keepPatchOf(st, series, plain)
		return nil
	}
	ctx := context.WithoutCancel(c.o.ctx) // the patch is made last, when that context may have ended
	m := patchMaker{repo: c.code.Repo, scanner: c.o.cfg.Secrets}
	st.makePatch = func() ([]byte, []string) {
		ctx, cancel := context.WithTimeout(ctx, patchTimeout)
		defer cancel()
		patch := m.patch(ctx, series, plain) // adds notes
		return patch, m.notes
	}
	return nil
}

// keepPatchOf makes the patch of a series.
func (c *codePreparer) keepPatchOf(st *codeState, s gitrepo.Series, plain bool) {
	m := patchMaker{repo: c.code.Repo, scanner: c.o.cfg.Secrets}
	st.patch = m.patch(c.o.ctx, s, plain)
	for _, n := range m.notes {
		st.note(n)
	}
}

// patch returns the patch of a series as mails, one for each change. If a message, an author or new
// content contains a secret, or the mails are too large, it returns a single mail with secrets
// masked. If that mail is too large, it leaves out the contents of large files. If that fails as
// well, it returns nil, and a note says why.
func (m *patchMaker) patch(ctx context.Context, s gitrepo.Series, plain bool) []byte {
	if len(s.Changes) == 0 {
		return nil
	}
	data, err := m.mails(ctx, s, plain || m.isPlain(ctx, s))
	if err != nil {
		m.notes = append(m.notes, "the patch could not be kept: "+err.Error())
		return nil
	}
	return m.maskRest(data)
}

// mails returns the first form of a patch that may be kept and is not too large.
func (m *patchMaker) mails(ctx context.Context, s gitrepo.Series, plain bool) (data []byte, err error) {
	if plain {
		if data, err = m.repo.SeriesPatch(ctx, s, maxPatch); !errors.Is(err, gitrepo.ErrTooLarge) {
			return data, err
		}
	}
	for _, largest := range []int64{maxScanned, maxKeptFile} {
		if data, err = m.maskedMail(ctx, s, largest); !errors.Is(err, gitrepo.ErrTooLarge) {
			return data, err
		}
	}
	return nil, err
}

// maskedMail returns a series as a single mail: see masked.
func (m *patchMaker) maskedMail(ctx context.Context, s gitrepo.Series, largest int64) ([]byte, error) {
	one, notes, err := m.masked(ctx, s, largest)
	if err != nil {
		return nil, err
	}
	data, err := m.repo.SeriesPatch(ctx, one, maxPatch)
	if err == nil {
		m.notes = append(m.notes, notes...)
	}
	return data, err
}

// maskRest masks secrets in the rest of a patch: in names of files, and in the lines that the
// changes remove or do not change.
func (m *patchMaker) maskRest(data []byte) []byte {
	if m.scanner == nil {
		return data
	}
	masked := []byte(m.scanner.Mask(string(data)))
	if !bytes.Equal(masked, data) {
		m.notes = append(m.notes, "names or old lines in the patch contain what looks like a secret and are masked (***), so git am may refuse it")
	}
	return masked
}

// isPlain reports whether no message, no author and no new content of a series contains a secret.
// It is false if one of them cannot be read, or is too large to be searched.
func (m *patchMaker) isPlain(ctx context.Context, s gitrepo.Series) bool {
	if m.scanner == nil {
		return true
	}
	for _, c := range s.Changes {
		if len(m.scanner.Scan(c.Message+"\n"+c.Author.Name+"\n"+c.Author.Email)) > 0 {
			return false
		}
	}
	steps, err := m.repo.SeriesChanges(ctx, s.Trees()...)
	if err != nil {
		return false
	}
	files, oids := newContents(steps)
	next := 0
	for data, err := range m.repo.Blobs(ctx, oids, maxScanned) {
		if err != nil || len(m.scanner.ScanFile(files[next].Path, string(data))) > 0 {
			return false
		}
		next++
	}
	return true
}

// newContents returns the changes of a series that give a path new content, and the ids of the
// contents. If several changes give a path the same content, it returns the first of them.
func newContents(steps [][]gitrepo.TreeChange) (files []gitrepo.TreeChange, oids []string) {
	seen := map[string]bool{}
	for _, changes := range steps {
		for _, ch := range changes {
			if ch.NewMode == "" || ch.NewMode == submoduleMode || ch.NewOID == ch.OldOID || seen[ch.NewOID+ch.Path] {
				continue
			}
			seen[ch.NewOID+ch.Path] = true
			files, oids = append(files, ch), append(oids, ch.NewOID)
		}
	}
	return files, oids
}

// masked returns the series as one change, with *** instead of secrets. If a file has more than
// largest bytes, or cannot be masked, a sentence that says so replaces its content. An author that
// contains a secret is left out.
func (m *patchMaker) masked(ctx context.Context, s gitrepo.Series, largest int64) (one gitrepo.Series, notes []string, err error) {
	first, last := s.Changes[0], s.Changes[len(s.Changes)-1]
	edits, ofContents, err := m.maskContents(ctx, first.Before, last.After, largest)
	if err != nil {
		return one, nil, err
	}
	change := gitrepo.Change{Before: first.Before, After: last.After, Author: last.Author, Message: last.Message}
	if len(edits) > 0 {
		if change.After, err = m.repo.EditTree(ctx, last.After, edits); err != nil {
			return one, nil, err
		}
	}
	if len(s.Changes) > 1 {
		titles := make([]string, len(s.Changes))
		for i, c := range s.Changes {
			titles[i] = firstLine(strings.TrimSpace(c.Message))
		}
		change.Message = fmt.Sprintf("Apply the changes of %d commits\n\n%s", len(s.Changes), listTitles(titles))
		notes = append(notes, fmt.Sprintf("the patch has the %d commits as one", len(s.Changes)))
	}
	if m.scanner != nil {
		change.Message = m.scanner.Mask(change.Message)
		if author := change.Author.Name + "\n" + change.Author.Email; m.scanner.Mask(author) != author {
			change.Author = gitrepo.Person{}
		}
	}
	return gitrepo.Series{Base: s.Base, Changes: []gitrepo.Change{change}}, append(notes, ofContents...), nil
}

// maskContents compares two trees, and returns edits of the second one. The edits mask secrets and
// replace contents as masked describes.
func (m *patchMaker) maskContents(ctx context.Context, before, after string, largest int64) (edits []gitrepo.TreeEdit, notes []string, err error) {
	changes, err := m.repo.TreeChanges(ctx, before, after)
	if err != nil {
		return nil, nil, err
	}
	var hidden, left []string
	replace := func(ch gitrepo.TreeChange, content string) error {
		oid, err := m.repo.WriteBlob(ctx, content)
		edits = append(edits, gitrepo.TreeEdit{Path: ch.Path, Mode: ch.NewMode, OID: oid})
		return err
	}
	files, oids := newContents([][]gitrepo.TreeChange{changes})
	next := 0
	for data, err := range m.repo.Blobs(ctx, oids, largest) {
		ch := files[next]
		next++
		switch {
		case errors.Is(err, gitrepo.ErrTooLarge):
			left = append(left, ch.Path)
			err = replace(ch, fmt.Sprintf("Airlock left out the content of this file, %s.\n", text.Bytes(ch.Size)))
		case err == nil:
			if content := m.maskFile(ch.Path, string(data)); content != string(data) {
				hidden = append(hidden, ch.Path)
				err = replace(ch, content)
			}
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if hidden != nil {
		notes = append(notes, "what looks like a secret is masked in the patch (***): "+text.QuoteList(hidden))
	}
	if left != nil {
		notes = append(notes, "the patch lacks the contents of large files: "+text.QuoteList(left))
	}
	return edits, notes, nil
}

// maskFile returns the content of a file with *** instead of secrets. If the result still contains
// one, it returns a sentence instead.
func (m *patchMaker) maskFile(path, content string) string {
	if m.scanner == nil {
		return content
	}
	masked, clean := m.scanner.MaskFile(path, content)
	if !clean {
		return "Airlock left out the content of this file, which contains what looks like a secret.\n"
	}
	return masked
}

// keepPatch stores changes that were not delivered, so that nobody's work is lost, and records
// in the result where it stored them.
func (x *executor) keepPatch(e *entry, r *Result) {
	st := x.plan.snap.code[e.index]
	lost := r.State == Failed || r.State == Denied || r.State == Skipped
	onBranch := r.Object != nil && r.Object.SHA != ""
	if !lost || onBranch || st == nil || r.File != "" || e.staged || x.deps.Files == nil {
		return
	}
	if st.patch == nil && st.makePatch != nil {
		var notes []string
		st.patch, notes = st.makePatch()
		for _, n := range notes {
			r.Notes = append(r.Notes, x.plan.config.mask(n))
		}
	}
	if len(st.patch) == 0 {
		return
	}
	path, err := x.deps.Files.WriteFile(fmt.Sprintf("airlock-%s.patch", e.key[:8]), st.patch)
	if err != nil {
		x.deps.log("the patch could not be kept: " + err.Error())
		return
	}
	r.File = path
	r.Notes = append(r.Notes, patchKept)
}

// KeepDenied stores a patch of the agent's changes if results has a denied item that carries them:
// nothing else keeps the changes of an item that the policy denied. It records the patch's file in
// the results of all such items.
func KeepDenied(ctx context.Context, deps Deps, cfg Config, results []Result) {
	code := deps.Code
	if cfg.DryRun || deps.Files == nil || code.problem() != "" {
		return
	}
	var lost []int
	for i, r := range results {
		if r.State == Denied && r.File == "" && safeoutput.SpecOf(r.Kind).CarriesCode {
			lost = append(lost, i)
		}
	}
	if len(lost) == 0 {
		return
	}
	s, err := code.Series(ctx, nil)
	if err != nil {
		deps.log("the changes of a denied item cannot be read: " + cfg.mask(err.Error()))
		return
	}
	m := patchMaker{repo: code.Repo, scanner: cfg.Secrets}
	patch := m.patch(ctx, s, false)
	var path string
	if len(patch) > 0 {
		if path, err = deps.Files.WriteFile("airlock-denied.patch", patch); err != nil {
			deps.log("the patch could not be kept: " + err.Error())
			return
		}
		m.notes = append(m.notes, patchKept)
	}
	for _, i := range lost {
		results[i].File = path
		for _, n := range m.notes {
			results[i].Notes = append(results[i].Notes, cfg.mask(n))
		}
	}
}

// patchKept is the note of a result whose changes are in a file.
const patchKept = "the changes are kept as a patch, which git am --3way applies"
