package isolate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// plant fills a directory of the user's with what is in a directory of the seed: with directories,
// which belong to the user, and with links to the seed's files, which nobody but root can change. Only
// a file named goTrimmed is written anew. A link costs no copy, also where the seed lies in a layer
// of an image. group is the rights of the user's group, such as 0o070. plant does nothing where the
// seed has no such directory.
func (u *user) plant(seed, dir string, group fs.FileMode) error {
	err := filepath.WalkDir(seed, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(seed, path)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, rel)
		switch {
		case rel == ".":
			return nil
		case d.IsDir():
			if err := u.mkdir(to); err != nil {
				return err
			}
			return os.Chmod(to, 0o700|group)
		case d.Name() == goTrimmed:
			return u.noTrim(to, 0o600|group&0o060)
		}
		return os.Symlink(path, to)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("filling the home directory from %s: %w", seed, err)
	}
	return nil
}

// goTrimmed is the file in which Go's build cache records when it last removed files that had not
// been used for five days (cmd/go/internal/cache).
const goTrimmed = "trim.txt"

// noTrim records that Go's cache has just been trimmed. Otherwise go could remove the seed's files
// from the cache, because they may be too old.
func (u *user) noTrim(name string, mode fs.FileMode) error {
	if err := os.WriteFile(name, strconv.AppendInt(nil, time.Now().Unix(), 10), 0o600); err != nil {
		return err
	}
	return errors.Join(os.Chown(name, int(u.identity.UID), int(u.identity.GID)), os.Chmod(name, mode))
}
