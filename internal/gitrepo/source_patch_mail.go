package gitrepo

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// readMails takes a mailbox apart, which begins at a line of the file.
func (r *Repo) readMails(ctx context.Context, name string, data []byte, line int) (patches []patch, notes []string, err error) {
	if n := bytes.Count(data, []byte("\nFrom ")); n > maxMails {
		return nil, nil, fmt.Errorf("%w: %q has %d mails, and at most %d are read", ErrTooLarge, name, n, maxMails)
	}
	dir, remove, err := r.scratch()
	if err != nil {
		return nil, nil, err
	}
	defer remove()
	if _, err := r.gitWith(ctx, call{stdin: bytes.NewReader(data)}, "mailsplit", "-b", "-d8", "--keep-cr", "-o"+dir); err != nil {
		return nil, nil, fmt.Errorf("%q cannot be read as mails: %w", name, err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	for i, f := range files {
		mail, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return nil, nil, err
		}
		p, err := r.readMail(ctx, dir, mail)
		p.where = strconv.Quote(name)
		if len(files) > 1 {
			p.where = fmt.Sprintf("mail %d of %q", i+1, name)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s (from line %d) cannot be read: %w", p.where, line, err)
		}
		if bytes.HasSuffix(mail, p.text) { // else it was encoded
			p.line = line + bytes.Count(mail[:len(mail)-len(p.text)], []byte{'\n'})
		}
		line += bytes.Count(mail, []byte{'\n'})
		switch {
		case !hasDiff(p.text):
			notes = append(notes, fmt.Sprintf("%s holds no patch and is left out: %.100q", p.where, p.message))
		case len(patches) == maxSeries:
			return nil, nil, fmt.Errorf("%w: %q has more than %d patches", ErrTooLarge, name, maxSeries)
		default:
			patches = append(patches, p)
		}
	}
	return patches, notes, nil
}

// readMail decodes a mail and parts it into author, message and diffs.
func (r *Repo) readMail(ctx context.Context, dir string, mail []byte) (patch, error) {
	body, text := filepath.Join(dir, "~message"), filepath.Join(dir, "~patch")
	a, err := r.gitWith(ctx, call{stdin: bytes.NewReader(mail), limit: 1 << 20}, "mailinfo", "-b", "-u", "--no-scissors", "--quoted-cr=nowarn", body, text)
	if err != nil {
		return patch{}, err
	}
	var p patch
	head := map[string]string{}
	for line := range strings.Lines(string(a.out)) {
		key, value, _ := strings.Cut(strings.TrimRight(line, "\n"), ": ")
		head[key] = value
	}
	p.author = Person{Name: head["Author"], Email: head["Email"]}
	message, err := os.ReadFile(body)
	if err != nil {
		return patch{}, err
	}
	p.message = strings.TrimSpace(head["Subject"] + "\n\n" + string(message))
	p.text, err = os.ReadFile(text)
	return p, err
}
