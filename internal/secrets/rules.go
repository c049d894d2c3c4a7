package secrets

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
	"github.com/zricethezav/gitleaks/v8/config"
)

// ruleFile is gitleaks' configuration, as far as it is used. What it says of
// commits and most of what it says of paths has no meaning here.
type ruleFile struct {
	Allowlist allowText
	Rules     []ruleText
}

// ruleText is a rule as it is written.
type ruleText struct {
	ID, Description string
	Regex, Path     string
	SecretGroup     int
	Entropy         float64
	Keywords        []string
	Allowlists      []allowText
}

// ruleSet is all rules and the words that wake them.
type ruleSet struct {
	rules    []*rule
	keywords *searcher
	wakes    [][]int // keyword -> rules
}

// rule is one kind of secret. Its expressions are compiled when they are first
// needed: all together take 25 ms, and most texts need none.
type rule struct {
	id, name   string
	path       func() *regexp.Regexp // nil: any file
	expression func() expression
	group      int     // of the expression that holds the secret; 0: the first that is not empty
	entropy    float64 // bits a byte that a secret has to exceed
	named      bool    // looks for a name, an operator and a value
	allow      []allowList
}

// Rules with a treatment of their own.
const (
	// GeneralRule, which is often wrong, is for anything that is assigned to a name like key or password.
	GeneralRule = "generic-api-key"
	// sourcegraphRule also matches the bare name of a commit wherever a text speaks of
	// Sourcegraph, as lock files do.
	sourcegraphRule = "sourcegraph-access-token"
	// keyRule is for PEM blocks. Anybody can write any word between their lines, so
	// what is harmless is decided by what the block holds.
	keyRule = "private-key"
)

// apart are the rules whose keyword stands elsewhere in the text, and not in what
// they find.
var apart = map[string]bool{"airtable-personnal-access-token": true, "facebook-access-token": true}

// namePart is what gitleaks writes into rules that look for a name, an operator and
// a value, for what stands in the name before the telling word. It decides nothing
// and makes the search fifty times slower, so it is left out.
const namePart = `[\w.-]{0,50}?`

// loadRules reads gitleaks' default rules. Those without an expression or without
// a keyword are left out, since they say nothing about text: in this version the
// one about the names of PKCS #12 files.
func loadRules() (*ruleSet, error) {
	var file ruleFile
	if err := toml.Unmarshal([]byte(config.DefaultConfig), &file); err != nil {
		return nil, fmt.Errorf("the built-in rules cannot be read: %w", err)
	}
	all := allowLists([]allowText{file.Allowlist})
	set := &ruleSet{}
	byKeyword := map[string][]int{}
	for _, r := range file.Rules {
		if r.Regex == "" || len(r.Keywords) == 0 {
			continue
		}
		keywords := lowerWords(r.Keywords)
		for _, k := range keywords {
			byKeyword[k] = append(byKeyword[k], len(set.rules))
		}
		set.rules = append(set.rules, newRule(r, keywords, all))
	}
	var words []string
	for k := range byKeyword {
		words = append(words, k)
	}
	slices.Sort(words)
	for _, k := range words {
		set.wakes = append(set.wakes, byKeyword[k])
	}
	set.keywords = newSearcher(words)
	return set, nil
}

func newRule(r ruleText, keywords []string, all []allowList) *rule {
	made := &rule{
		id: r.ID, name: ruleName(r), group: r.SecretGroup, entropy: r.Entropy,
		named: strings.Contains(r.Regex, namePart), allow: slices.Concat(all, allowLists(r.Allowlists)),
	}
	made.expression = sync.OnceValue(func() expression {
		return newExpression(strings.ReplaceAll(r.Regex, namePart, ""), keywords)
	})
	if r.Path != "" {
		made.path = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(r.Path) })
	}
	return made
}

// ruleName returns what a rule finds, for people: the first clause of its
// description without the verb, such as "a potential Stripe key", or its id where
// that does not fit a sentence.
func ruleName(r ruleText) string {
	clause, _, _ := strings.Cut(strings.TrimSuffix(r.Description, "."), ",")
	verb, what, _ := strings.Cut(clause, " ")
	article, _, _ := strings.Cut(what, " ")
	if (verb == "Uncovered" || verb == "Identified" || verb == "Detected" || verb == "Discovered" || verb == "Found") && (article == "a" || article == "an") {
		return what
	}
	return "a possible secret (" + r.ID + ")"
}
