package secrets

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/pelletier/go-toml/v2"
	"github.com/zricethezav/gitleaks/v8/config"
)

// ruleFile is the part of gitleaks' configuration that is used. Its parts about commits, and most
// about paths, have no meaning here.
type ruleFile struct {
	Allowlist allowText
	Rules     []ruleText
}

// ruleText is a rule of gitleaks' configuration.
type ruleText struct {
	ID, Description string
	Regex, Path     string
	SecretGroup     int
	Entropy         float64
	Keywords        []string
	Allowlists      []allowText
}

// ruleSet contains all rules, and the keywords near which they are tried.
type ruleSet struct {
	rules    []*rule
	keywords *searcher
	wakes    [][]int // by keyword, the indexes of the rules that are tried there
}

// rule is one kind of secret. Its expressions are compiled when they are first
// needed: all together take 25 ms, and most texts need none.
type rule struct {
	id, name   string
	path       *lazyregexp.Regexp // nil: any file
	expression func() expression
	group      int      // the group of the expression that is the secret; 0: the first that is not empty
	entropy    float64  // a secret has more, in bits a byte
	named      bool     // the rule looks for a name, an operator and a value
	issuer     []string // the issuer's names, in lower case, if the rule is named
	ours       bool     // it is a rule of issuerRules
	allow      []allowList

	// keywords and find are set in our own rules about passwords. find is called for each
	// occurrence of a keyword, and returns the place of a secret that it has judged itself.
	keywords []string
	find     func(text string, start, end int) (from, to int, ok bool)
}

// Rules with a treatment of their own.
const (
	// GeneralRule finds anything that is assigned to a name like key or password, and is often
	// wrong.
	GeneralRule = "generic-api-key"
	// sourcegraphRule also matches the bare name of a commit wherever a text mentions
	// Sourcegraph, as lock files do.
	sourcegraphRule = "sourcegraph-access-token"
	// vaultRule keeps its endPart: with anyEnd it would also match calls of methods with long
	// names, such as s.method(...).
	vaultRule = "vault-service-token"
	// awsIDRule matches the id of an AWS access key, which is half of a credential.
	awsIDRule = "aws-access-token"
	// jwtRule matches tokens that are signed with any key and valid at any time.
	jwtRule = "jwt"
	// jwkRule matches a member "d" or "k" of any JSON object, of which few are keys: see isInKey.
	jwkRule = "jwk-private-key"
	// terraformRule matches the password of a resource of Terraform.
	terraformRule = "hashicorp-tf-password"
	// kubernetesRule matches the first value of a Secret in YAML.
	kubernetesRule = "kubernetes-secret-yaml"
	// keyRule is for PEM blocks. Anybody can write any word between their lines, so only
	// the content of the block decides what is harmless.
	keyRule = "private-key"
	// urlRule is for passwords in URLs.
	urlRule = "url-password"
)

// farKeyword lists the rules whose keyword may be anywhere in the text, outside of the match.
var farKeyword = map[string]bool{"airtable-personnal-access-token": true, "facebook-access-token": true}

// namePart is the part of gitleaks' rules about a name, an operator and a value that matches the
// beginning of the name. It is left out: the rules find the same without it, and fifty times faster.
const namePart = `[\w.-]{0,50}?`

// leastEntropy is the entropy that secrets of issuerRules exceed, in bits a byte. 32 random
// hexadecimal digits have 3.6.
const leastEntropy = 2.8

// endPart is the part of gitleaks' rules that matches after a token: a quote, a space, a semicolon
// or the end of the text. In texts and URLs other characters follow too, which anyEnd accepts.
const (
	endPart = `(?:[\x60'"\s;]|\\[nr]|$)`
	anyEnd  = `(?:[^0-9A-Za-z_+/=-]|$)`
)

// loadRules reads gitleaks' default rules and ours. It leaves out rules without an expression or
// without a keyword, which are not about text. In this version that is the rule about the names of
// PKCS #12 files.
func loadRules() (*ruleSet, error) {
	var file ruleFile
	if err := toml.Unmarshal([]byte(config.DefaultConfig), &file); err != nil {
		return nil, fmt.Errorf("the built-in rules cannot be read: %w", err)
	}
	all := allowLists([]allowText{file.Allowlist})
	set := &ruleSet{}
	byKeyword := map[string][]int{}
	add := func(r *rule, keywords []string) {
		for _, k := range keywords {
			byKeyword[k] = append(byKeyword[k], len(set.rules))
		}
		set.rules = append(set.rules, r)
	}
	for _, r := range file.Rules {
		if r.Regex != "" && len(r.Keywords) > 0 {
			keywords := lowerWords(r.Keywords)
			add(newRule(r, keywords, all), keywords)
		}
	}
	for _, r := range issuerRules() {
		add(&rule{
			id: r.id, name: r.name, entropy: leastEntropy, ours: true,
			expression: sync.OnceValue(func() expression { return newExpression(r.expression, r.keywords) }),
		}, r.keywords)
	}
	for _, r := range passwordRules() {
		add(r, r.keywords)
	}
	words := slices.Sorted(maps.Keys(byKeyword))
	for _, k := range words {
		set.wakes = append(set.wakes, byKeyword[k])
	}
	set.keywords = newSearcher(words, anyCase)
	return set, nil
}

func newRule(r ruleText, keywords []string, all []allowList) *rule {
	made := &rule{
		id: r.ID, name: ruleName(r), group: r.SecretGroup, entropy: r.Entropy,
		named: strings.Contains(r.Regex, namePart), allow: slices.Concat(all, allowLists(r.Allowlists)),
	}
	if made.named {
		for _, k := range keywords {
			if strings.Contains(r.ID, k) { // others are prefixes of the values
				made.issuer = append(made.issuer, k)
			}
		}
	}
	text := strings.ReplaceAll(r.Regex, namePart, "")
	if !made.named && r.ID != vaultRule {
		text = strings.Replace(text, endPart, anyEnd, 1)
	}
	made.expression = sync.OnceValue(func() expression { return newExpression(text, keywords) })
	if r.Path != "" {
		made.path = lazyregexp.New(r.Path)
	}
	return made
}

// ruleName returns what people call the secret that a rule finds: the first clause of the rule's
// description without the verb, such as "a potential Stripe key". If the clause does not fit a
// sentence, the name has the rule's id instead.
func ruleName(r ruleText) string {
	clause, _, _ := strings.Cut(strings.TrimSuffix(r.Description, "."), ",")
	verb, what, _ := strings.Cut(clause, " ")
	article, _, _ := strings.Cut(what, " ")
	isFinding := slices.Contains([]string{"Uncovered", "Identified", "Detected", "Discovered", "Found"}, verb)
	if isFinding && (article == "a" || article == "an") {
		return what
	}
	return "a possible secret (" + r.ID + ")"
}

// allowText is a list of harmless texts in gitleaks' configuration.
type allowText struct {
	Condition   string
	RegexTarget string
	Regexes     []string
	StopWords   []string
}

// allowList matches harmless texts that a rule's expression matches, too.
type allowList struct {
	// target is what expressions are tried on: "": the secret; "match": all that matched; "line": the
	// line around it. The words are looked for in the secret.
	target      string
	expressions []*lazyregexp.Regexp
	words       func() *searcher // nil: none
}

// allowLists returns what gitleaks allows by content. Lists that need a path or a
// commit as well are left out: an agent chooses both.
func allowLists(texts []allowText) []allowList {
	var lists []allowList
	for _, t := range texts {
		if strings.EqualFold(t.Condition, "AND") || len(t.Regexes) == 0 && len(t.StopWords) == 0 {
			continue
		}
		a := allowList{target: t.RegexTarget}
		for _, text := range t.Regexes {
			a.expressions = append(a.expressions, lazyregexp.New(text))
		}
		if words := lowerWords(t.StopWords); len(words) > 0 {
			a.words = sync.OnceValue(func() *searcher { return newSearcher(words, anyCase) })
		}
		lists = append(lists, a)
	}
	return lists
}

// allows reports whether a match is a known kind of harmless text.
func (r *rule) allows(text, secret string, matchStart, matchEnd int) bool {
	for _, a := range r.allow {
		target := secret
		switch a.target {
		case "match":
			target = text[matchStart:matchEnd]
		case "line":
			target = line(text, matchStart, matchEnd)
		}
		for _, expression := range a.expressions {
			if expression.MatchString(target) {
				return true
			}
		}
		if a.words != nil && a.words().containsAny(secret) {
			return true
		}
	}
	return false
}

// line returns the lines of a match, or only the text near it: a line may have megabytes.
func line(text string, start, end int) string {
	const reach = 256 // bytes on each side
	from, to := max(0, start-reach), min(len(text), end+reach)
	if i := strings.LastIndexByte(text[from:start], '\n'); i >= 0 {
		from += i + 1
	}
	if i := strings.IndexByte(text[end:to], '\n'); i >= 0 {
		to = end + i
	}
	return text[from:to]
}
