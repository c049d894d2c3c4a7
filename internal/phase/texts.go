package phase

import (
	"io"
	"os"
)

// Bounds of the changed files that suggestions are made for, in bytes.
const (
	maxText  = 1 << 20  // of one file
	maxTexts = 64 << 20 // of all in a root
)

// stamps looks at the changed files, relative to the working directory, as they
// are now. Those that are no regular files are left out.
func (p *project) stamps(files []string) snapshot {
	s := snapshot{}
	for _, f := range files {
		if info, err := p.at.Lstat(f); err == nil && info.Mode().IsRegular() {
			s[f] = stamp{info.ModTime(), info.Size()}
		}
	}
	return s
}

// texts reads files, as far as they are regular and small enough. What stands in
// the working directory may have been put there by a stranger's program: a link
// is not followed.
func (p *project) texts(files []string) map[string][]byte {
	texts := map[string][]byte{}
	total := 0
	for _, f := range files {
		if text, ok := p.text(f); ok && total+len(text) <= maxTexts {
			texts[f], total = text, total+len(text)
		}
	}
	return texts
}

func (p *project) text(name string) ([]byte, bool) {
	looked, err := p.at.Lstat(name)
	if err != nil || !looked.Mode().IsRegular() || looked.Size() > maxText {
		return nil, false
	}
	f, err := p.open(name)
	if err != nil {
		return nil, false
	}
	defer f.Close() //nolint:errcheck // it was only read
	opened, err := f.Stat()
	if err != nil || !os.SameFile(looked, opened) {
		return nil, false
	}
	text := make([]byte, opened.Size())
	if _, err := io.ReadFull(f, text); err != nil {
		return nil, false // it is shorter now: somebody writes it
	}
	return text, true
}
