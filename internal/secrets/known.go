package secrets

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/text"
	"github.com/agent-airlock/airlock/internal/token"
)

// Known is an exact value that must not leave, such as the token or a line of the `secrets` input.
type Known struct {
	Name  string      // what it is, for people, such as "the token"
	Value token.Token // one line or several; a Token, because that never prints
}

// shortest is the length in bytes from which a value is looked for, as in token.Forms;
// shorter ones would be found in ordinary text.
const shortest = 6

// knownSet looks for known values in all their forms.
type knownSet struct {
	search *searcher // nil without values
	forms  []form    // by the ids of search
}

// form is about one way to write a known value.
type form struct {
	name    string // of the value
	encoded bool   // the value does not contain it
}

// newKnownSet returns the set, and the names of the values that are too short.
func newKnownSet(known []Known) (set *knownSet, ignored []string) {
	set = &knownSet{}
	var words []string
	seen := map[string]bool{}
	for _, k := range known {
		value := k.Value.Reveal()
		if value == "" || isPEMBoundary(value) {
			continue
		}
		if len(value) < shortest {
			if strings.ContainsFunc(value, isLetterOrDigit) { // not for a brace, for example, which is a line of a key in JSON
				ignored = append(ignored, k.Name)
			}
			continue
		}
		for _, f := range formsOf(k.Value) {
			if !seen[f] {
				seen[f] = true
				words = append(words, f)
				set.forms = append(set.forms, form{name: k.Name, encoded: !strings.Contains(value, f)})
			}
		}
	}
	if len(words) > 0 {
		set.search = newSearcher(words, exactCase)
	}
	return set, ignored
}

// percents matches a byte in URL encoding.
var percents = lazyregexp.New(`%[0-9A-F]{2}`)

// formsOf returns the forms in which a value may appear: those of its token, its lines,
// hexadecimal, and the forms that further encoders write.
func formsOf(value token.Token) []string {
	secret := value.Reveal()
	digits := hex.EncodeToString([]byte(secret))
	all := append(value.Forms(), digits, strings.ToUpper(digits), escaped(secret))
	for line := range strings.SplitSeq(secret, "\n") {
		line = strings.TrimSpace(line)
		all = append(all, line, escaped(line), text.OneLine(line))
	}
	for _, f := range all {
		if lower := percents.ReplaceAllStringFunc(f, strings.ToLower); lower != f {
			all = append(all, lower)
		}
	}
	all = append(all, html.EscapeString(secret))
	for _, quoted := range []string{strconv.Quote(secret), strconv.QuoteToASCII(secret), strconv.QuoteToGraphic(secret)} {
		quoted = quoted[1 : len(quoted)-1]
		all = append(all, quoted, strings.ReplaceAll(quoted, `\"`, `"`)) // as schema.Quote writes it
	}
	if strings.ContainsFunc(secret, func(r rune) bool { return r >= utf8.RuneSelf }) {
		all = append(all, wideForms(secret)...) // scanWide decodes only ASCII
	}
	var forms []string
	for _, f := range all {
		if len(f) >= shortest && !isPEMBoundary(f) {
			forms = append(forms, f)
		}
	}
	return forms
}

// escaped returns a text as many encoders of JSON write it: unlike Go's, they leave <, > and & as
// they are.
func escaped(text string) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(out.String()), `"`), `"`)
}

func isLetterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// isPEMBoundary reports whether a text is the first or the last line of a PEM block. Each key has
// such lines, and anybody may write them; the lines between are the secret.
func isPEMBoundary(text string) bool {
	return strings.HasPrefix(text, "-----") && strings.HasSuffix(text, "-----") && !strings.Contains(text, "\n") && len(text) < 80
}

// find returns where known values stand.
func (k *knownSet) find(text string) []Hit {
	if k.search == nil {
		return nil
	}
	var hits []Hit
	k.search.each(text, func(id, start, end int) bool {
		f := k.forms[id]
		hits = append(hits, Hit{Rule: KnownRule, Name: f.name, Start: start, End: end, Encoded: f.encoded})
		return true
	})
	return hits
}
