package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// FileSource is a file that holds an agent's changes.
type FileSource struct {
	Name  string // for messages
	Data  []byte
	Bases []string // commits that the changes may have been made from, best first
}

// Limits of a patch file.
const (
	maxPatch     = 128 << 20 // bytes
	maxPatchFile = 100 << 20 // bytes of a binary file in it; GitHub takes no larger one
	maxMails     = 10_000    // of which at most maxSeries hold a patch
)

// PatchSeries reads the mails of git format-patch, each of which becomes a
// change with its author and message, or one diff as git diff and diff -u write
// it. The trees of the result are made in the repository.
//
// The base is the commit that a base-commit line of the file names, or one of
// src.Bases: the first on which everything applies, else the first on which a
// three-way merge from the file versions that the patch names gives no conflict.
// A file without any change is a series without changes.
//
// The error is ErrNoBase when no such commit can be read, ErrTooLarge over a
// limit, a *Conflict when the patches fit none of the commits, and one that
// names the line of the file for what is no patch or leaves the repository.
func (r *Repo) PatchSeries(ctx context.Context, src FileSource) (Series, error) {
	patches, notes, err := r.readPatches(ctx, src)
	if err != nil {
		return Series{}, err
	}
	named := namedBases(src.Data)
	bases, err := r.usable(ctx, append(named, src.Bases...))
	if err != nil {
		return Series{}, err
	}
	if len(bases) == 0 {
		return Series{}, r.noBase(append(named, src.Bases...))
	}
	s, err := r.applyAny(ctx, patches, bases)
	if err != nil {
		return Series{}, err
	}
	if len(named) > 0 && !slices.Contains(named, s.Base) {
		notes = append(notes, fmt.Sprintf("%q says that it was made from %s; it was applied to %s instead", src.Name, named[0], s.Base))
	}
	s.Notes = append(notes, s.Notes...)
	return s, nil
}

// applyAny applies the patches to the first of the commits that they fit.
func (r *Repo) applyAny(ctx context.Context, patches []patch, bases []string) (Series, error) {
	var conflict *Conflict
	for _, threeWay := range []bool{false, true} {
		conflict = nil // that of the best base, told after the most that was tried
		for _, base := range bases {
			s, err := r.applyAll(ctx, patches, base, threeWay)
			var c *Conflict
			switch {
			case err == nil:
				return s, nil
			case !errors.As(err, &c):
				return Series{}, err
			case conflict == nil:
				conflict = c
			}
		}
	}
	return Series{}, conflict
}

// namedBases returns the commits that base-commit lines name, which git
// format-patch --base writes at the end of a mail.
func namedBases(data []byte) []string {
	var oids []string
	for line := range bytes.Lines(data) {
		if oid, ok := bytes.CutPrefix(line, []byte("base-commit: ")); ok {
			if oid := strings.TrimSpace(string(oid)); isOID(oid) && !slices.Contains(oids, oid) && len(oids) < maxListed {
				oids = append(oids, oid)
			}
		}
	}
	return oids
}
