package toolreport

import (
	"maps"
	"slices"
	"strings"
)

// Bounds of the tasks. A program can print any number of prefixes, and reading the lines of
// each takes memory.
const (
	maxTasks      = 100    // at the same time
	maxTasksEver  = 10_000 // opened over an output
	maxTaskPrefix = 100    // bytes
	maxTaskDepth  = 3      // prefixes of one line
)

// taskOutputs reads the output of a program that runs several tasks at once and puts a prefix
// before each task's lines: turbo, npm-run-all, concurrently, lerna, pnpm and many others. The
// text after a prefix is read as an output of its own. Only test runners are looked for: the
// directory of a task is not known, so the files of other findings would not be known either.
type taskOutputs struct {
	open   func(prefix string) *taskOutput
	byName map[string]*taskOutput
	opened int
	clock  int // prefixes that were read
}

// taskOutput is the output of one task.
type taskOutput struct {
	readings []*reading
	used     int // the clock when it was last written to
}

// recognised reports whether the task has the output of a test runner.
func (t *taskOutput) recognised() bool {
	return slices.ContainsFunc(t.readings, func(r *reading) bool { return r.collector.recognised })
}

// line reads a line of one of the streams.
func (o *taskOutputs) line(line string, stream int) {
	start := 0
	for range maxTaskDepth {
		length := prefixOf(line[start:])
		if length == 0 {
			return
		}
		start += length
		task := o.task(strings.TrimRight(line[:start], " "))
		if task == nil {
			return
		}
		for _, r := range task.readings {
			r.line(line[start:], stream)
		}
	}
}

// task returns the output of the task with a prefix, nil if there are too many tasks.
func (o *taskOutputs) task(prefix string) *taskOutput {
	o.clock++
	found := o.byName[prefix]
	if found == nil {
		if o.opened == maxTasksEver || len(o.byName) == maxTasks && !o.forget() {
			return nil
		}
		o.opened++
		found = o.open(prefix)
		o.byName[strings.Clone(prefix)] = found
	}
	found.used = o.clock
	return found
}

// forget removes a task in which no test runner was recognised. Of these tasks, it removes the one
// that has had no line for the longest time. It reports whether there was such a task.
func (o *taskOutputs) forget() bool {
	oldest := ""
	for name, task := range o.byName {
		if !task.recognised() && (oldest == "" || task.used < o.byName[oldest].used) {
			oldest = name
		}
	}
	delete(o.byName, oldest)
	return oldest != ""
}

// end ends the tasks, in the order of their prefixes, and returns the readings in which a
// test runner was recognised.
func (o *taskOutputs) end() []*reading {
	var recognised []*reading
	for _, name := range slices.Sorted(maps.Keys(o.byName)) {
		for _, r := range o.byName[name].readings {
			r.end()
			if r.collector.recognised {
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
	head := line[:min(len(line), maxTaskPrefix)]
	var end int
	switch {
	case strings.HasPrefix(head, "["):
		i := strings.IndexAny(head[1:], "[]") + 1
		if i < 2 || head[i] == '[' {
			return 0
		}
		end = i + 1
		if strings.HasPrefix(head[end:], ":") {
			end++
		}
	case strings.HasPrefix(head, "│"):
		end = len("│")
	default:
		name := strings.TrimPrefix(head, "➤ ")
		end = namePrefix(name)
		if end > 0 {
			end += len(head) - len(name)
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

// namePrefix returns the length of the task's name that a line begins with, including the ":" or
// "|" after it. It returns 0 if the line begins with no task's name.
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
			spaces++
			if spaces > 1 {
				return 0
			}
		case !beginsName(c) && (i == 0 || strings.IndexByte("./-:#", c) < 0):
			return 0
		}
	}
	return 0
}

// beginsName reports whether the name of a task may begin with a byte.
func beginsName(c byte) bool {
	return c == '_' || c == '@' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
