package apply

import (
	"errors"
	"fmt"
)

// maxSourceReads is how many files are asked of GitHub for line hashes: a
// workflow's token has 1,000 requests an hour for everything.
const maxSourceReads = 50

// sources reads the files that security reports are about, for the hashes by
// which code scanning recognises an alert whose line has moved. Which files those
// are is known when the reports are prepared, so it prepares them once for it.
func (o *observer) sources() {
	if len(o.need.reports) == 0 || o.w.Source == nil && o.w.GitHub == nil {
		return
	}
	o.s.sources = map[string]string{}
	commit, _ := analysed(o.ev, o.s.pulls[o.ev.Number].pull.Head.SHA)
	asked, refused := 0, 0
	failed := map[string]bool{}
	_, _ = prepare(o.cfg, o.need.reports, func(path string) ([]byte, error) {
		if text, ok := o.s.sources[path]; ok {
			return []byte(text), nil
		}
		if failed[path] {
			return nil, errNoSource
		}
		data, err := []byte(nil), errNoSource
		if o.w.Source != nil && commit != "" {
			data, err = o.w.Source.ReadFile(commit, path)
		}
		if err != nil && o.w.GitHub != nil && commit != "" {
			if asked++; asked > maxSourceReads {
				refused++
				failed[path] = true
				return nil, errNoSource
			}
			data, err = o.w.GitHub.GetFile(o.ctx, o.repo, path, commit)
		}
		if failed[path] = err != nil; err == nil {
			o.s.sources[path] = string(data)
		}
		return data, err
	})
	if refused > 0 {
		o.s.unchecked = append(o.s.unchecked, fmt.Sprintf("the lines of alerts in %d files: only %d files are asked of GitHub, so those alerts may appear anew when lines move", refused, maxSourceReads))
	}
}

var errNoSource = errors.New("the file was not read")
