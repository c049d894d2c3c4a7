package reviewer

import (
	"cmp"
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

// Rule is one rule: the metadata of its findings, and examples that prove it.
type Rule struct {
	finding.Rule
	// Language is the language whose files it reads; "" for every file.
	Language string
	// Check is SecurityReview or CodeReview.
	Check string
	// Message is the message of a finding; {sink} in it is what was called or set.
	Message string
	// Request is the message of a finding whose value comes from a request, which makes it
	// critical; "" where that makes no difference.
	Request string
	// Remediation is one sentence about what to write instead.
	Remediation string
	// Off is the reason why the precision of the rule is low, so that it is off by default, or "".
	Off string
	// Example is the path of the examples, or "" where there are none.
	Example string
	// Rejected is code in which the rule finds something; Accepted is code that
	// looks alike and is right.
	Rejected, Accepted []string

	meant meant
	// joined is set if a finding has the rule's precision only where a request sends a part of a text,
	// and not all of it. To run entire queries or commands may be what the program is for.
	joined bool
	// forms are the precisions of what it finds.
	forms []finding.Precision
}

// meant says how code shows that it does on purpose what a rule looks for. A finding would tell the
// code's author nothing.
type meant struct {
	// Place matches the paths of files, and the names of functions, whose purpose is what the rule
	// looks for. What comes from a request is found there, too.
	Place *regexp.Regexp
	// Before matches a text before the code, in the function that contains the code.
	Before *regexp.Regexp
	// Around matches a text anywhere in that function, such as the name of a protocol that asks for
	// the code.
	Around *regexp.Regexp
	// Under matches the head of a block that contains the code, such as an if that reads a variable
	// of the environment: it shows that somebody asked for the code.
	Under *regexp.Regexp
}

// finding returns a finding of the rule.
func (r *Rule) finding(path, sink string, at finding.Range) finding.Finding {
	return finding.Finding{Check: r.Check, Tool: Tool, Rule: r.ID, Severity: r.Severity, Message: strings.ReplaceAll(r.Message, "{sink}", sink), Path: path, Range: at}
}

// Rules returns every built-in rule, in a stable order.
func Rules() ([]Rule, error) {
	built, err := builtIn()
	if err != nil {
		return nil, err
	}
	rules := make([]Rule, len(built.rules))
	for i, r := range built.rules {
		rules[i] = *r
	}
	return rules, nil
}

// catalogue is every built-in rule, and the packs of the languages.
type catalogue struct {
	rules []*Rule
	byID  map[string]*Rule
	packs map[string]*pack
}

//go:embed rules/*.yaml
var ruleFiles embed.FS

// builtIn reads the rules, once a process: they are constant.
var builtIn = sync.OnceValues(func() (*catalogue, error) {
	built := &catalogue{byID: map[string]*Rule{}, packs: map[string]*pack{}}
	if err := built.addRules("secrets", SecurityReview, "security"); err != nil {
		return nil, err
	}
	var weaknesses []ruleText
	if err := decode("weaknesses", &weaknesses); err != nil {
		return nil, err
	}
	for _, l := range languages {
		p := &pack{}
		if err := decode(l.name, p); err != nil {
			return nil, err
		}
		if err := p.link(weaknesses); err != nil {
			return nil, fmt.Errorf("the rules of %s: %w", l.name, err)
		}
		built.packs[l.name] = p
		built.rules = append(built.rules, p.rules...)
	}
	err := errors.Join(built.addRules("credentials", SecurityReview, "security"), built.addRules("workflow", SecurityReview, "security"),
		built.addRules("code", CodeReview, "maintainability"))
	for _, r := range built.rules {
		built.byID[r.ID] = r
	}
	if err == nil {
		built.byID[secretRule].addForm(finding.PrecisionMedium)   // found by its place alone, or half of a credential
		built.byID[secretRule].addForm(finding.PrecisionLow)      // only the number of a key
		built.byID["disabled-test"].addForm(finding.PrecisionLow) // a new test: see reportDisabled
		built.byID["focused-test"].addForm(finding.PrecisionMedium)
		built.byID["workflow/expression-injection"].addForm(finding.PrecisionMedium) // of a run without secrets
	}
	return built, err
})

// addRules adds the rules of a file. What they mean is data; what they match is Go code.
func (c *catalogue) addRules(file, check, tag string) error {
	var texts []ruleText
	err := decode(file, &texts)
	for _, t := range texts {
		c.rules = append(c.rules, t.rule(check, tag))
	}
	return err
}

// decode reads a file of rules. A key that it does not know is an error.
func decode(name string, into any) error {
	f, err := ruleFiles.Open("rules/" + name + ".yaml")
	if err != nil {
		return err
	}
	defer f.Close()
	d := yaml.NewDecoder(f)
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("rules/%s.yaml: %w", name, err)
	}
	return nil
}

// ruleText is a rule, or the weakness that the rules of several languages find, as the
// files have it.
type ruleText struct {
	ID, Name, Message, Request, Full, Help, Remediation string
	CWE                                                 []int
	Severity                                            finding.Severity
	Precision                                           finding.Precision
	Off, Example                                        string
	Rejected, Accepted                                  []string
	// Meant says how code shows that a weakness is there on purpose.
	Meant meant
	// Joined is a weakness's Rule.joined.
	Joined bool
	// Weakness and Patterns are those of a rule in a pack.
	Weakness string
	Patterns []*pattern
}

func (t ruleText) rule(check, tag string) *Rule {
	return &Rule{
		Rule: finding.Rule{ID: t.ID, Name: t.Name, Short: t.Remediation, Full: cmp.Or(t.Full, t.Message), Help: cmp.Or(t.Help, t.Remediation), CWE: t.CWE,
			Severity: t.Severity, Precision: t.Precision, Tags: []string{tag}},
		Check: check, Message: t.Message, Request: t.Request, Remediation: t.Remediation, Off: t.Off, Example: t.Example, Rejected: t.Rejected, Accepted: t.Accepted,
	}
}

// pack is what is known of one language: its rules, and the functions whose results the
// evaluator knows something about.
type pack struct {
	Language string
	// Inputs matches source that reads a stranger's text, such as req.query. Parameters matches
	// parameters of functions that receive such a text, such as @RequestParam.
	Inputs, Parameters *regexp.Regexp
	// Routes matches the source before the name of a function that answers requests, such as
	// @app.route("/a"). The function's parameters are a stranger's text.
	Routes *regexp.Regexp
	// Clean lists functions whose result does no harm: parseInt, shlex.quote.
	Clean wordSet
	// Formats lists functions that fill the places of a format: Sprintf.
	Formats wordSet
	// Joins lists functions that join their arguments to one text: concat.
	Joins wordSet
	// Keeps lists functions that return their argument, or nearly the same: trim.
	Keeps wordSet
	// Parts lists methods that return a part of their receiver: get, next.
	Parts wordSet
	// Lookups lists functions that return what the program has stored, though a request says which.
	Lookups wordSet
	// Grows lists methods that append to their receiver: WriteString.
	Grows wordSet
	// Tags lists words before a template literal that escape the values in its holes: html`…`.
	Tags wordSet
	// Modules lists the modules whose functions a file may give names of its own.
	Modules wordSet
	Rules   []ruleText

	rules                  []*Rule
	calls, sets, receivers map[string][]*pattern // keyed by the last part of the name
}

// link makes the rules of a pack out of the weaknesses that they find, and files their
// patterns by name.
func (p *pack) link(weaknesses []ruleText) error {
	p.calls, p.sets, p.receivers = map[string][]*pattern{}, map[string][]*pattern{}, map[string][]*pattern{}
	for _, text := range p.Rules {
		i := slices.IndexFunc(weaknesses, func(w ruleText) bool { return w.ID == text.Weakness })
		if i < 0 {
			return fmt.Errorf("there is no weakness %q", text.Weakness)
		}
		meaning := weaknesses[i]
		text.ID, text.Name, text.Message, text.Request, text.Remediation, text.CWE = p.Language+"/"+meaning.ID, meaning.Name, meaning.Message, meaning.Request, meaning.Remediation, meaning.CWE
		text.Full, text.Help = meaning.Help, meaning.Help+"\n\n"+meaning.Remediation
		text.Severity = cmp.Or(text.Severity, meaning.Severity)
		text.Example = "a" + languageNamed(p.Language).extensions[0]
		rule := text.rule(SecurityReview, "security")
		rule.Language, rule.meant, rule.joined = p.Language, meaning.Meant, meaning.Joined
		p.rules = append(p.rules, rule)
		for _, pattern := range text.Patterns {
			if err := pattern.check(); err != nil {
				return fmt.Errorf("%s: %w", rule.ID, err)
			}
			pattern.rule = rule
			pattern.form = pattern.formPrecision()
			rule.addForms(pattern)
			pattern.fileUnder(p.calls, pattern.Call)
			pattern.fileUnder(p.sets, pattern.Set)
			pattern.fileUnder(p.receivers, pattern.On)
		}
	}
	return nil
}

// wordSet is a set of names.
type wordSet map[string]bool

// wordSetOf returns the set of the words of a text.
func wordSetOf(text string) wordSet { return setOf(strings.Fields(text)) }

func setOf(list []string) wordSet {
	set := make(wordSet, len(list))
	for _, w := range list {
		set[w] = true
	}
	return set
}

// UnmarshalYAML reads a list of words.
func (s *wordSet) UnmarshalYAML(n *yaml.Node) error {
	var list []string
	if err := n.Decode(&list); err != nil {
		return err
	}
	*s = setOf(list)
	return nil
}
