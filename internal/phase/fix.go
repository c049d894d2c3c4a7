package phase

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/toolreport"
)

// fix runs the fix and then the check again, while the check fails and retries are left.
func (w *run) fix(ctx context.Context) error {
	if w.e.config.CheckOnly || w.chosen.fix.line == "" {
		return nil
	}
	for w.out.Retries < w.e.job.Input.MaxRetries && w.mayRetry() && w.mayFix() {
		fix := w.fixCommand()
		if fix.noFile {
			if w.out.Retries == 0 {
				w.note("nothing was fixed: there is no changed file for the fix to write")
			}
			return nil
		}
		w.out.Retries++
		w.progress("")
		w.watch()
		if done, err := w.runFix(ctx, fix); !done || err != nil {
			return err
		}
		if err := w.e.deps.Wait(ctx, w.e.config.RetryDelay); err != nil {
			return err
		}
		if err := w.runCheck(ctx, w.chosen); err != nil {
			return err
		}
	}
	return nil
}

// runFix runs the fix, and reports whether it could be run.
func (w *run) runFix(ctx context.Context, fix commandLine) (bool, error) {
	var others map[string]kept
	if !w.chosen.fix.own && !slices.Contains(strings.Fields(w.chosen.fix.line), filesWord) {
		var ok bool
		if others, ok = w.where.project.keep(w.root.dir, w.chosen.fix.endings, w.root.files); !ok {
			w.note("nothing was fixed: '%s' writes all files, and some that did not change could not be put back, because they are too large or cannot be read", fix.line)
			return false, nil
		}
	}
	fixed, err := w.attempt(ctx, fix)
	if failed := w.where.project.putBack(others); len(failed) > 0 {
		w.note("'%s' has also changed files that could not be put back: %s", fix.line, strings.Join(failed, ", "))
	}
	if err == nil && (fixed.missing != "" || fixed.fault != "") {
		w.note("'%s', which fixes, could not be run: %s", fix.line, fixed.missing+fixed.fault)
		return false, nil
	}
	return true, err
}

// mayFix reports whether a fix may help. It cannot where one of the built-in tools failed without
// findings, as for an invalid configuration.
func (w *run) mayFix() bool {
	c := w.chosen.check
	return c.tool == "" || c.silent || len(w.last.report.Findings) > 0 || toolreport.FindsWith(c.tool, w.last.result.ExitCode)
}

// fixCommand returns the command that fixes. Its noFile is set if there is none, or no file
// for it.
func (w *run) fixCommand() commandLine {
	f := w.chosen.fix
	if f.line == "" {
		return commandLine{noFile: true}
	}
	if f.own {
		return f.commandLine
	}
	files := w.fixable()
	c := f.commandLine
	c.noFile = len(files) == 0
	c.args = nil
	for _, word := range f.args {
		if word == filesWord {
			c.args = append(c.args, files...)
		} else {
			c.args = append(c.args, word)
		}
	}
	return c
}

// fixable returns the changed files that a fix may write, relative to the root. These are the
// files that the check's findings name. If there are no findings, or the check had more to report,
// they are all files with one of the fix's endings.
func (w *run) fixable() []string {
	named := map[string]bool{}
	all := !w.last.explained() || len(w.last.report.Findings) == 0
	for _, f := range w.last.report.Findings {
		named[f.Path] = true
	}
	var files []string
	for _, f := range w.root.files {
		if !isIn(w.root.dir, f) || !all && !named[path.Join(w.e.prefix, f)] {
			continue
		}
		if all && !hasEnding(f, w.chosen.fix.endings) {
			continue
		}
		if info, err := w.where.project.root.Lstat(f); err == nil && info.Mode().IsRegular() {
			files = append(files, argument(strings.TrimPrefix(f, w.root.dir+"/")))
		}
	}
	return files
}

// hasEnding reports whether a file's name ends with one of these, in upper or lower case.
func hasEnding(name string, endings []string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(name, e) })
}

// argument returns a file's name as an argument: a name is never an option.
func argument(name string) string {
	if strings.HasPrefix(name, "-") {
		return "./" + name
	}
	return name
}

// kept is a file as it was before a fix.
type kept struct {
	text []byte
	info fs.FileInfo
}

// keep returns the files of a directory that a fix may write, without the changed ones. ok is false
// if one of them cannot be read or is too large, or if they are too large together.
func (p *project) keep(dir string, endings, changed []string) (files map[string]kept, ok bool) {
	files = map[string]kept{}
	total := 0
	for subdirectory, here := range p.snapshot(dir, nil) {
		for _, f := range here {
			name := path.Join(dir, subdirectory, f.name)
			if slices.Contains(changed, name) || !hasEnding(name, endings) {
				continue
			}
			info, err := p.root.Lstat(name)
			if err != nil {
				continue
			}
			text, ok := p.text(name)
			total += len(text)
			if !ok || total > maxTexts {
				return nil, false
			}
			files[name] = kept{text, info}
		}
	}
	return files, true
}

// putBack makes files what they were, and returns the names of those that it could not. A
// program that the fix started may still run, and put a link in a file's place. Each file is
// therefore written anew and renamed, so that nothing is written through a link.
func (p *project) putBack(files map[string]kept) (failed []string) {
	for name, f := range files {
		now, err := p.root.Lstat(name)
		if err == nil && now.Mode() == f.info.Mode() && now.Size() == f.info.Size() && now.ModTime().Equal(f.info.ModTime()) {
			continue
		}
		if err := p.replace(name, f); err != nil {
			failed = append(failed, name)
		}
	}
	slices.Sort(failed)
	return failed
}

func (p *project) replace(name string, f kept) error {
	temporary := path.Join(path.Dir(name), ".airlock-"+path.Base(name))
	w, err := p.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = w.Write(f.text)
	if err = cmp.Or(err, w.Close()); err == nil {
		err = p.takeOwner(temporary, f.info)
	}
	if err == nil {
		err = p.root.Chmod(temporary, f.info.Mode().Perm())
	}
	if err == nil {
		err = p.root.Chtimes(temporary, f.info.ModTime(), f.info.ModTime())
	}
	if err == nil {
		err = p.root.Rename(temporary, name)
	}
	if err != nil {
		_ = p.root.Remove(temporary) // the first error counts
	}
	return err
}

// fixesCopy reports whether fixes run in a copy that nobody keeps. Their changes have to be carried
// over then.
func (e *engine) fixesCopy() bool { return e.config.Scratch && !e.config.CheckOnly }

// collectFixed records which of a root's changed files a check has fixed, if fixes are to be
// carried over. If the project's own script has written other files of the copy as well, these are
// not carried over.
func (e *engine) collectFixed(r *rootRun, w *run) {
	if r.texts == nil || !w.isStyle() || w.before == nil {
		return
	}
	after := e.project.texts(r.files)
	e.mu.Lock()
	defer e.mu.Unlock()
	for name, before := range r.texts {
		if text, ok := after[name]; ok && !bytes.Equal(before, text) {
			e.fixed[name] = FixedFile{path.Join(e.prefix, name), before, text}
		} else {
			delete(e.fixed, name)
		}
	}
	var others []string
	w.out.Rewritten = slices.DeleteFunc(w.out.Rewritten, func(name string) bool {
		_, changed := r.texts[path.Join(r.dir, name)]
		if !changed {
			others = append(others, name)
		}
		return !changed
	})
	if len(others) > 0 {
		w.note("the fix also changes files that are not part of the change, or that are too large; they stay as they were: %s", list3(others))
	}
}

// list3 returns the first three of some names, and how many more there are.
func list3(names []string) string {
	shown := strings.Join(names[:min(len(names), 3)], ", ")
	if more := len(names) - 3; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	return shown
}
