package scaffold

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/text"
)

// record lists what an earlier run wrote, so that a later run does not overwrite what people have
// edited since. The record is a file of the repository. Whoever can change the other files can
// change it as well, so it does not protect against people.
type record struct {
	Airlock string            `json:"airlock"` // the version that wrote it
	Answers Answers           `json:"answers"`
	Files   map[string]string `json:"files"` // path → SHA-256 of what was written, or "section"
}

// ReadAnswers returns the answers of an earlier run in the work tree, and whether there are any.
func ReadAnswers(dir *action.Dir) (Answers, bool, error) {
	w := &writer{dir: dir}
	err := w.readRecord()
	return w.record.Answers, w.record.Files != nil, err
}

func (w *writer) readRecord() error {
	data, err := w.read(recordFile)
	if err != nil || data == nil {
		return err
	}
	err = json.Unmarshal(data, &w.record)
	_, otherType := errors.AsType[*json.UnmarshalTypeError](err)
	if otherType || err == nil && w.record.Answers.nothing() {
		err = errors.New("it is not what 'airlock init' writes")
	}
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w\nremove it; without it, every file that differs counts as edited by you", recordFile, err)
	}
	if w.record.Files == nil {
		w.record.Files = map[string]string{}
	}
	return nil
}

// isUnedited reports whether a text is what an earlier run wrote.
func (w *writer) isUnedited(path string, text []byte) bool {
	return w.record.Files[path] == digest(text)
}

// noteUnneeded notes which files of an earlier run are no longer needed with the present answers.
func (w *writer) noteUnneeded(files []file) {
	for _, path := range slices.Sorted(maps.Keys(w.record.Files)) {
		if !slices.ContainsFunc(files, func(f file) bool { return f.path == path }) {
			what := "is"
			if w.record.Files[path] == "section" {
				what = "has a section that is"
			}
			w.notes = append(w.notes, fmt.Sprintf("%s %s of an earlier run and no longer needed: remove it.", text.Truncate(text.OneLine(path), 200), what))
		}
	}
}

// maxWorkflows bounds the directory of the workflows that noteOtherGates reads, in entries.
const maxWorkflows = 1000

// noteOtherGates notes agentic workflows, which have a gate of their own. Such a workflow is a
// Markdown file with a compiled file of its name. It notes nothing if the directory cannot be
// read, or if the answers let agents do nothing.
func (w *writer) noteOtherGates() {
	names, _ := w.dir.List(path.Dir(agentWorkflow), maxWorkflows)
	var others []string
	for _, name := range names {
		stem, compiled := strings.CutSuffix(name, ".lock.yml")
		if compiled && slices.Contains(names, stem+".md") {
			others = append(others, path.Dir(agentWorkflow)+"/"+stem+".md")
		}
	}
	if len(others) > 0 && len(w.cfg.Answers.Allow) > 0 {
		w.notes = append(w.notes, fmt.Sprintf("Here are agentic workflows, which go on with a gate of their own: %s. Where one starts on the same events, two agents answer. What Airlock would honour of one, 'airlock validate --config FILE' says.", text.QuoteList(others)))
	}
}

// writeRecord records what was written now. It keeps the entries of files that a person has edited, and
// drops those of files that are no longer needed.
func (w *writer) writeRecord(files []file, results []Result) error {
	next := record{Airlock: w.cfg.Release.Version, Answers: w.cfg.Answers, Files: map[string]string{}}
	for i, f := range files {
		switch known := w.record.Files[f.path]; {
		case f.section:
			next.Files[f.path] = "section"
		case results[i].State == Edited || results[i].State == Yours:
			if known != "" {
				next.Files[f.path] = known
			}
		default:
			next.Files[f.path] = digest(f.text)
		}
	}
	text := encode(next, "  ")
	if current, err := w.read(recordFile); err != nil || string(current) == string(text) {
		return err
	}
	return w.write(recordFile, text)
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
