package scaffold

import (
	"bytes"
	"errors"
)

// The markers of our section in a file of instructions, which is otherwise a person's.
const (
	sectionBegin = "<!-- airlock:begin -->"
	sectionEnd   = "<!-- airlock:end -->"
)

// section returns our section. Agents read the file without being asked to.
func section() []byte {
	return []byte(sectionBegin + "\n" +
		"## When you run in the workflow \"Airlock\"\n\n" +
		"There you cannot write to GitHub, and you have no token. Ask instead, as your prompt says: by the\n" +
		"tools of the server `airlock`, or by lines in `" + linesFile + "`. Leave `.airlock` and\n" +
		"`.github` as they are: changes to them are refused.\n" +
		sectionEnd + "\n")
}

// mergeSection returns a file's text with our section, in the text's line endings. The section
// replaces an earlier one of ours, or else comes at the end. Everything else stays byte for byte.
// It fails unless the text has each marker once, in their order, or neither. It also fails if the
// text has a NUL, as UTF-16 does.
func mergeSection(text, section []byte) ([]byte, error) {
	if bytes.IndexByte(text, 0) >= 0 {
		return nil, errors.New("it is not UTF-8, so no section can be added to it: save it in UTF-8")
	}
	begins, ends := bytes.Count(text, []byte(sectionBegin)), bytes.Count(text, []byte(sectionEnd))
	newline := []byte("\n")
	if bytes.Contains(text, []byte("\r\n")) {
		newline = []byte("\r\n")
		section = bytes.ReplaceAll(section, []byte("\n"), newline)
	}
	if begins == 0 && ends == 0 {
		switch {
		case len(text) == 0:
			return section, nil
		case !bytes.HasSuffix(text, []byte("\n")):
			text = append(bytes.Clone(text), newline...)
		}
		return bytes.Join([][]byte{text, section}, newline), nil
	}
	from, to := bytes.Index(text, []byte(sectionBegin)), bytes.Index(text, []byte(sectionEnd))
	if begins != 1 || ends != 1 || to < from {
		return nil, errors.New("its section for Airlock has no clear beginning and end: remove the lines " + sectionBegin + " and " + sectionEnd + " with what is between them")
	}
	return bytes.Join([][]byte{text[:from], bytes.TrimSuffix(section, newline), text[to+len(sectionEnd):]}, nil), nil
}
