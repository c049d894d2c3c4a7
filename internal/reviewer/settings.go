package reviewer

import "strings"

// inConnections finds passwords in a text that begins at an offset.
func inConnections(said string, offset int) []writtenCredential {
	if len(said) > longestSource || !strings.Contains(said, "=") || !strings.Contains(said, "assword") && !strings.Contains(said, "wd") || !connected.MatchString(said) || local.MatchString(said) {
		return nil
	}
	var places []writtenCredential
	for _, m := range connection.FindAllStringSubmatchIndex(said, -1) {
		if plausible(said[m[2]:m[3]]) {
			places = append(places, writtenCredential{offset + m[2], offset + m[3], inConnection})
		}
	}
	return places
}

// inSettings finds the values of telling names in a file of settings.
func inSettings(t string) []writtenCredential {
	var places []writtenCredential
	at := 0
	for line := range strings.Lines(t) {
		if len(line) <= longestSource {
			var m []int
			if sign := strings.IndexAny(line, ":="); sign > 0 && telling(strings.TrimRight(line[:sign], " \t\"'")) {
				m = setting.FindStringSubmatchIndex(strings.TrimRight(line, "\r\n"))
			}
			if m == nil {
				places = append(places, inPairs(line, at)...)
				places = append(places, inConnections(line, at)...)
			} else if name := line[m[2]:m[3]]; !otherName.MatchString(name) && credible(name, line[m[4]:m[5]], false) {
				places = append(places, writtenCredential{at + m[4], at + m[5], "The value of " + name + " is written down"})
			}
		}
		at += len(line)
	}
	return places
}

// inPairs finds the values of telling names among the pairs of one line, which begins
// at an offset, as JSON has them: {"user": "app", "password": "..."}.
func inPairs(line string, offset int) []writtenCredential {
	const sign = `":`
	var places []writtenCredential
	for from := 0; ; {
		i := strings.Index(line[from:], sign)
		if i < 0 {
			return places
		}
		end := from + i
		name := line[from+strings.LastIndexByte(line[from:end], '"')+1 : end]
		from = end + len(sign)
		rest := strings.TrimLeft(line[from:], " \t")
		begin := len(line) - len(rest) + 1
		value, _, closed := strings.Cut(strings.TrimPrefix(rest, `"`), `"`)
		if !closed || rest[0] != '"' || strings.Contains(value, `\`) || len(value) > longestValue || !telling(name) || !settingName.MatchString(name) || otherName.MatchString(name) {
			continue
		}
		if credible(name, value, false) {
			places = append(places, writtenCredential{offset + begin, offset + begin + len(value), "The value of " + name + " is written down"})
		}
		from = begin + len(value)
	}
}

// longestValue bounds a credential, in bytes.
const longestValue = 128
