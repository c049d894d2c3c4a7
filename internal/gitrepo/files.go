package gitrepo

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// File is a file of a commit.
type File struct {
	Data []byte
	Exec bool
	Mode string // git's, of six digits; also of a link or a submodule; "" where nothing is
	// Err is set instead when there is no such file: fs.ErrNotExist, ErrTooLarge,
	// or that the path is a directory, a link or a submodule.
	Err error
}

// File reads one file of a commit; see Files.
func (r *Repo) File(ctx context.Context, commit, path string, limit int64) ([]byte, error) {
	files, err := r.Files(ctx, commit, []string{path}, limit)
	if err != nil {
		return nil, err
	}
	return files[path].Data, files[path].Err
}

// Files reads files of a commit, each of at most limit bytes. Every object on
// the way from the commit's id to a file is hashed, so that a clone whose
// objects somebody has replaced gives an error and never another text. All
// paths together take two runs of git a directory level, and directories that
// were read before take none.
func (r *Repo) Files(ctx context.Context, commit string, paths []string, limit int64) (map[string]File, error) {
	if _, ok := r.known.get(commit); !ok {
		if err := r.Require(ctx, commit); err != nil {
			return nil, err
		}
	}
	objects, err := r.read(ctx, []string{commit}, limit)
	if err != nil {
		return nil, err
	}
	tree, err := treeOf(objects[commit].data)
	if err != nil {
		return nil, err
	}
	files := make(map[string]File, len(paths))
	at := map[string]step{}
	for _, p := range paths {
		if !fs.ValidPath(p) || p == "." {
			files[p] = File{Err: fmt.Errorf("%q is not a path of a repository: %w", p, fs.ErrInvalid)}
			continue
		}
		at[p] = step{oid: tree, rest: p}
	}
	for len(at) > 0 {
		if objects, err = r.read(ctx, oidsOf(at), limit); err != nil {
			return nil, err
		}
		for p, s := range at {
			o := objects[s.oid]
			switch {
			case o.kind == "" && o.err == nil:
				return nil, fmt.Errorf("git cat-file left out %s", s.oid)
			case o.err != nil:
				files[p] = File{Mode: s.mode, Err: fmt.Errorf("%s: %w", p, o.err)}
			case s.rest == "" && o.kind == "blob":
				files[p] = File{Data: o.data, Exec: s.mode == modeExec, Mode: s.mode}
			case s.rest == "":
				files[p] = File{Mode: modeDir, Err: fmt.Errorf("%s is a directory in commit %s", p, commit)}
			default:
				next, err := s.descend(o.data)
				if err == nil {
					at[p] = next
					continue
				}
				files[p] = File{Mode: next.mode, Err: fmt.Errorf("%s in commit %s: %w", p, commit, err)}
			}
			delete(at, p)
		}
	}
	return files, nil
}

// step is how far a path has been followed: the object it has come to, what is
// left of it, and the mode once nothing is.
type step struct{ oid, rest, mode string }

// descend follows the next element of the path through a tree. Beside an error
// only the mode of the whole path is set, where it has one.
func (s step) descend(tree []byte) (step, error) {
	name, rest, _ := strings.Cut(s.rest, "/")
	bits, oid, err := lookup(tree, name, len(s.oid)/2)
	if err != nil {
		return step{}, err
	}
	n, err := strconv.ParseUint(bits, 8, 32)
	if err != nil {
		return step{}, errors.New("the tree cannot be read")
	}
	mode := canonical(n)
	at := step{oid: oid, rest: rest, mode: mode}
	if rest != "" {
		at.mode = ""
	}
	switch {
	case mode == modeLink:
		return step{mode: at.mode}, errors.New("a link is not followed")
	case mode == modeSubmodule:
		return step{mode: at.mode}, errors.New("a submodule is not followed")
	case rest != "" && mode != modeDir:
		return step{}, fs.ErrNotExist
	}
	return at, nil
}

// lookup finds an entry of a tree: "<mode> <name>\x00<id>", one after another.
func lookup(tree []byte, name string, idLen int) (mode, oid string, err error) {
	for len(tree) > 0 {
		head, rest, ok := bytes.Cut(tree, []byte{0})
		m, n, ok2 := bytes.Cut(head, []byte{' '})
		if !ok || !ok2 || len(rest) < idLen {
			return "", "", errors.New("the tree cannot be read")
		}
		if string(n) == name {
			return string(m), hex.EncodeToString(rest[:idLen]), nil
		}
		tree = rest[idLen:]
	}
	return "", "", fs.ErrNotExist
}

func treeOf(commit []byte) (string, error) {
	line, _, _ := strings.Cut(string(commit), "\n")
	oid, ok := strings.CutPrefix(line, "tree ")
	if !ok || !IsObjectID(oid) {
		return "", errors.New("the commit cannot be read")
	}
	return oid, nil
}

func oidsOf(at map[string]step) []string {
	seen := map[string]bool{}
	var oids []string
	for _, s := range at {
		if !seen[s.oid] {
			seen[s.oid] = true
			oids = append(oids, s.oid)
		}
	}
	return oids
}
