package gitrepo

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strconv"

	"github.com/agent-airlock/airlock/internal/text"
)

// patch is the change of one mail, or the one of a file that is no mail.
type patch struct {
	author  Person
	message string
	text    []byte // the diffs, with what git apply passes over
	strip   int    // how many elements of its paths are no part of them
	where   string // the file, or the mail in it, for messages
	line    int    // of the file, at which text begins; 0: not known
}

// mailStart is how a mailbox, or a single mail, begins.
var mailStart = regexp.MustCompile(`^(From \S.*[0-9]:[0-9][0-9]|(From|Subject|Date|Message-I[dD]|MIME-Version|Return-Path): )`)

// readPatches reads a file's patches, in order. Mails without one, such as a
// cover letter, are noted.
func (r *Repo) readPatches(ctx context.Context, src FileSource) (patches []patch, notes []string, err error) {
	if len(src.Data) > maxPatch {
		return nil, nil, fmt.Errorf("%w: %q has %s, and a patch at most %s", ErrTooLarge, src.Name, text.Bytes(len(src.Data)), text.Bytes(maxPatch))
	}
	if bytes.HasPrefix(src.Data, []byte("\xff\xfe")) || bytes.HasPrefix(src.Data, []byte("\xfe\xff")) {
		return nil, nil, fmt.Errorf("%q is UTF-16 text, as PowerShell writes it: write it by 'git diff --binary --output=FILE'", src.Name)
	}
	data := endLines(bytes.TrimPrefix(src.Data, []byte("\xef\xbb\xbf")))
	blank := len(data) - len(bytes.TrimLeft(data, " \t\r\n"))
	if blank == len(data) {
		return nil, nil, nil
	}
	if !mailStart.Match(data[blank:]) {
		patches = []patch{{text: data, where: strconv.Quote(src.Name), line: 1}}
	} else if patches, notes, err = r.readMails(ctx, src.Name, data[blank:], 1+bytes.Count(data[:blank], []byte{'\n'})); err != nil {
		return nil, nil, err
	}
	for i := range patches {
		if err := r.checkPatch(ctx, &patches[i]); err != nil {
			return nil, nil, err
		}
		if words := submodule.Find(patches[i].text); words != nil {
			notes = append(notes, fmt.Sprintf("%s describes a submodule in words, which is left out: %.100q ('git diff --submodule=short' writes it)", patches[i].where, words))
		}
	}
	return patches, notes, nil
}

// endLines ends the last line, which git apply asks for, and takes back the
// line ends of a file that was made CRLF as a whole: git writes its own lines
// with LF even where a file has CRLF.
func endLines(data []byte) []byte {
	if len(data) > 0 && data[len(data)-1] != '\n' {
		data = append(data[:len(data):len(data)], '\n')
	}
	for _, head := range []string{"\ndiff --git ", "\n--- "} {
		from := bytes.Index(data, []byte(head))
		if bytes.HasPrefix(data, []byte(head[1:])) {
			from = 0
		}
		if from < 0 {
			continue
		}
		if line, _, _ := bytes.Cut(data[from+1:], []byte{'\n'}); bytes.HasSuffix(line, []byte{'\r'}) {
			return bytes.ReplaceAll(data, []byte("\r\n"), []byte{'\n'})
		}
		break
	}
	return data
}
