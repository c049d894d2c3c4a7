package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/reviewer"
)

// settingsOf is a section of its own, or no value.
func settingsOf(definition, example string) shape {
	schema := `{"anyOf": [{"$ref": "#/definitions/` + definition + `"}, {"type": "null"}]}`
	return shape{schema, "settings or no value, such as " + example, func(n *node) (any, *fault) {
		if n.kind != nullNode && n.kind != mapNode {
			return mismatch()
		}
		return n, nil
	}}
}

// switchOf is a section of its own, or whether there is what it is about.
func switchOf(definition, example string) shape {
	schema := `{"anyOf": [{"$ref": "#/definitions/` + definition + `"}, {"type": "boolean"}]}`
	return shape{schema, "settings, true or false, such as " + example, func(n *node) (any, *fault) {
		if n.kind != boolNode && n.kind != mapNode {
			return mismatch()
		}
		return n, nil
	}}
}

// between is a whole number from least to most.
func between(least, most, example int) shape {
	wants := fmt.Sprintf("a whole number from %d to %d, such as %d", least, most, example)
	schema := fmt.Sprintf(`{"type": "integer", "minimum": %d, "maximum": %d}`, least, most)
	return shape{schema, wants, func(n *node) (any, *fault) {
		i, ok := wholeNumber(n)
		if !ok || i < least || i > most {
			return mismatch()
		}
		return i, nil
	}}
}

// duration is a time with its unit. The schema does not know its bounds.
func duration(least, most time.Duration, example string) shape {
	wants := fmt.Sprintf("a time from %s to %s with its unit, such as %q", short(least), short(most), example)
	return shape{`{"type": "string", "pattern": "^([0-9]+(ms|s|m|h))+$"}`, wants, func(n *node) (any, *fault) {
		if n.kind == numberNode {
			return wrong(n, "expected %s, found %s without a unit; write %q if seconds are meant", wants, n.describe(), n.text+"s")
		}
		d, err := time.ParseDuration(n.text)
		if n.kind != textNode || err != nil || d < least || d > most || strings.Trim(n.text, "0123456789msh") != "" {
			return mismatch()
		}
		return d, nil
	}}
}

// short writes a duration without the parts that are zero.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// commandLine is a command as people write it, on one line or several.
func commandLine(example string) shape {
	const most = 10_000
	schema := fmt.Sprintf(`{"type": "string", "maxLength": %d, "pattern": "\\S"}`, most)
	return shape{schema, "a command line, such as " + strconv.Quote(example), func(n *node) (any, *fault) {
		if n.kind != textNode || strings.TrimSpace(n.text) == "" || len(n.text) > most {
			return mismatch()
		}
		if err := phase.CheckCommand(n.text); err != nil {
			return wrong(n, "%v", err)
		}
		return n.text, nil
	}}
}

// language is one of the languages of phase validation, by any of its names.
func language() shape {
	one := oneOf("javascript", "js", "typescript", "ts", "python", "py", "go", "golang", "rust", "rs", "ruby", "rb", "java")
	return shape{one.schema, one.wants, func(n *node) (any, *fault) {
		v, f := one.parse(n)
		if f != nil {
			return nil, f
		}
		l, _ := phase.LanguageNamed(v.(string)) // the words above are all names
		return l, nil
	}}
}

// checkNames are some of the six checks.
func checkNames() shape {
	checks := []phase.Check{phase.Formatter, phase.Linter, phase.Build, phase.Tests, phase.CodeReviewed, phase.SecurityReview}
	var names, spelt []string
	for _, c := range checks {
		names = append(names, canonical(string(c)))
		spelt = append(spelt, strconv.Quote(string(c)))
		if n := canonical(string(c)); n != string(c) {
			spelt = append(spelt, strconv.Quote(n))
		}
	}
	all := texts(`{"enum": [`+strings.Join(spelt, ", ")+`]}`, "[code-review]", func(s string) string {
		if slices.Contains(names, canonical(s)) {
			return ""
		}
		if near := nearest(canonical(s), names); near != "" {
			return fmt.Sprintf("is not a check; did you mean %q?", near)
		}
		return "is not a check; there are " + strings.Join(names, ", ")
	})
	return shape{all.schema, all.wants, func(n *node) (any, *fault) {
		v, f := all.parse(n)
		if f != nil {
			return nil, f
		}
		var list []phase.Check
		for _, s := range v.([]string) {
			list = append(list, checks[slices.Index(names, canonical(s))])
		}
		return list, nil
	}}
}

// variables are names of environment variables.
func variables() shape {
	return texts(`{"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}`, "[GOFLAGS]", NoVariable)
}

// NoVariable says why a text is not the name of an environment variable; "" where it
// is one.
func NoVariable(s string) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
	if s == "" || strings.Trim(s, letters+"0123456789") != "" || !strings.Contains(letters, s[:1]) {
		return "is not the name of a variable, such as GOFLAGS; a value is not given here"
	}
	return ""
}

// reviewRules are names of built-in rules of one check, or of any where it is "".
func reviewRules(check phase.Check) shape {
	known := sync.OnceValues(reviewer.Rules)
	return texts(`{"type": "string", "pattern": "^[a-z0-9/-]+$"}`, "[todo-without-issue]", func(s string) string {
		rules, err := known()
		if err != nil {
			return "cannot be looked up: " + err.Error()
		}
		var names []string
		for _, r := range rules {
			if r.ID == s && check != "" && r.Check != string(check) {
				return fmt.Sprintf("is a rule of the other review; it belongs below %q", canonical(r.Check))
			} else if r.ID == s {
				return ""
			}
			names = append(names, r.ID)
		}
		if near := nearest(s, names); near != "" {
			return fmt.Sprintf("is not a review rule; did you mean %q?", near)
		}
		return "is not a review rule; docs/review-rules.md lists them"
	})
}
