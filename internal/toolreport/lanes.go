package toolreport

import (
	"maps"
	"slices"
	"strings"
)

// Bounds of the lanes. A program can print any number of prefixes, and reading the lines of
// each takes memory.
const (
	maxLanes      = 100    // at the same time
	maxLanesEver  = 10_000 // opened over an output
	maxLanePrefix = 100    // bytes
	maxLaneDepth  = 3      // prefixes before one another
)

// lanes reads the lines of tasks that a program runs side by side and tells apart by a
// prefix of each line: turbo, npm-run-all, concurrently, lerna, pnpm and many others. What
// follows a prefix is read as an output of its own. Only test runners are looked for: the
// directory of a task is not known, and so neither are the files of other findings.
type lanes struct {
	open   func(prefix string) *lane
	byName map[string]*lane
	opened int
	clock  int // lines that had a prefix
}

// lane is the output of one task.
type lane struct {
	readings []*reading
	used     int // the lanes' clock when it was last written to
}

// recognised reports whether the lane has the output of a test runner.
func (l *lane) recognised() bool {
	return slices.ContainsFunc(l.readings, func(r *reading) bool { return r.collector.recognised })
}

// line reads a line of one of the streams.
func (l *lanes) line(line string, stream int) {
	start := 0
	for range maxLaneDepth {
		length := prefixOf(line[start:])
		if length == 0 {
			return
		}
		start += length
		lane := l.lane(strings.TrimRight(line[:start], " "))
		if lane == nil {
			return
		}
		for _, r := range lane.readings {
			r.parts[stream].line(line[start:])
		}
	}
}

// lane returns the lane of a prefix. It is nil if there are too many.
func (l *lanes) lane(prefix string) *lane {
	l.clock++
	found := l.byName[prefix]
	if found == nil {
		if l.opened == maxLanesEver || len(l.byName) == maxLanes && !l.forget() {
			return nil
		}
		l.opened++
		found = l.open(prefix)
		l.byName[strings.Clone(prefix)] = found
	}
	found.used = l.clock
	return found
}

// forget removes the lane that was not written to for the longest time, of those in which
// no test runner was recognised. It reports whether there was one.
func (l *lanes) forget() bool {
	oldest := ""
	for name, lane := range l.byName {
		if !lane.recognised() && (oldest == "" || lane.used < l.byName[oldest].used) {
			oldest = name
		}
	}
	delete(l.byName, oldest)
	return oldest != ""
}

// end ends the lanes, in the order of their prefixes, and returns the readings in which a
// test runner was recognised.
func (l *lanes) end() []*reading {
	var recognised []*reading
	for _, name := range slices.Sorted(maps.Keys(l.byName)) {
		for _, r := range l.byName[name].readings {
			if r.end(); r.collector.recognised {
				recognised = append(recognised, r)
			}
		}
	}
	return recognised
}

// prefixOf returns the length of the prefix with which a line begins, 0 if it has none:
// "[label] " of npm-run-all and concurrently, "[package]: " of yarn, "package:task: " of
// turbo, "package: " of lerna, "directory task: " of pnpm, "service  | " of docker compose,
// and "│ " of package managers that draw a frame.
func prefixOf(line string) int {
	head := line[:min(len(line), maxLanePrefix)]
	end := 0
	switch {
	case strings.HasPrefix(head, "["):
		i := strings.IndexAny(head[1:], "[]") + 1
		if i < 2 || head[i] == '[' {
			return 0
		}
		if end = i + 1; strings.HasPrefix(head[end:], ":") {
			end++
		}
	case strings.HasPrefix(head, "│"):
		end = len("│")
	default:
		end = namePrefix(strings.TrimPrefix(head, "➤ "))
		if end > 0 {
			end += len(head) - len(strings.TrimPrefix(head, "➤ "))
		}
	}
	switch {
	case end == 0 || end < len(line) && line[end] != ' ':
		return 0
	case end < len(line):
		end++
	}
	return end
}

// namePrefix returns where the name of a task ends with which a line begins, after its ":"
// or "|", and 0 if it begins with none.
func namePrefix(head string) int {
	spaces := 0
	for i := 0; i < len(head); i++ {
		c := head[i]
		switch {
		case i > 0 && c == ':' && (i+1 == len(head) || head[i+1] == ' '):
			return i + 1
		case i > 0 && c == ' ':
			if rest := strings.TrimLeft(head[i:], " "); strings.HasPrefix(rest, "|") {
				return len(head) - len(rest) + 1
			}
			if spaces++; spaces > 1 {
				return 0
			}
		case c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '@' || i > 0 && strings.IndexByte("./-:#", c) >= 0:
		default:
			return 0
		}
	}
	return 0
}
