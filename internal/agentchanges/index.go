package agentchanges

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// maxIndex is how large a clone's index may be, in bytes.
const maxIndex = 256 << 20

// The modes of git, as numbers.
const (
	modeDir       = 0o040000
	modeFile      = 0o100644
	modeExec      = 0o100755
	modeLink      = 0o120000
	modeSubmodule = 0o160000
)

// index is a clone's index, read as data: see gitformat-index(5). A stranger wrote it, so
// it may decide which files Airlock reads, but never what their contents are.
type index struct {
	files      map[string]*stagedFile
	sparseDirs []string // directories of a sparse index that are not checked out, with a slash
	unmerged   []string
	written    time.Time
	tree       string // the id of the tree that its files make; "" if git has not noted it
}

// stagedFile is an entry of an index, with the file's metadata when the entry was written.
type stagedFile struct {
	mode         uint32
	oid          string
	skip         bool // skip-worktree: not checked out, on purpose
	mtime, ctime time.Time
	ino, size    uint32 // truncated to 32 bits, as git does

	// Of the file in the work tree, once the scan has seen it:
	present bool // it exists
	fresh   bool // its metadata is as above, and size is not truncated
}

// readIndex reads the clone's index, and the index that it is split from. If the clone has
// no index, the error is fs.ErrNotExist.
func (r reader) readIndex() (*index, error) {
	data, info, err := gitrepo.ReadFile(r.repo.Clone().GitDir, "index", maxIndex)
	if err != nil {
		return nil, err
	}
	part, err := parseIndex(data, r.repo.IDLen()/2)
	if err != nil {
		return nil, err
	}
	if part.sharedID != "" {
		data, _, err := gitrepo.ReadFile(r.repo.Clone().GitDir, "sharedindex."+part.sharedID, maxIndex)
		if err != nil {
			return nil, fmt.Errorf("it is split, and the other part cannot be read (git update-index --no-split-index makes it complete): %s", err.Error()) // not fs.ErrNotExist
		}
		shared, err := parseIndex(data, r.repo.IDLen()/2)
		if err == nil {
			err = part.join(shared)
		}
		if err != nil {
			return nil, err
		}
	}
	x := part.index()
	x.written = info.ModTime()
	return x, nil
}

var errIndex = errors.New("it is not a complete index")

// indexFile is the content of one index file. If the index is split, another file has the other
// part.
type indexFile struct {
	entries []indexEntry
	// sharedID names the file that the index is split from; "" for none. removed and replaced
	// have a bit for each entry of that file. A removed entry is not in this index. Each replaced
	// one gives its name to an entry here: these come first, in order, and have no names of their
	// own.
	sharedID          string
	removed, replaced []bool
	tree              string // the id of the tree that the entries make, "" if it is not noted
}

// indexEntry is an entry of an index.
type indexEntry struct {
	name     string
	unmerged bool
	file     stagedFile
}

// parseIndex reads an index of version 2 to 4, with object ids of idLen bytes.
func parseIndex(data []byte, idLen int) (*indexFile, error) {
	be := binary.BigEndian
	if len(data) < 12+idLen || string(data[:4]) != "DIRC" {
		return nil, errIndex
	}
	version, count := be.Uint32(data[4:]), int64(be.Uint32(data[8:]))
	if version < 2 || version > 4 {
		return nil, fmt.Errorf("its version is %d, but only 2 to 4 are supported", version)
	}
	rest := data[12 : len(data)-idLen] // the file ends with a checksum
	if count > int64(len(rest)/(42+idLen)) {
		return nil, errIndex
	}
	x := &indexFile{entries: make([]indexEntry, 0, count)}
	name, namesLen := "", 0
	for range count {
		e, n, err := parseEntry(rest, name, version, idLen)
		if err != nil {
			return nil, err
		}
		name = e.name
		if namesLen += len(name); namesLen > maxIndex { // version 4 compresses names
			return nil, errIndex
		}
		rest = rest[n:]
		x.entries = append(x.entries, e)
	}
	return x, x.readExtensions(rest, idLen)
}

// The bits of an entry's flags that are read.
const (
	flagExtended     = 0x4000 // two more bytes of flags follow
	flagStage        = 0x3000 // not 0: one of the versions of an unmerged file
	flagSkipWorktree = 0x4000 // in the two bytes that follow
)

// parseEntry reads the first entry of rest, and returns how many bytes it has. before is the name
// of the entry before.
func parseEntry(rest []byte, before string, version uint32, idLen int) (e indexEntry, n int, err error) {
	be := binary.BigEndian
	head := 42 + idLen // ten numbers of four bytes, the id, and flags of two bytes
	if len(rest) < head {
		return indexEntry{}, 0, errIndex
	}
	field := func(i int) uint32 { return be.Uint32(rest[4*i:]) }
	e.file = stagedFile{
		ctime: time.Unix(int64(field(0)), int64(field(1))), mtime: time.Unix(int64(field(2)), int64(field(3))),
		ino: field(5), mode: field(6), size: field(9), oid: hex.EncodeToString(rest[40 : 40+idLen]),
	}
	flags := be.Uint16(rest[40+idLen:])
	e.unmerged = flags&flagStage != 0
	if flags&flagExtended != 0 {
		if version < 3 || len(rest) < head+2 {
			return indexEntry{}, 0, errIndex
		}
		e.file.skip = be.Uint16(rest[head:])&flagSkipWorktree != 0
		head += 2
	}
	e.name, n, err = indexName(rest[head:], before, version)
	if err != nil {
		return indexEntry{}, 0, err
	}
	n += head
	if version < 4 { // one to eight NULs fill the entry up to a multiple of eight bytes
		n = (n + 8) / 8 * 8
	}
	if n > len(rest) {
		return indexEntry{}, 0, errIndex
	}
	return e, n, nil
}

// join adds the entries of the index that this one is split from.
func (x *indexFile) join(shared *indexFile) error {
	if shared.sharedID != "" || len(x.removed) > len(shared.entries) || len(x.replaced) > len(shared.entries) {
		return errIndex
	}
	var joined []indexEntry
	own := x.entries
	for i, e := range shared.entries {
		if i < len(x.replaced) && x.replaced[i] {
			if len(own) == 0 || own[0].name != "" {
				return errIndex
			}
			own[0].name = e.name
			e, own = own[0], own[1:]
		}
		if i >= len(x.removed) || !x.removed[i] {
			joined = append(joined, e)
		}
	}
	x.entries, x.tree = append(joined, own...), ""
	return nil
}

// index returns the files by their names, and lists apart the unmerged ones and the directories of
// a sparse index.
func (x *indexFile) index() *index {
	all := &index{files: make(map[string]*stagedFile, len(x.entries)), tree: x.tree}
	for i := range x.entries {
		e := &x.entries[i]
		switch {
		case e.unmerged:
			if k := len(all.unmerged); k == 0 || all.unmerged[k-1] != e.name {
				all.unmerged = append(all.unmerged, e.name)
			}
		case e.file.mode == modeDir:
			all.sparseDirs = append(all.sparseDirs, strings.TrimSuffix(e.name, "/")+"/")
		default:
			all.files[e.name] = &e.file
		}
	}
	return all
}

// indexName reads an entry's name. In version 4 a name may share its beginning with the name
// before. n is how many bytes were read: in version 4 with the NUL, in older versions without it.
func indexName(b []byte, before string, version uint32) (name string, n int, err error) {
	keep := 0
	if version == 4 { // a number of bytes to cut off the name before, then the rest of the name
		cut := 0
		for {
			if n == len(b) || n > 4 {
				return "", 0, errIndex
			}
			c := b[n]
			n++
			cut = cut<<7 | int(c&0x7f)
			if c&0x80 == 0 {
				break
			}
			cut++
		}
		if cut > len(before) {
			return "", 0, errIndex
		}
		keep = len(before) - cut
	}
	end := bytes.IndexByte(b[n:], 0)
	if end < 0 || keep+end > 1<<16 {
		return "", 0, errIndex
	}
	name = before[:keep] + string(b[n:n+end])
	if version == 4 {
		end++
	}
	return name, n + end, nil
}

// readExtensions reads the extensions of the tree and of a split index. It returns an error for an
// extension that it does not know and that changes the meaning of the entries.
func (x *indexFile) readExtensions(rest []byte, idLen int) error {
	for len(rest) >= 8 {
		kind, size := string(rest[:4]), int64(binary.BigEndian.Uint32(rest[4:]))
		if size > int64(len(rest)-8) {
			return errIndex
		}
		switch {
		case kind == "link":
			if err := x.readLink(rest[8:8+size], idLen); err != nil {
				return err
			}
		case kind == "TREE":
			x.readTree(rest[8:8+size], idLen)
		case kind != "sdir" && (kind[0] < 'A' || kind[0] > 'Z'):
			return fmt.Errorf("it has an unknown extension %q", kind)
		}
		rest = rest[8+size:]
	}
	return nil
}

// readTree reads the id of the root's tree from the extension in which git notes the trees of the
// entries. The root's tree is the first one there: a NUL after its empty path, the number of
// entries that it covers, a space, the number of trees that follow, a newline, and its id.
func (x *indexFile) readTree(data []byte, idLen int) {
	counts, rest, found := bytes.Cut(data, []byte{'\n'})
	coversAll := bytes.HasPrefix(counts, fmt.Appendf(nil, "\x00%d ", len(x.entries)))
	if found && coversAll && len(rest) >= idLen {
		x.tree = hex.EncodeToString(rest[:idLen])
	}
}

// readLink reads the extension of a split index: the id of the other part, and two bitmaps of
// its entries, which may be missing.
func (x *indexFile) readLink(data []byte, idLen int) (err error) {
	if len(data) < idLen || x.sharedID != "" {
		return errIndex
	}
	if id := hex.EncodeToString(data[:idLen]); strings.Trim(id, "0") != "" {
		x.sharedID = id
	}
	if data = data[idLen:]; len(data) == 0 {
		return nil
	}
	if x.removed, data, err = readBitmap(data); err != nil {
		return err
	}
	x.replaced, _, err = readBitmap(data)
	return err
}

// maxBitmap is the largest number of entries that a bitmap is about: an entry has at least 62
// bytes.
const maxBitmap = maxIndex / 62

// readBitmap reads a bitmap that is compressed as EWAH: see gitformat-index(5) and
// bitmap-format of git. It consists of 64-bit words in groups. The first word of a group has, from
// its lowest bit on, the value of a run of equal bits (1 bit), the run's length in words (32 bits),
// and how many uncompressed words follow (31 bits).
func readBitmap(data []byte) (bits []bool, rest []byte, err error) {
	be := binary.BigEndian
	if len(data) < 8 {
		return nil, nil, errIndex
	}
	size, words := int64(be.Uint32(data)), int64(be.Uint32(data[4:]))
	if data = data[8:]; size > maxBitmap || words*8+4 > int64(len(data)) {
		return nil, nil, errIndex
	}
	rest = data[words*8+4:] // four bytes after the words have the index of the last group
	bits = make([]bool, 0, size)
	add := func(bit bool, times int64) {
		for range min(times, size-int64(len(bits))) {
			bits = append(bits, bit)
		}
	}
	for i := int64(0); i < words; i++ {
		word := be.Uint64(data[i*8:])
		add(word&1 != 0, int64(word>>1&(1<<32-1))*64)
		for literal := word >> 33; literal > 0; literal-- {
			if i++; i == words {
				return nil, nil, errIndex
			}
			uncompressed := be.Uint64(data[i*8:])
			for bit := range 64 {
				add(uncompressed>>bit&1 != 0, 1)
			}
		}
	}
	return bits, rest, nil
}

// unchanged reports whether a file's metadata is that of the staged file, so that it need
// not be read. As in git, a file that was written at the same time as the index, or later,
// counts as changed.
func (x *index) unchanged(f *stagedFile, info fs.FileInfo) bool {
	changed, ino, ok := changeTime(info)
	return ok && info.ModTime().Equal(f.mtime) && f.mtime.Before(x.written) && changed.Equal(f.ctime) &&
		uint32(ino) == f.ino && uint32(info.Size()) == f.size && gitMode(info) == f.mode
}

// stamps returns the times and sizes of the files, without the links, that are in the work tree as
// the index has them.
func (x *index) stamps() Stamps {
	return func(name string) (time.Time, int64, bool) {
		f := x.files[name]
		if f == nil || !f.fresh || f.mode == modeLink {
			return time.Time{}, 0, false
		}
		return f.mtime, int64(f.size), true
	}
}

// gitMode returns the mode that git gives to a file, or 0 for what git does not store.
func gitMode(info fs.FileInfo) uint32 {
	switch {
	case info.Mode().Type() == fs.ModeSymlink:
		return modeLink
	case !info.Mode().IsRegular():
		return 0
	case info.Mode()&0o100 != 0:
		return modeExec
	}
	return modeFile
}
