package reviewer

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/text"
)

// mostTakenOut is how many of the lines that the change takes out of one file are listed.
const mostTakenOut = 8

// takenOut returns the settings that the change takes out of a tool's configuration, and those that
// it replaces, unless the new setting certainly asks for as much as before. For a file that the
// tool does not read any more, it returns a single silence.
func (t *silencerTable) takenOut(f *File) []Silence {
	name := cmp.Or(f.Previous, f.Path)
	if !f.Deleted && f.Previous == "" && !strings.Contains(f.Patch, "\n-") {
		return nil
	}
	var base string
	var lines []baseLine
	for _, s := range t.all {
		if s.Path == nil || !s.Path.MatchString(name) {
			continue
		}
		if lines == nil {
			ok := false
			if base, lines, ok = f.base(); !ok {
				return nil
			}
		}
		watched := slices.DeleteFunc(s.settings(base), func(set setting) bool { return set.silences || !s.watches(name, set) })
		if len(watched) == 0 {
			continue
		}
		movedDown := path.Dir(name) == "." && path.Dir(f.Path) != "." // at the top it is about the entire repository
		gone := f.Deleted || movedDown || !s.Path.MatchString(f.Path)
		if gone {
			return []Silence{{Tool: s.Tool, Path: name, Text: fmt.Sprintf("the file, with %s", text.Count(len(watched), "setting")), Scope: ScopeProject, TakesOut: true}}
		}
		var found []Silence
		for _, change := range lost(s.Tool+" "+path.Base(name), watched, s.settings(f.Text)) {
			one := s.silence(lines[change.line-1].now, change.text, ScopeProject)
			one.TakesOut, one.Path = true, f.Path
			found = append(found, one)
		}
		if more := len(found) - mostTakenOut; more > 0 {
			found = found[:mostTakenOut+1]
			found[mostTakenOut].Text = fmt.Sprintf("%s more", text.Count(more, "line"))
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// watches reports whether a setting asks the tool to do something.
func (s silencer) watches(name string, set setting) bool {
	return !asksNothing.MatchString(set.text) && (s.Watch == nil || s.Watch.MatchString(path.Base(name)+":"+set.keys+" "+set.text))
}

// asksNothing matches a line of a configuration that asks the tool for nothing: it imports or
// exports a module, or names a schema or a version.
var asksNothing = lazyregexp.New(`^(import\b|(const|let|var)\b.*\b(require|import)\(|export default\b|module\.exports\b|"?\$?schema"?\s*:|"?version"?\s*[:=])`)

// lost returns the settings of a base that the head does not have. If a setting has another value
// in the head, its text names both values. The setting is left out if the new value asks for as
// much as the old one. It is also left out if the new value silences the tool, which is reported on
// its own. about is the tool and the name of its configuration.
func lost(about string, base, head []setting) []setting {
	has := map[string]int{}
	byKeys := map[string][]setting{}
	for _, set := range head {
		has[set.id()]++
	}
	for _, set := range base {
		has[set.id()]--
	}
	for _, set := range head {
		if has[set.id()] > 0 {
			byKeys[set.keys] = append(byKeys[set.keys], set)
		}
	}
	var found []setting
	for _, set := range base {
		if has[set.id()] >= 0 {
			continue
		}
		has[set.id()]++
		if now := byKeys[set.keys]; len(now) > 0 && set.isValue() && now[0].isValue() {
			byKeys[set.keys] = now[1:]
			if now[0].silences || asksForAsMuch(about, set, now[0]) {
				continue
			}
			set.text = strings.TrimSuffix(set.text, ",") + ", now " + now[0].text
		}
		found = append(found, set)
	}
	return found
}

// id returns a text that is the same for equal settings, wherever in the file they are.
func (s setting) id() string {
	return s.keys + "\x00" + strings.Join(strings.Fields(strings.TrimRight(s.text, ",;")), " ")
}

// isValue reports whether the line of a setting contains its last key and the value. An element of
// a list, for example, has its key on a line before.
func (s setting) isValue() bool {
	m := key.FindStringSubmatch(s.text)
	return m != nil && (s.keys == m[1] || strings.HasSuffix(s.keys, "."+m[1]))
}

var (
	// aNumber matches a value that is only a number.
	aNumber = lazyregexp.New(`^["']?(-?\d+(?:\.\d+)?)%?["']?$`)
	// mostOf matches keys whose number is the most that passes, and notMost those of them of which
	// that is not certain: min-length and max-issues are among them, min-complexity is not.
	mostOf  = lazyregexp.New(`(?i)max[^.]*$|length[^.]*$|limit[^.]*$|width[^.]*$|complexity[^.]*$|\bfunlen\.(?:lines|statements)$|\bdupl\.threshold$`)
	notMost = lazyregexp.New(`(?i)(?:^|[^a-z])min[^.]*(?:length|limit|width)[^.]*$|max[^.]*issues[^.]*$`)
	// leastOf matches keys whose number is the least that passes, if something about the setting shows
	// that it is about coverage or the like. The lines of funlen, for example, are the most.
	leastOf  = lazyregexp.New(`(?i)(?:cover|fail.?under|branches|functions|lines|statements|\bminimum)[^.]*$`)
	coverage = lazyregexp.New(`(?i)cover|fail.?under|\bminimum\b`)
	// level matches how much a rule asks for, from nothing to everything.
	level = lazyregexp.New(`(?i)^[\["']*(?:(off|false|none|null|ignore|0)|(warn(?:ing)?|info(?:rmation)?|1)|(error|true|deny|forbid|always|2))(?:[\]"',;\s]|$)`)
)

// asksForAsMuch reports whether a setting certainly asks for as much as before. about is the tool and
// the name of its configuration.
func asksForAsMuch(about string, before, now setting) bool {
	had, has := valueOf(before.text), valueOf(now.text)
	if strings.HasPrefix(had, "[") && strings.HasPrefix(has, "[") {
		elements := listed(has)
		return !slices.ContainsFunc(listed(had), func(e string) bool { return !slices.Contains(elements, e) })
	}
	hadNumber, isNumber := numberOf(had)
	hasNumber, isStill := numberOf(has)
	if isNumber && isStill {
		switch keys := before.keys; {
		case mostOf.MatchString(keys):
			return hasNumber <= hadNumber && hasNumber > 0 && !notMost.MatchString(keys) // 0 and -1 may stand for no limit
		case leastOf.MatchString(keys) && coverage.MatchString(about+" "+keys): // below 0 it may be the most that is uncovered
			return hasNumber >= hadNumber && (hadNumber < 0) == (hasNumber < 0)
		}
	}
	hadLevel, hasLevel := levelOf(had), levelOf(has)
	return hadLevel > 0 && hasLevel >= hadLevel
}

// numberOf returns the number that a value is, if it is one.
func numberOf(value string) (n float64, ok bool) {
	m := aNumber.FindStringSubmatch(value)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(m[1], 64)
	return n, err == nil
}

// listed returns the elements of a list that is written on one line.
func listed(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune("[]\"', \t", r) })
}

// valueOf returns what stands after the key of a setting.
func valueOf(set string) string {
	return strings.TrimRight(strings.TrimSpace(set[len(key.FindString(set)):]), ",;")
}

// levelOf returns how much the level of a rule asks for, 0 if the text has none.
func levelOf(text string) int {
	m := level.FindStringSubmatchIndex(text)
	for i := 1; m != nil && i <= 3; i++ {
		if m[2*i] >= 0 {
			return i
		}
	}
	return 0
}

// baseLine is a line of a file as it was before the change.
type baseLine struct {
	now            int // which line of the new file stands there, 0 in a file that is gone
	removed, blank bool
}

// base returns the file as it was before the change, and its lines; nothing for a deleted file
// without a patch. For any other file whose base is not known, ok is false.
func (f *File) base() (base string, lines []baseLine, ok bool) {
	if f.Patch == "" {
		if f.Deleted || f.Previous == "" {
			return "", nil, f.Deleted
		}
		for i := range strings.Count(f.Text, "\n") + 1 { // it was only renamed: no line is left under the old name
			lines = append(lines, baseLine{now: i + 1, removed: true})
		}
		return f.Text, lines, true
	}
	if _, err := changes.ParsePatch(f.Patch); err != nil {
		return "", nil, false
	}
	var b strings.Builder
	head := slices.Collect(strings.Lines(f.Text))
	next := 1 // the line of the new file that comes next
	keep := func(until int) {
		for ; next < until && next <= len(head); next++ {
			b.WriteString(head[next-1])
			lines = append(lines, baseLine{now: next, blank: isBlank(head[next-1])})
		}
	}
	for line := range strings.Lines(f.Patch) {
		switch {
		case strings.HasPrefix(line, "@@"):
			if m := hunkStart.FindStringSubmatch(line); m != nil {
				first, _ := strconv.Atoi(m[1])
				if m[2] == "0" {
					first++ // a hunk without new lines names the line before it
				}
				keep(first)
			}
		case strings.HasPrefix(line, "-"):
			b.WriteString(line[1:])
			gone := baseLine{removed: true}
			if len(head) > 0 {
				gone.now = max(1, min(next, len(head)))
			}
			lines = append(lines, gone)
		case strings.HasPrefix(line, "+"):
			next++
		case !strings.HasPrefix(line, `\`):
			keep(next + 1)
		}
	}
	keep(len(head) + 1)
	return b.String(), lines, true
}

// isBlank reports whether a line has nothing that is a statement.
func isBlank(line string) bool { return strings.Trim(line, " \t\r\n{}()[];,") == "" }

// hunkStart matches the header of a hunk: where it begins in the new file, and how many lines of it
// the hunk has.
var hunkStart = lazyregexp.New(`^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@`)
