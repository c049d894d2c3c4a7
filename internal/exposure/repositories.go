package exposure

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// maxSearched is how many directory entries one search looks at before it stops.
const maxSearched = 500_000

// repositoryAbove judges the repository that git would find from a directory.
func (s *search) repositoryAbove(dir string) {
	for dir != "" {
		if s.repository(filepath.Join(dir, ".git")) || s.bare(dir) || dir == filepath.Dir(dir) {
			return
		}
		dir = filepath.Dir(dir)
	}
}

// bare judges a repository without a work tree, and reports whether it is one.
func (s *search) bare(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "config"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return s.repository(dir)
}

// repository judges the configuration of the repository at the path, which is git's directory
// or the file that names it, and of its submodules and other work trees. It reports whether
// there is a repository.
func (s *search) repository(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	if !info.IsDir() {
		content, why := read(path)
		if why != "" {
			s.add(place(path, 0), "the place of git's directory cannot be judged: "+why)
			return true
		}
		dir, ok := strings.CutPrefix(content, "gitdir: ")
		if !ok {
			return false
		}
		path = resolve(filepath.Dir(path), strings.TrimRight(dir, "\r\n"))
	}
	if s.repositories[path] {
		return true
	}
	s.repositories[path] = true
	common := path
	if dir, _ := read(filepath.Join(path, "commondir")); dir != "" {
		common = resolve(path, strings.TrimRight(dir, "\r\n"))
	}
	s.gitConfig(gitFile{path: filepath.Join(path, "config")})
	s.gitConfig(gitFile{path: filepath.Join(path, "config.worktree")})
	s.gitConfig(gitFile{path: filepath.Join(common, "config")})
	s.walk(filepath.Join(common, "worktrees"), func(dir string, _ fs.DirEntry) bool {
		s.gitConfig(gitFile{path: filepath.Join(dir, "config.worktree")})
		return false
	})
	s.walk(filepath.Join(common, "modules"), func(dir string, _ fs.DirEntry) bool { return !s.bare(dir) })
	return true
}

// repositoriesBelow judges the repositories in a tree, and the files in which
// google-github-actions/auth leaves credentials.
func (s *search) repositoriesBelow(root string) {
	s.walk(root, func(name string, e fs.DirEntry) bool {
		switch {
		case e.Name() == ".git":
			s.repository(name)
			return false
		case e.IsDir():
			return !s.bare(name)
		}
		if ok, _ := path.Match("gha-creds-*.json", e.Name()); ok {
			s.add(place(name, 0), "google-github-actions/auth leaves credentials of a cloud in such a file")
		}
		return false
	})
}

// walk calls visit for each entry of a directory, and goes on in those directories for which visit
// returns true. Links in it are not followed; what may not be read is left out. When the search has
// looked at more than maxSearched entries, walk stops and reports that.
func (s *search) walk(root string, visit func(path string, e fs.DirEntry) bool) {
	for dirs := []string{root}; len(dirs) > 0; {
		dir := dirs[len(dirs)-1]
		dirs = dirs[:len(dirs)-1]
		f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			continue
		}
		for err == nil {
			var entries []fs.DirEntry
			entries, err = f.ReadDir(1000)
			for _, e := range entries {
				if path := filepath.Join(dir, e.Name()); visit(path, e) && e.IsDir() {
					dirs = append(dirs, path)
				}
			}
			if s.entries += len(entries); s.entries > maxSearched {
				dirs, err = nil, io.EOF // ends both loops
			}
		}
		_ = f.Close()
	}
	if s.entries > maxSearched {
		s.add(place(root, 0), fmt.Sprintf("there are more than %d files to look at, so that credentials may be in the others", maxSearched))
	}
}
