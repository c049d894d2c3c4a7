package config

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/agent-airlock/airlock/internal/sanitize"
	"github.com/agent-airlock/airlock/internal/text"
)

// Limits of what a front matter imports, directly and through other files.
const (
	maxImports     = 64
	maxImportDepth = 8
	maxImportBytes = 4 << 20 // of all files together
)

// importReader reads a file that a front matter imports. name is relative to the repository's root,
// with slashes.
type importReader func(name string) ([]byte, error)

// importing follows the imports of one front matter.
type importing struct {
	d     *decoder
	file  string                  // the front matter's own, by its name in the repository
	read  importReader            // nil where there is nothing to read from
	seen  map[string]*importEntry // what was imported, by the file's name
	files int                     // how many were read
	bytes int                     // of all of them
}

// follow merges the safe-outputs of the imported files into the entries of the front matter's
// safe-outputs, and returns the merged entries. A kind or setting of the importing file wins, then
// that of the file imported first; lists of hosts add up.
func (d *decoder) follow(doc document, file string, read importReader, entries []entry) []entry {
	if !doc.frontMatter {
		return entries
	}
	file = path.Clean(file)
	im := &importing{d: d, file: file, read: read, seen: map[string]*importEntry{file: {}}}
	return im.merge(doc, file, entries, 0)
}

// merge returns a file's entries below safe-outputs together with those of the files that it
// imports.
func (im *importing) merge(doc document, file string, entries []entry, depth int) []entry {
	entries = im.d.withNetwork(doc.root.entries, entries)
	for _, one := range importsOf(doc) {
		im.d.checkImport(one.item)
		imported, name := im.load(one, file, depth)
		if imported == nil {
			continue
		}
		var theirs []entry
		if indexOf(imported.root.entries, "safe-outputs") >= 0 {
			var ok bool
			if theirs, ok = im.d.safeOutputs(*imported); !ok {
				continue
			}
		}
		theirs = im.merge(*imported, name, theirs, depth+1)
		found := text.Count(len(theirs), "key") + " below safe-outputs"
		if one.with != nil {
			found += ", with its inputs filled in"
		}
		im.d.record(one.file, Honoured, "imports: %s: %s", name, found)
		entries = im.mergeEntries(entries, theirs)
	}
	return entries
}

// importEntry is one entry of "imports".
type importEntry struct {
	item *node // the entry itself
	file *node // the text that names the file; nil for none
	with *node // a mapping of inputs; nil for none
}

// importsOf returns what a front matter imports.
func importsOf(doc document) []importEntry {
	i := indexOf(doc.root.entries, "imports")
	if i < 0 {
		return nil
	}
	value := &doc.root.entries[i].value
	var items []*node
	if value.kind == mapNode {
		if value.valueOf("uses") != nil || value.valueOf("path") != nil { // imports: {uses: a.md}
			items = append(items, value)
		}
		value = value.valueOf("aw") // imports: {aw: [...]}
	}
	switch {
	case value == nil:
	case value.kind == listNode:
		for n := range value.items {
			items = append(items, &value.items[n])
		}
	default:
		items = append(items, value)
	}
	var out []importEntry
	for _, item := range items {
		if item.kind == nullNode {
			continue
		}
		one := importEntry{item: item, file: item}
		if item.kind == mapNode { // - uses: shared/a.md
			one.file, one.with = cmp.Or(item.valueOf("uses"), item.valueOf("path")), cmp.Or(item.valueOf("with"), item.valueOf("inputs"))
		}
		if one.with != nil && one.with.kind != mapNode { // not inputs
			one.with = nil
		}
		if one.file != nil && one.file.kind != textNode {
			one.file = nil
		}
		out = append(out, one)
	}
	return out
}

// checkImport fails for what importsOf leaves out of an entry: the second of two keys that mean the
// same, and inputs that are not a mapping.
func (d *decoder) checkImport(item *node) {
	for _, names := range [][2]string{{"uses", "path"}, {"with", "inputs"}} {
		first, second := indexOf(item.entries, names[0]), indexOf(item.entries, names[1])
		if first >= 0 && second >= 0 {
			first, second = min(first, second), max(first, second)
			d.fail(item.entries[second].keyNode(), "imports: %s", sameKey(item.entries[second], item.entries[first]))
		}
	}
	if with := cmp.Or(item.valueOf("with"), item.valueOf("inputs")); with != nil && with.kind != mapNode && with.kind != nullNode {
		d.fail(with, "imports: the inputs are a mapping, such as \"with: {name: value}\", not %s", with.describe())
	}
}

// load reads one import of a file. It returns the document to merge and the name of the imported
// file. The document is nil if there is nothing to merge: the file was read before or sets
// nothing, or the import is not followed. In the last case the reason is recorded.
func (im *importing) load(one importEntry, importer string, depth int) (*document, string) {
	at := cmp.Or(one.file, one.item)
	written := quote(at.text)
	if one.file == nil {
		written = at.describe()
	}
	notRead := func(why string) (*document, string) {
		im.d.unreadImports = true
		im.d.record(at, Missing, "imports: %s: %s; copy what it says below safe-outputs, and add \"staged: false\" there: until then everything is only planned (staged)", written, why)
		return nil, ""
	}
	if one.file == nil {
		return notRead("it names no file by a text, such as \"uses: shared/a.md\"")
	}
	spec, _, _ := strings.Cut(at.text, "#")
	spec, optional := strings.CutSuffix(spec, "?")
	name := importName(spec, importer)
	switch {
	case isRemote(spec):
		return notRead("a file of another repository is not read")
	case im.read == nil:
		return notRead("the configuration comes from no file that it could be relative to")
	case strings.Contains(spec, `\`):
		return notRead("a path with a backslash is not read")
	case name == ".." || strings.HasPrefix(name, "../") || path.IsAbs(name):
		return notRead("it leads out of the repository")
	case im.seen[name] != nil:
		if !sameInputs(im.seen[name].with, one.with) {
			im.d.fail(at, "imports: %s is imported more than once, with different inputs; a file is imported once", name)
		}
		return nil, "" // read already, or a cycle: once is enough
	case depth >= maxImportDepth:
		return notRead("the files that import each other are nested more than " + text.Count(maxImportDepth, "file") + " deep")
	case im.files >= maxImports:
		return notRead("more than " + text.Count(maxImports, "file") + " are imported")
	}
	im.seen[name] = &one
	data, err := im.read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && optional:
		im.d.record(at, Ignored, "imports: %s: there is no such file, and the ? says that it need not be there", quote(at.text))
		return nil, ""
	case errors.Is(err, fs.ErrNotExist):
		return notRead("there is no such file in the repository")
	case err != nil:
		return notRead("it cannot be read: " + plainError(err))
	case len(data) > maxBytes:
		return notRead("it is too large")
	case im.bytes+len(data) > maxImportBytes:
		return notRead("the imported files are too large together")
	}
	im.files, im.bytes = im.files+1, im.bytes+len(data)
	return im.parse(data, name, one), name
}

// parse decodes an imported file. It returns nil if there is nothing to merge: the file has no
// front matter, an empty one, or one with problems. It records the problems.
func (im *importing) parse(data []byte, name string, one importEntry) *document {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if _, _, ok := splitFrontMatter(data); !ok {
		return nil // plain text for the prompt
	}
	data, ok := im.resolveInputs(data, name, one)
	if !ok {
		return nil
	}
	doc, err := parseDocument(name, data)
	if problems, ok := errors.AsType[Problems](err); ok {
		for _, p := range problems {
			if one.with != nil {
				p.Message += ", with its inputs filled in"
			}
			im.d.problems = append(im.d.problems, p)
		}
	}
	if err != nil || doc.root.kind != mapNode {
		return nil
	}
	doc.root.setSource(name)
	return &doc
}

// importName returns the name of an imported file: spec is relative to the directory of the
// importing file, or, if it begins with "/" or ".github/", to the repository's root.
func importName(spec, importer string) string {
	if strings.HasPrefix(spec, "/") || strings.HasPrefix(spec, ".github/") {
		return path.Clean(strings.TrimPrefix(spec, "/"))
	}
	return path.Join(path.Dir(importer), spec)
}

// isRemote reports whether an import names a file of another repository, as owner/name/path@ref
// or by a URL.
func isRemote(spec string) bool {
	before, _, versioned := strings.Cut(spec, "@")
	return versioned && strings.Count(before, "/") >= 2 || strings.Contains(spec, "://")
}

// mergeEntries adds entries whose keys are not there yet; lists of hosts add up. A key that the
// added entries themselves have more than once stays there as often, for section to refuse.
func (im *importing) mergeEntries(own, theirs []entry) []entry {
	merged := slices.Clone(own)
	first := map[string]int{} // where own has a key first, by its name
	for i, o := range slices.Backward(own) {
		first[keyName(o.key)] = i
	}
	for _, e := range theirs {
		name := keyName(e.key)
		i, isThere := first[name]
		switch {
		case !isThere:
			merged = append(merged, e)
		case name == "allowed-domains":
			merged[i].value = joinLists(merged[i].value, e.value)
		default:
			im.d.record(e.keyNode(), Changed, "%s: %s also has this key, on line %d; its value counts, not this one", e.key, cmp.Or(own[i].value.source, im.file), own[i].line)
		}
	}
	return merged
}

// keyName returns a key of safe-outputs as it is compared: the name for which it may be an alias.
func keyName(name string) string {
	name = canonical(name)
	for _, k := range globalTable() {
		if slices.Contains(k.also, name) {
			return k.name
		}
	}
	return name
}

// joinLists returns a list of the texts of both values.
func joinLists(a, b node) node {
	joined := node{kind: listNode, line: a.line, col: a.col, source: a.source}
	for _, n := range []node{a, b} {
		if n.kind == listNode {
			joined.items = append(joined.items, n.items...)
		} else if n.kind != nullNode {
			joined.items = append(joined.items, n)
		}
	}
	return joined
}

// withNetwork adds the hosts of the front matter's network to the entries below safe-outputs. The
// agent may reach these hosts, so links to them are allowed as well.
func (d *decoder) withNetwork(root, entries []entry) []entry {
	i := indexOf(root, "network")
	if i < 0 {
		return entries
	}
	network := root[i]
	if network.value.kind == mapNode {
		allowed := indexOf(network.value.entries, "allowed")
		if allowed < 0 {
			return entries
		}
		network = network.value.entries[allowed]
	}
	hosts := d.linkHosts(network.value)
	if len(hosts.items) == 0 {
		return entries
	}
	if n := indexOf(entries, "allowed-domains"); n >= 0 {
		entries = slices.Clone(entries)
		entries[n].value = joinLists(entries[n].value, hosts)
		return entries
	}
	return append(slices.Clone(entries), entry{"allowed-domains", network.line, network.col, hosts})
}

// linkHosts returns the texts in a value that are hosts or ecosystems, and records the other
// texts. A leading "*." is left out, because subdomains are allowed anyway.
func (d *decoder) linkHosts(n node) node {
	items := n.items
	if n.kind == textNode {
		items = []node{n}
	}
	kept := node{kind: listNode, line: n.line, col: n.col, source: n.source}
	for _, item := range items {
		if item.kind != textNode {
			continue
		}
		item.text = strings.TrimPrefix(item.text, "*.")
		if _, isEcosystem := ecosystemHosts(item.text); !isEcosystem && !isLinkHost(&item) {
			d.record(&item, Changed, "network: %s is not the name of a host, so links there stay redacted", quote(item.text))
			continue
		}
		kept.items = append(kept.items, item)
	}
	return kept
}

// isLinkHost reports whether a text is the name of a host that links may lead to.
func isLinkHost(n *node) bool {
	return strings.Contains(n.text, ".") && expressionIn(n) == nil &&
		checkName(n.text, sanitize.Config{AllowedDomains: []string{n.text}}, "is not a host") == nil
}

// importsNextTo finds the repository of a file on this machine. It returns the file's name in the
// repository, and a reader of the repository's files. The reader is nil if the name cannot be
// found out.
func importsNextTo(file string) (name string, read importReader) {
	absolute, err := filepath.Abs(file)
	if err != nil {
		return file, nil
	}
	root := repositoryOf(absolute)
	relative, err := filepath.Rel(root, absolute)
	if err != nil {
		return file, nil
	}
	return filepath.ToSlash(relative), func(name string) ([]byte, error) { return readWithin(root, name) }
}

// repositoryOf returns the nearest directory above a file that has a .git, or the file's own if
// none has. The file's name is absolute.
func repositoryOf(file string) string {
	own := filepath.Dir(file)
	for dir := own; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return own
		}
	}
}

// readWithin reads an ordinary file below a directory. It follows no link out of the directory. It
// reads at most one byte more than a configuration may have.
func readWithin(root, name string) ([]byte, error) {
	tree, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	// Opening a FIFO would otherwise wait for its other end.
	f, err := tree.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not an ordinary file")
	}
	return io.ReadAll(io.LimitReader(f, maxBytes+1))
}
