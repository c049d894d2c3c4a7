package isolate

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// maxParents is how far up the processes are followed.
const maxParents = 100

// parents judges the environments of the processes above this one, as far as this
// user may read them: a shell that unset a variable shows the one it was started
// with all the same.
func (s *search) parents() {
	if s.src.Proc == "" {
		return
	}
	known := slices.Clone(s.src.Environ)
	pid := "self"
	for range maxParents {
		if pid = s.parent(pid); pid == "" || pid == "0" {
			return
		}
		text, why := read(filepath.Join(s.src.Proc, pid, "environ"))
		if why != "" {
			s.add("the environment of process "+pid, "it cannot be judged: "+why)
		}
		for e := range strings.SplitSeq(text, "\x00") {
			name, value, _ := strings.Cut(e, "=")
			if slices.Contains(known, e) || strings.TrimSpace(value) == "" {
				continue
			}
			known = append(known, e)
			if what := s.variable(name, value); what != "" {
				s.add(fmt.Sprintf("%s in the environment of process %s", at(name, 0), pid), what)
			}
		}
	}
}

// parent returns the id of a process's parent, or "".
func (s *search) parent(pid string) string {
	status, _ := read(filepath.Join(s.src.Proc, pid, "status"))
	for line := range strings.Lines(status) {
		if id, ok := strings.CutPrefix(line, "PPid:"); ok {
			id = strings.TrimSpace(id)
			if _, err := strconv.Atoi(id); err == nil {
				return id
			}
		}
	}
	return ""
}
