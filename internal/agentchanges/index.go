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
	files      map[string]stagedFile
	sparseDirs []string // directories of a sparse index that are not checked out, with a slash
	unmerged   []string
	written    time.Time
}

// stagedFile is an entry of an index, with the file's metadata when the entry was written.
type stagedFile struct {
	mode         uint32
	oid          string
	skip         bool // skip-worktree: not checked out, on purpose
	mtime, ctime time.Time
	ino, size    uint32 // truncated to 32 bits, as git does
}

// readIndex reads the clone's index. If there is none, the error is fs.ErrNotExist.
func (r reader) readIndex() (*index, error) {
	data, info, err := gitrepo.ReadFile(r.repo.Clone().GitDir, "index", maxIndex)
	if err != nil {
		return nil, err
	}
	x, err := parseIndex(data, r.repo.IDLen()/2)
	if err != nil {
		return nil, err
	}
	x.written = info.ModTime()
	return x, nil
}

var errIndex = errors.New("it is not a complete index")

// parseIndex reads an index of version 2 to 4, with object ids of idLen bytes.
func parseIndex(data []byte, idLen int) (*index, error) {
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
	x := &index{files: make(map[string]stagedFile, count)}
	name, names := "", 0
	for range count {
		if len(rest) < 42+idLen {
			return nil, errIndex
		}
		field := func(i int) uint32 { return be.Uint32(rest[4*i:]) }
		f := stagedFile{
			ctime: time.Unix(int64(field(0)), int64(field(1))), mtime: time.Unix(int64(field(2)), int64(field(3))),
			ino: field(5), mode: field(6), size: field(9), oid: hex.EncodeToString(rest[40 : 40+idLen]),
		}
		flags, head := be.Uint16(rest[40+idLen:]), 42+idLen
		if flags&0x4000 != 0 {
			if version < 3 || len(rest) < head+2 {
				return nil, errIndex
			}
			f.skip = be.Uint16(rest[head:])&0x4000 != 0
			head += 2
		}
		n, err := 0, error(nil)
		if name, n, err = indexName(rest[head:], name, version); err != nil {
			return nil, err
		}
		if names += len(name); names > maxIndex { // version 4 compresses names
			return nil, errIndex
		}
		if version < 4 { // an entry with its NUL fills blocks of eight bytes
			n = (head+n+8)/8*8 - head
		}
		if head+n > len(rest) {
			return nil, errIndex
		}
		rest = rest[head+n:]
		switch {
		case flags&0x3000 != 0:
			if k := len(x.unmerged); k == 0 || x.unmerged[k-1] != name {
				x.unmerged = append(x.unmerged, name)
			}
		case f.mode == modeDir:
			x.sparseDirs = append(x.sparseDirs, strings.TrimSuffix(name, "/")+"/")
		default:
			x.files[name] = f
		}
	}
	return x, checkExtensions(rest)
}

// indexName reads an entry's name, which in version 4 may begin as the one before does. It
// returns how many bytes it has read: in version 4 with the NUL, in older ones without.
func indexName(b []byte, before string, version uint32) (name string, n int, err error) {
	keep := 0
	if version == 4 { // first how many bytes to cut off the name before, then what follows
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

// checkExtensions returns an error if an extension would change the meaning of the entries.
func checkExtensions(rest []byte) error {
	for len(rest) >= 8 {
		kind, size := string(rest[:4]), int64(binary.BigEndian.Uint32(rest[4:]))
		if size > int64(len(rest)-8) {
			return errIndex
		}
		switch {
		case kind == "link":
			return errors.New("it is a split index (git update-index --no-split-index makes it complete)")
		case kind != "sdir" && (kind[0] < 'A' || kind[0] > 'Z'):
			return fmt.Errorf("it has an unknown extension %q", kind)
		}
		rest = rest[8+size:]
	}
	return nil
}

// unchanged reports whether a file's metadata is that of the staged file, so that it need
// not be read. As in git, a file that was written at the same time as the index, or later,
// counts as changed.
func (x *index) unchanged(f stagedFile, info fs.FileInfo) bool {
	changed, ino, ok := changeTime(info)
	return ok && info.ModTime().Equal(f.mtime) && f.mtime.Before(x.written) && changed.Equal(f.ctime) &&
		uint32(ino) == f.ino && uint32(info.Size()) == f.size && gitMode(info) == f.mode
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
