package reviewer

import (
	"embed"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/agent-airlock/airlock/internal/finding"
)

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
	// methods that append to what they are called on. Tags are what stands before
	// template literals and escapes what fills them.
	Formats, Clean, Keeps, Joins, Grows, Tags []string
	// Modules are those whose functions may be called by names of a file's own.
	Modules []string
	Rules   []struct {
		Weakness           string
		Precision          finding.Precision
		Severity           finding.Severity
		Off                string
		Patterns           []patternFile
		Accepted, Rejected []string
	}
}

// pack is a rule pack that is ready to be used.
type pack struct {
	inputs, parameters                                 *regexp.Regexp // parameters may be nil
	formats, clean, keeps, joins, grows, tags, modules map[string]bool
	calls, sets, receivers                             map[string][]*pattern // by the last part of the name
	rules                                              []*Rule
}

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

func newPack(f packFile, known map[string]weakness) (*pack, error) {
	inputs, err := regexp.Compile(f.Inputs)
	if err != nil {
		return nil, err
	}
	p := &pack{inputs: inputs, formats: set(f.Formats), clean: set(f.Clean), keeps: set(f.Keeps), joins: set(f.Joins), grows: set(f.Grows), tags: set(f.Tags), modules: set(f.Modules),
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

// add files a pattern under the last part of each of its names.
func (p *pack) add(rule *Rule, raw patternFile) error {
	compiled, err := compile(rule, raw)
	if err != nil {
		return err
	}
	file := func(names []string, under map[string][]*pattern) {
		for _, n := range names {
			one := compiled
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

//go:embed rules/*.yaml
var ruleFiles embed.FS

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

// plainRules reads the rules that Go code looks for: what they mean is data, what
// they match is not.
func plainRules(name, check, tag string) ([]*Rule, error) {
	var list []struct {
		ID, Name, Message, Remediation, Off, Example string
		CWE                                          []int
		Severity                                     finding.Severity
		Precision                                    finding.Precision
		Rejected, Accepted                           []string
	}
	if err := decode(name, &list); err != nil {
		return nil, err
	}
	var rules []*Rule
	for _, r := range list {
		rules = append(rules, &Rule{
			Rule: finding.Rule{ID: r.ID, Name: r.Name, Short: r.Remediation, Full: r.Message, Help: r.Remediation, CWE: r.CWE, Severity: r.Severity,
				Precision: r.Precision, Tags: []string{tag}},
			Check: check, Message: r.Message, Remediation: r.Remediation, Off: r.Off, Example: r.Example, Rejected: r.Rejected, Accepted: r.Accepted,
		})
	}
	return rules, nil
}

// codeRules and workflowRules are read once a process: they are constant.
var (
	codeRules     = sync.OnceValues(func() ([]*Rule, error) { return plainRules("rules/code.yaml", CodeReview, "maintainability") })
	workflowRules = sync.OnceValues(func() ([]*Rule, error) { return plainRules("rules/workflow.yaml", SecurityReview, "security") })
)

// byID returns rules by their IDs.
func byID(rules []*Rule, err error) (map[string]*Rule, error) {
	m := make(map[string]*Rule, len(rules))
	for _, r := range rules {
		m[r.ID] = r
	}
	return m, err
}
