package agentchanges

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/text"
)

// Limits of a patch file.
const (
	maxPatch      = 128 << 20 // bytes
	maxPatchFile  = 100 << 20 // bytes of a binary file in it; GitHub accepts no larger one
	maxPatchFiles = 256 << 20 // bytes of all binary files in it together, uncompressed
	maxMails      = 10_000    // if more than maxSeries of them change something, they become one change
	maxNamedBases = 10        // commits that base-commit lines name
)

// patch is the change in one mail, or in a file that is not a mail.
type patch struct {
	author  gitrepo.Person
	message string
	text    []byte // the diffs, with lines that git apply ignores
	strip   int    // how many leading elements of its paths git apply has to remove
	where   string // the file, or the mail in it, for messages
	line    int    // of the file, at which text begins; 0: not known
}

// patches reads a file of patches and applies them to the first base that they fit.
func (r reader) patches(ctx context.Context, cfg FileConfig) (gitrepo.Series, error) {
	patches, notes, err := r.readPatches(ctx, cfg.Name, cfg.Data)
	if err != nil {
		return gitrepo.Series{}, err
	}
	named := namedBases(cfg.Data)
	candidates := slices.Concat(named, cfg.Bases)
	bases, err := r.existing(ctx, candidates)
	if err != nil {
		return gitrepo.Series{}, err
	}
	if len(bases) == 0 {
		return gitrepo.Series{}, r.noBase(candidates)
	}
	s, err := r.applyToAny(ctx, patches, bases)
	if err != nil {
		return gitrepo.Series{}, err
	}
	if len(named) > 0 && !slices.Contains(named, s.Base) {
		notes = append(notes, fmt.Sprintf("%q says that it was made from %s; it was applied to %s instead", cfg.Name, named[0], s.Base))
	}
	s.Notes = append(notes, s.Notes...)
	return s, nil
}

// namedBases returns the commits that base-commit lines name, which git format-patch --base
// writes at the end of a mail.
func namedBases(data []byte) []string {
	var oids []string
	for line := range bytes.Lines(data) {
		if oid, ok := bytes.CutPrefix(line, []byte("base-commit: ")); ok {
			if oid := strings.TrimSpace(string(oid)); gitrepo.IsObjectID(oid) && !slices.Contains(oids, oid) && len(oids) < maxNamedBases {
				oids = append(oids, oid)
			}
		}
	}
	return oids
}

var (
	// mailStart is how a mailbox, or a single mail, begins.
	mailStart = lazyregexp.New(`^(From \S.*[0-9]:[0-9][0-9]|(From|Subject|Date|Message-I[dD]|MIME-Version|Return-Path): )`)
	// firstDiff is the beginning of a diff, by git or by diff -u.
	firstDiff = lazyregexp.New(`(?m)^(diff --git |--- .*\n\+\+\+ )`)
	// binarySize is the line before the content of a binary file, with its size.
	binarySize = lazyregexp.New(`(?m)^(?:literal|delta) ([0-9]+)$`)
	// combined is the beginning of a merge's diff against all its parents.
	combined = lazyregexp.New(`(?m)^diff --(?:cc|combined) `)
	// submodule is what git diff --submodule=log writes instead of a diff.
	submodule = lazyregexp.New(`(?m)^Submodule .* [0-9a-f]{7,64}\.\.\.?[0-9a-f]{7,64}`)
	// inWords matches a line of diff -r about a file of which it writes no diff.
	inWords = lazyregexp.New(`(?m)^(?:Binary files .+ and .+ differ|Only in .+: .+)$`)
	// hunkHeader is the line at which a hunk begins, with its counts of lines before and after.
	hunkHeader = lazyregexp.New(`^@@ -[0-9]+(?:,([0-9]+))? \+[0-9]+(?:,([0-9]+))? @@`)
	// lineNumber finds the line of the patch that an error of git apply names.
	lineNumber = lazyregexp.New(`^(.*?)(?: \(| at | on )?line ([0-9]+)\)?(.*)$`)
)

// readPatches reads a file's patches, in order. The notes say what is left out, such as a mail
// without a patch.
func (r reader) readPatches(ctx context.Context, name string, data []byte) (patches []patch, notes []string, err error) {
	if len(data) > maxPatch {
		return nil, nil, fmt.Errorf("%w: %q has %s, and a patch at most %s", gitrepo.ErrTooLarge, name, text.Bytes(len(data)), text.Bytes(maxPatch))
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return nil, nil, fmt.Errorf("%q is UTF-16 text, as PowerShell writes it: write it by 'git diff --binary --output=FILE'", name)
	}
	data = normalizeLines(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	blank := len(data) - len(bytes.TrimLeft(data, " \t\r\n"))
	if blank == len(data) {
		return nil, nil, nil
	}
	if !mailStart.Match(data[blank:]) {
		patches = []patch{{text: data, where: strconv.Quote(name), line: 1}}
	} else if patches, notes, err = r.readMails(ctx, name, data[blank:], lineAt(data, blank)); err != nil {
		return nil, nil, err
	}
	left := maxPatchFiles
	for i := range patches {
		p := &patches[i]
		if err := r.check(ctx, p, &left); err != nil {
			return nil, nil, err
		}
		if words := submodule.Find(p.text); words != nil {
			notes = append(notes, fmt.Sprintf("%s describes a submodule in words, which is left out: %.100q ('git diff --submodule=short' writes it)", p.where, words))
		}
		if all := inWords.FindAllSubmatchIndex(p.text, -1); len(all) > 0 {
			notes = append(notes, fmt.Sprintf("%s only mentions some changes, without their content (%d, the first is %.100q): 'git diff --binary' writes the content",
				p.where, len(all), p.text[all[0][0]:all[0][1]]))
		}
	}
	return patches, notes, nil
}

// lineAt returns the number of the line at an offset, from 1.
func lineAt(data []byte, offset int) int { return 1 + bytes.Count(data[:offset], []byte{'\n'}) }

// normalizeLines adds a missing newline at the end, because git apply requires it. It also removes
// the CRs at the ends of all lines if the first header line has one: git writes headers with LF
// even in a diff of a file with CRLF.
func normalizeLines(data []byte) []byte {
	if len(data) > 0 && data[len(data)-1] != '\n' {
		data = append(data[:len(data):len(data)], '\n')
	}
	line := firstLine(data, "diff --git ")
	if line == nil {
		line = firstLine(data, "--- ")
	}
	if bytes.HasSuffix(line, []byte{'\r'}) {
		return bytes.ReplaceAll(data, []byte("\r\n"), []byte{'\n'})
	}
	return data
}

// firstLine returns the first line that begins with a prefix, without its LF; nil if there is none.
func firstLine(data []byte, prefix string) []byte {
	if !bytes.HasPrefix(data, []byte(prefix)) {
		i := bytes.Index(data, []byte("\n"+prefix))
		if i < 0 {
			return nil
		}
		data = data[i+1:]
	}
	line, _, _ := bytes.Cut(data, []byte{'\n'})
	return line
}

// readMails splits a mailbox, and reads its mails. line is the number of the file's line at which
// the mailbox begins.
func (r reader) readMails(ctx context.Context, name string, data []byte, line int) (patches []patch, notes []string, err error) {
	if n := 1 + bytes.Count(data, []byte("\nFrom ")); n > maxMails {
		return nil, nil, fmt.Errorf("%w: %q has %d mails, and at most %d are read", gitrepo.ErrTooLarge, name, n, maxMails)
	}
	dir, remove, err := r.repo.TempDir()
	if err != nil {
		return nil, nil, err
	}
	defer remove()
	if _, err := r.repo.Run(ctx, gitrepo.Call{Stdin: bytes.NewReader(data)}, "mailsplit", "-b", "-d8", "--keep-cr", "-o"+dir); err != nil {
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
		if bytes.HasSuffix(mail, p.text) { // otherwise it was encoded
			p.line = line - 1 + lineAt(mail, len(mail)-len(p.text))
		}
		line += bytes.Count(mail, []byte{'\n'})
		if firstDiff.Match(p.text) {
			patches = append(patches, p)
		} else {
			notes = append(notes, fmt.Sprintf("%s contains no patch and is left out: %.100q", p.where, p.message))
		}
	}
	return patches, notes, nil
}

// readMail decodes a mail and splits it into author, message and diffs.
func (r reader) readMail(ctx context.Context, dir string, mail []byte) (patch, error) {
	messageFile, patchFile := filepath.Join(dir, "~message"), filepath.Join(dir, "~patch")
	out, err := r.repo.Run(ctx, gitrepo.Call{Stdin: bytes.NewReader(mail), Limit: 1 << 20}, "mailinfo", "-b", "-u", "--no-scissors", "--quoted-cr=nowarn", messageFile, patchFile)
	if err != nil {
		return patch{}, err
	}
	header := map[string]string{}
	for line := range strings.Lines(string(out.Stdout)) {
		key, value, _ := strings.Cut(strings.TrimRight(line, "\n"), ": ")
		header[key] = value
	}
	message, err := os.ReadFile(messageFile)
	if err != nil {
		return patch{}, err
	}
	diffs, err := os.ReadFile(patchFile)
	return patch{
		author:  gitrepo.Person{Name: header["Author"], Email: header["Email"]},
		message: strings.TrimSpace(header["Subject"] + "\n\n" + string(message)),
		text:    diffs,
	}, err
}

// check returns an error for a patch that git cannot read or that exceeds a limit, and sets
// p.strip. It subtracts the sizes of the patch's binary files from *left.
func (r reader) check(ctx context.Context, p *patch, left *int) error {
	if !firstDiff.Match(p.text) {
		if bytes.Contains(p.text, []byte("\x1b[")) {
			return fmt.Errorf("%s has the colors of a terminal, with which git cannot read it: write it by 'git diff --no-color --binary BASE'", p.where)
		}
		return fmt.Errorf("%s contains no patch: 'git format-patch --stdout BASE..' or 'git diff --binary BASE' writes one", p.where)
	}
	for _, m := range binarySize.FindAllSubmatchIndex(p.text, -1) {
		n, err := strconv.Atoi(string(p.text[m[2]:m[3]]))
		if err != nil || n > maxPatchFile {
			return fmt.Errorf("%w: %s: a file of %s bytes, and a patch's file may have at most %d", gitrepo.ErrTooLarge,
				p.place(lineAt(p.text, m[0])), p.text[m[2]:m[3]], maxPatchFile)
		}
		if *left -= n; *left < 0 {
			return fmt.Errorf("%w: %s: up to here the binary files have more than %s together, which is the limit for a patch; a bundle may have more ('git bundle create FILE BASE..HEAD')",
				gitrepo.ErrTooLarge, p.place(lineAt(p.text, m[0])), text.Bytes(maxPatchFiles))
		}
	}
	if m := combined.FindIndex(p.text); m != nil { // git apply would ignore it
		return fmt.Errorf("%s: the diff of a merge against all its parents cannot be applied: 'git diff --binary BASE' writes one that can",
			p.place(lineAt(p.text, m[0])))
	}
	strip, line, err := findStrip(p.text)
	if err != nil {
		return fmt.Errorf("%s: %w", p.place(line), err)
	}
	p.strip = strip
	out, err := r.repo.Run(ctx, gitrepo.Call{Stdin: bytes.NewReader(p.text), MaxExit: gitrepo.AnyExit}, "apply", "--numstat", "-z", p.stripOption(), "-")
	if err == nil && out.ExitCode != 0 {
		err = p.refused(out)
	}
	if line := lineAfterHunk(p.text); err == nil && line > 0 {
		err = fmt.Errorf("%s: by its @@ line, the hunk before has ended, so that git would drop this line: write the patch again by 'git diff'", p.place(line))
	}
	return err
}

// lineAfterHunk returns the number of the first line that looks added or removed, but comes after
// a hunk that already has all the lines that its header announces. It returns 0 if there is no
// such line. git takes such a line for words between two diffs. The diffs must be ones that git
// can read.
func lineAfterHunk(diffs []byte) int {
	n, before, after := 0, 0, 0 // before and after are how many lines the hunk still has
	follows := false            // the lines since a hunk look like more of it
	for line := range bytes.Lines(diffs) {
		n++
		switch {
		case before > 0 || after > 0:
			if line[0] != '+' && line[0] != '\\' {
				before--
			}
			if line[0] != '-' && line[0] != '\\' {
				after--
			}
			follows = true
		case bytes.HasPrefix(line, []byte("@@ -")):
			if m := hunkHeader.FindStringSubmatch(string(line)); m != nil {
				before, after = lineCount(m[1]), lineCount(m[2])
			}
		case follows && (line[0] == '+' || line[0] == '-' && !bytes.HasPrefix(line, []byte("--"))): // "--" begins a header or a mail's signature
			return n
		default:
			follows = follows && (line[0] == ' ' || line[0] == '\\')
		}
	}
	return 0
}

// lineCount reads a count of a hunk's header, which is 1 where there is none.
func lineCount(digits string) int {
	if n, err := strconv.Atoi(digits); err == nil {
		return n
	}
	return 1
}

// place returns where a line of the patch's text is, for messages. Lines count from 1; 0 means
// that the line is not known.
func (p *patch) place(line int) string {
	if p.line == 0 || line == 0 {
		return p.where
	}
	return fmt.Sprintf("%s, line %d", p.where, p.line+line-1)
}

// stripOption returns the option of git apply that says how many elements to remove from paths.
func (p *patch) stripOption() string { return "-p" + strconv.Itoa(p.strip) }

// refused returns the error for a patch that git does not accept.
func (p *patch) refused(out gitrepo.Output) error {
	reason := firstError(out.Stderr)
	if m := lineNumber.FindStringSubmatch(reason); m != nil {
		line, _ := strconv.Atoi(m[2])
		return fmt.Errorf("%s: git says %.300q: the file is cut off, or was edited; write it again", p.place(line), strings.TrimSpace(m[1]+m[3]))
	}
	if strings.HasPrefix(reason, "invalid path") {
		return fmt.Errorf("%s leaves the repository or writes where git keeps its own files: %.300q", p.where, reason)
	}
	return fmt.Errorf("%s: git says %.300q", p.where, reason)
}

// firstError returns the first error that git printed, without its prefix, or all that git printed
// if no line has the prefix of an error.
func firstError(stderr string) string {
	for line := range strings.Lines(stderr) {
		for _, prefix := range []string{"error: ", "fatal: "} {
			if reason, ok := strings.CutPrefix(strings.TrimSpace(line), prefix); ok {
				return reason
			}
		}
	}
	return strings.TrimSpace(stderr)
}

var errMixed = errors.New("paths with and without a prefix (a/ and b/) are mixed: write the complete patch with one 'git diff'")

// findStrip finds out how many elements git apply has to remove from the paths of a patch: 1
// for a/ and b/ and whatever else a configuration puts there, 0 for --no-prefix. Guessing
// wrong would put a new file into another directory. line is where the error is.
func findStrip(diffs []byte) (strip, line int, err error) {
	strip = -1
	lines := bytes.Split(diffs, []byte{'\n'})
	for i, l := range lines {
		names, ok := strings.CutPrefix(string(l), "diff --git ")
		if !ok {
			continue
		}
		ofThis := 1
		if withoutPrefix(names, lines[i+1:]) {
			ofThis = 0
		}
		if strip >= 0 && strip != ofThis {
			return 0, i + 1, errMixed
		}
		strip = ofThis
	}
	if strip >= 0 {
		return strip, 0, nil
	}
	for i, l := range lines {
		if old, ok := bytes.CutPrefix(l, []byte("--- ")); ok && i+1 < len(lines) && bytes.HasPrefix(lines[i+1], []byte("+++ ")) {
			return stripOfPair(cutTime(old), cutTime(lines[i+1][len("+++ "):])), 0, nil
		}
	}
	return 1, 0, nil
}

// withoutPrefix reports whether the two names after "diff --git" have no prefix: the two are
// equal, or a line "rename from" or "copy from" below names the first one.
func withoutPrefix(names string, following [][]byte) bool {
	if half := len(names) / 2; len(names)%2 == 1 && names[half] == ' ' && names[:half] == names[half+1:] {
		return true
	}
	for _, l := range following {
		line := string(l)
		switch {
		case strings.HasPrefix(line, "diff --git "), strings.HasPrefix(line, "@@ "), strings.HasPrefix(line, "--- "):
			return false
		}
		for _, prefix := range []string{"rename from ", "copy from "} {
			if old, ok := strings.CutPrefix(line, prefix); ok {
				return strings.HasPrefix(names, old+" ")
			}
		}
	}
	return false
}

// stripOfPair does what findStrip does, from the two names of a diff that is not git's.
func stripOfPair(before, after string) int {
	if before == "/dev/null" {
		before = after
	}
	if after == "/dev/null" {
		after = before
	}
	// Names with prefixes differ, such as a/x and b/x, or old/x and new/x.
	if before != after || strings.HasPrefix(before, "a/") || strings.HasPrefix(before, "b/") {
		return 1
	}
	return 0
}

// cutTime removes the time that diff -u writes after a name.
func cutTime(line []byte) string {
	name, _, _ := strings.Cut(string(line), "\t")
	return strings.TrimSpace(name)
}
