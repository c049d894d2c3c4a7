package reviewer

import (
	"embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/agent-airlock/airlock/internal/finding"
)

// Tool is the name under which findings of this package appear.
const Tool = "airlock"

// Rule is one rule with its own proof: the metadata of its findings, and examples.
type Rule struct {
	finding.Rule
	// Language is the language whose files it reads; "" for every file.
	Language string
	// Check is SecurityReview or CodeReview.
	Check string
	// Message is what a finding says; {sink} in it is what was called or set.
	Message string
	// Remediation says in one sentence what to write instead.
	Remediation string
	// Off says why the rule is not used unless it is asked for, or is "".
	Off string
	// Example is the path that the examples have, or "" where there are none.
	Example string
	// Rejected is code in which the rule finds something; Accepted is code that
	// looks alike and is right.
	Rejected, Accepted []string
}

// weakness is what a rule's findings mean, in whatever language.
type weakness struct {
	ID, Name, Message, Help, Remediation string
	CWE                                  []int
	Severity                             finding.Severity
}

// packFile is a rule pack as it is written.
type packFile struct {
	Language, Inputs string
	// Parameters matches parameters of functions by which a stranger's text comes in.
	Parameters string
	// Formats to Joins are names of functions that make text of text. Grows are
	// methods that append to what they are called on.
	Formats, Clean, Keeps, Joins, Grows []string
	Rules                               []struct {
		Weakness           string
		Precision          finding.Precision
		Severity           finding.Severity
		Off                string
		Patterns           []patternFile
		Accepted, Rejected []string
	}
}

// patternFile is a pattern as it is written: a call or a setting, and what has to
// hold for it. The expressions are RE2's, so they take linear time.
type patternFile struct {
	Call, Set []string
	On        []string // methods, where what they are called on is the value
	Argument  any      // from 1, or a name; 0 where the call itself matters
	Each      bool     // what follows has to hold for one element of the argument, which is a list
	Is        string   // built, changing or input
	Text      string   // of the value's literal parts, with \x00 for what changes
	Source    string   // of the value's source, and that of the names in it
	Written   string   // of the value as it is written there
	Unless    string   // none in the value's source and in the call's arguments
	Arguments string   // of all arguments as written
	Statement string   // of the line and the names of the functions that it is in
	Chain     string   // of the calls that the call hangs on
	Behind    string   // of what stands behind the call
	File      string   // of the whole file
	Without   string   // none in the whole file
}

// pack is a rule pack that is ready to be used.
type pack struct {
	inputs, parameters                  *regexp.Regexp // parameters may be nil
	formats, clean, keeps, joins, grows map[string]bool
	calls, sets, receivers              map[string][]*pattern // by the last part of the name
	rules                               []*Rule
}

type pattern struct {
	patternFile
	rule     *Rule
	name     []string
	position int
	keyword  string
	text, source, written, unless, arguments, statement, chain, behind,
	file, without *regexp.Regexp
}

//go:embed rules/*.yaml
var ruleFiles embed.FS

// packs reads the rule packs, once a process: they are constant.
var packs = sync.OnceValues(func() (map[string]*pack, error) {
	known := map[string]weakness{}
	var list []weakness
	if err := decode("rules/weaknesses.yaml", &list); err != nil {
		return nil, err
	}
	for _, w := range list {
		known[w.ID] = w
	}
	all := map[string]*pack{}
	for _, l := range languages {
		var f packFile
		name := "rules/" + l.name + ".yaml"
		if _, err := ruleFiles.Open(name); err != nil {
			continue // the language is known, rules for it are not written yet
		}
		if err := decode(name, &f); err != nil {
			return nil, err
		}
		p, err := newPack(f, known)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all[l.name] = p
	}
	return all, nil
})

func decode(name string, into any) error {
	f, err := ruleFiles.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	d := yaml.NewDecoder(f)
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func newPack(f packFile, known map[string]weakness) (*pack, error) {
	inputs, err := regexp.Compile(f.Inputs)
	if err != nil {
		return nil, err
	}
	p := &pack{inputs: inputs, formats: set(f.Formats), clean: set(f.Clean), keeps: set(f.Keeps), joins: set(f.Joins), grows: set(f.Grows),
		calls: map[string][]*pattern{}, sets: map[string][]*pattern{}, receivers: map[string][]*pattern{}}
	if f.Parameters != "" {
		if p.parameters, err = regexp.Compile(f.Parameters); err != nil {
			return nil, err
		}
	}
	for _, r := range f.Rules {
		w, ok := known[r.Weakness]
		if !ok {
			return nil, fmt.Errorf("there is no weakness %q", r.Weakness)
		}
		severity := w.Severity
		if r.Severity != "" {
			severity = r.Severity
		}
		rule := &Rule{
			Rule: finding.Rule{ID: f.Language + "/" + w.ID, Name: w.Name, Short: w.Remediation, Full: w.Help, Help: w.Help + "\n\n" + w.Remediation, CWE: w.CWE,
				Severity: severity, Precision: r.Precision, Tags: []string{"security"}},
			Language: f.Language, Check: SecurityReview, Message: w.Message, Remediation: w.Remediation, Off: r.Off, Example: "a" + languageNamed(f.Language).extensions[0],
			Rejected: r.Rejected, Accepted: r.Accepted,
		}
		p.rules = append(p.rules, rule)
		for _, raw := range r.Patterns {
			if err := p.add(rule, raw); err != nil {
				return nil, fmt.Errorf("%s: %w", rule.ID, err)
			}
		}
	}
	return p, nil
}

// add compiles a pattern and files it under the last part of each of its names.
func (p *pack) add(rule *Rule, raw patternFile) error {
	if !slices.Contains([]string{"", "built", "changing", "input"}, raw.Is) {
		return fmt.Errorf("%q is not built, changing or input", raw.Is)
	}
	if len(raw.Call)+len(raw.Set)+len(raw.On) == 0 {
		return errors.New("a pattern needs call, set or on")
	}
	base := pattern{patternFile: raw, rule: rule, position: 1}
	switch a := raw.Argument.(type) {
	case nil:
	case int:
		base.position = a
	case string:
		base.keyword = a
	default:
		return fmt.Errorf("argument %v is neither a number nor a name", a)
	}
	for _, e := range []struct {
		from string
		to   **regexp.Regexp
	}{{raw.Text, &base.text}, {raw.Source, &base.source}, {raw.Written, &base.written}, {raw.Unless, &base.unless}, {raw.Arguments, &base.arguments},
		{raw.Statement, &base.statement}, {raw.Chain, &base.chain}, {raw.Behind, &base.behind}, {raw.File, &base.file}, {raw.Without, &base.without}} {
		if e.from == "" {
			continue
		}
		re, err := regexp.Compile(e.from)
		if err != nil {
			return err
		}
		*e.to = re
	}
	file := func(names []string, under map[string][]*pattern) {
		for _, n := range names {
			one := base
			one.name = strings.Split(n, ".")
			last := one.name[len(one.name)-1]
			under[last] = append(under[last], &one)
		}
	}
	file(raw.Call, p.calls)
	file(raw.Set, p.sets)
	file(raw.On, p.receivers)
	return nil
}

func set(words []string) map[string]bool {
	s := make(map[string]bool, len(words))
	for _, w := range words {
		s[w] = true
	}
	return s
}
