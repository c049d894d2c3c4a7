package secrets

import (
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/zricethezav/gitleaks/v8/config"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

// samples makes texts that an expression matches, because this repository should contain nothing
// that looks like a secret. A text depends on the expression and on how often match was called
// with it, not on chance or the order of the tests. If the texts were random, about one run in a
// million would fail, because a digest that a test takes for harmless would begin like a token.
type samples struct {
	asked  map[string]uint64
	random *rand.Rand
}

func newSamples() samples { return samples{asked: map[string]uint64{}} }

// match returns a text that an expression in Go's syntax matches.
func (s samples) match(t testing.TB, expression string) string {
	t.Helper()
	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	seed := fnv.New64a()
	seed.Write([]byte(expression))
	s.random = rand.New(rand.NewPCG(s.asked[expression], seed.Sum64()))
	s.asked[expression]++
	var out strings.Builder
	s.write(&out, tree)
	return out.String()
}

func (s samples) write(out *strings.Builder, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		out.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		out.WriteRune(s.char(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		// Expressions often leave dots of host names unescaped.
		out.WriteByte("..abcdef"[s.random.IntN(8)])
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			s.write(out, sub)
		}
	case syntax.OpAlternate:
		s.write(out, re.Sub[s.random.IntN(len(re.Sub))])
	case syntax.OpQuest:
		s.times(out, re.Sub[0], 0, 1)
	case syntax.OpStar:
		s.times(out, re.Sub[0], 0, 3)
	case syntax.OpPlus:
		s.times(out, re.Sub[0], 1, 12)
	case syntax.OpRepeat:
		most := re.Max
		if most < 0 {
			most = re.Min + 20
		}
		s.times(out, re.Sub[0], re.Min, most)
	}
}

func (s samples) times(out *strings.Builder, re *syntax.Regexp, least, most int) {
	for range least + s.random.IntN(most-least+1) {
		s.write(out, re)
	}
}

// char returns an ASCII character of a class.
func (s samples) char(ranges []rune) rune {
	var all []rune
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= min(ranges[i+1], '~'); r++ {
			if r >= ' ' || r == '\n' || r == '\t' {
				all = append(all, r)
			}
		}
	}
	return all[s.random.IntN(len(all))]
}

// gitleaksRules returns gitleaks' rules as they are written.
func gitleaksRules(t testing.TB) (file ruleFile) {
	t.Helper()
	if err := toml.Unmarshal([]byte(config.DefaultConfig), &file); err != nil {
		t.Fatal(err)
	}
	return file
}

// pathOf names, for each rule with a path, a file that it applies to.
var pathOf = map[string]string{
	"freemius-secret-key":    "src/start.php",
	"hashicorp-tf-password":  "main.tf",
	"kubernetes-secret-yaml": "deploy/secret.yaml",
	"nuget-config-password":  "nuget.config",
}

func TestEveryRuleFindsWhatItsExpressionDescribes(t *testing.T) {
	wanted := int(shorttest.Count(20, 5)) // samples of each rule that have to be found
	const around = "\n// The quick brown fox jumps over the lazy dog, and nothing else happens here.\n"
	sampler, scanner := newSamples(), New(nil)
	file := gitleaksRules(t)
	var withoutExpression []string
	for _, r := range file.Rules {
		if r.Regex == "" {
			withoutExpression = append(withoutExpression, r.ID)
			continue
		}
		expression := regexp.MustCompile(r.Regex)
		judge := newRule(r, lowerWords(r.Keywords), nil)
		found := 0
		for try := 0; try < 2000 && found < wanted; try++ {
			sample := sampler.match(t, r.Regex)
			text := strings.Repeat(around, 5) + sample + strings.Repeat(around, 5)
			if farKeyword[r.ID] {
				text += "See " + r.Keywords[0] + ".\n"
			}
			// The scanner has to find what the unchanged expression matches in the entire text.
			m := expression.FindStringSubmatchIndex(text)
			if m == nil || !hasKeyword(text, r.Keywords) {
				continue
			}
			if len(judge.judge(text, text, 0, m, nil)) == 0 {
				continue // too regular for a secret, or allowed by the rule itself
			}
			start, end := secretGroup(m, r.SecretGroup, text)
			hits := scanner.ScanFile(pathOf[r.ID], text)
			if !covered(hits, start, end) {
				t.Errorf("%s: nothing found at %d to %d of %q: %v", r.ID, start, end, text, hits)
				break
			}
			found++
		}
		if found < wanted {
			t.Errorf("%s: only %d samples were found", r.ID, found)
		}
	}
	if strings.Join(withoutExpression, " ") != "pkcs12-file" {
		t.Errorf("rules without an expression: %q", withoutExpression)
	}
}

// hasKeyword reports whether gitleaks would apply a rule with these keywords to a text.
func hasKeyword(text string, keywords []string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(keywords, func(k string) bool { return strings.Contains(text, strings.ToLower(k)) })
}

// covered reports whether hits cover a part of a text without a gap.
func covered(hits []Hit, start, end int) bool {
	for _, h := range hits {
		if h.Start <= start && start < h.End {
			start = h.End
		}
	}
	return start >= end
}
