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

// The modes of an index, as numbers.
const (
	indexDir     = 0o040000
	indexFile    = 0o100644
	indexExec    = 0o100755
	indexLink    = 0o120000
	indexGitlink = 0o160000
)

// stagedFile is an entry of a clone's index, and what was known of the file when
// it was written.
type stagedFile struct {
	mode         uint32
	oid          string
	skip         bool // skip-worktree: not checked out, on purpose
	mtime, ctime time.Time
	ino, size    uint32 // cut to 32 bits, as git does
}

// stagedFiles is a clone's index, read as data: see gitformat-index(5). Somebody
// else has written it, so that it may say what files Airlock looks at, and
// never what is in them.
type stagedFiles struct {
	files    map[string]stagedFile
	dirs     []string // of a sparse index: directories that are not checked out, with a slash
	unmerged []string
	written  time.Time
}

// readIndex reads the clone's index. Without one, the error is fs.ErrNotExist.
func (r reader) readIndex() (*stagedFiles, error) {
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

// parseIndex reads versions 2 to 4; idLen is the length of an id in bytes.
func parseIndex(data []byte, idLen int) (*stagedFiles, error) {
	be := binary.BigEndian
	if len(data) < 12+idLen || string(data[:4]) != "DIRC" {
		return nil, errIndex
	}
	version, count := be.Uint32(data[4:]), int64(be.Uint32(data[8:]))
	if version < 2 || version > 4 {
		return nil, fmt.Errorf("its version is %d, and 2 to 4 are read", version)
	}
	rest := data[12 : len(data)-idLen] // a checksum ends the file
	if count > int64(len(rest)/(42+idLen)) {
		return nil, errIndex
	}
	x := &stagedFiles{files: make(map[string]stagedFile, count)}
	name, names := "", 0
	for range count {
		if len(rest) < 42+idLen {
			return nil, errIndex
		}
		at := func(i int) uint32 { return be.Uint32(rest[4*i:]) }
		f := stagedFile{
			ctime: time.Unix(int64(at(0)), int64(at(1))), mtime: time.Unix(int64(at(2)), int64(at(3))),
			ino: at(5), mode: at(6), size: at(9), oid: hex.EncodeToString(rest[40 : 40+idLen]),
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
		if names += len(name); names > maxIndex { // version 4 can say much in few bytes
			return nil, errIndex
		}
		if version < 4 { // with its NUL, the entry fills blocks of eight
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
		case f.mode == indexDir:
			x.dirs = append(x.dirs, strings.TrimSuffix(name, "/")+"/")
		default:
			x.files[name] = f
		}
	}
	return x, checkExtensions(rest)
}

// indexName reads a name and returns how many bytes it takes, in version 4 with
// its NUL, before that without.
func indexName(b []byte, before string, version uint32) (name string, n int, err error) {
	keep := 0
	if version == 4 { // the name before, cut by a number, and what follows
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

// checkExtensions refuses what would change the meaning of the entries.
func checkExtensions(rest []byte) error {
	for len(rest) >= 8 {
		kind, size := string(rest[:4]), int64(binary.BigEndian.Uint32(rest[4:]))
		if size > int64(len(rest)-8) {
			return errIndex
		}
		switch {
		case kind == "link":
			return errors.New("it is a split index (git update-index --no-split-index makes it whole)")
		case kind != "sdir" && (kind[0] < 'A' || kind[0] > 'Z'):
			return fmt.Errorf("it has an extension %q that is not understood", kind)
		}
		rest = rest[8+size:]
	}
	return nil
}

// fresh reports whether a file is, by its looks, the one that the index was
// told of, so that it need not be read. As in git, a file that was written when
// the index was, or later, is none.
func (x *stagedFiles) fresh(f stagedFile, info fs.FileInfo) bool {
	changed, ino, ok := statOf(info)
	return ok && info.ModTime().Equal(f.mtime) && f.mtime.Before(x.written) && changed.Equal(f.ctime) &&
		uint32(ino) == f.ino && uint32(info.Size()) == f.size && gitMode(info) == f.mode
}

// gitMode returns the mode that git gives to a file, or 0 for what git does not
// keep.
func gitMode(info fs.FileInfo) uint32 {
	switch {
	case info.Mode().Type() == fs.ModeSymlink:
		return indexLink
	case !info.Mode().IsRegular():
		return 0
	case info.Mode()&0o100 != 0:
		return indexExec
	}
	return indexFile
}
