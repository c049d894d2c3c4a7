package acceptance

import (
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/text"
)

// Words that change what is asked for by a sentence with a probe, such as a path or a command: they
// ask for the opposite, an alternative, a condition, a number of times or another result. Of
// languages other than English, only the commonest words are listed.
var (
	turningWords = text.WordSet(`not no non never none nothing nobody neither nor without cannot or either except unless instead rather if until
		given when whenever while before after only once twice exactly zero
		gone absent missing lack lacks wrong false deny denies denied broken nonzero unauthorized unauthorised unavailable unreachable throw throws raise raises
		nicht ohne niemals nie weder oder falls wenn pas jamais sans aucun aucune sauf sin nunca não nem sem senza niet geen zonder nooit bez
		не нет без или если`)
	turningStems = strings.Fields(`fail remov delet drop replac forbid avoid reject refus break crash prevent unsuccessful redirect complain kein fehl ningun ningún nessun`)
	// turningPairs are the second words of pairs, by the first word.
	turningPairs = map[string][]string{"at": {"least", "most"}, "times": {"out"}, "an": {"error"}, "server": {"error"}, "errors": {"out"}, "bad": {"request"}, "invalid": {"request"},
		"more": {"than"}, "less": {"than"}, "fewer": {"than"}, "larger": {"than"}, "smaller": {"than"}, "longer": {"than"}, "shorter": {"than"}, "faster": {"than"}, "slower": {"than"}}
	turningSigns = []string{"n't", "n’t", "!=", "≠", "❌", "✗", "✘", "✖", "🚫", "⛔", "不", "没", "沒", "無", "无", "ない", "ません", "않", "없"}

	// resultWords ask for another result of a probe than success, such as a text that a command
	// prints. They count only among the first words after the probe.
	resultWords = text.WordSet(`print prints output outputs emit emits yield yields show shows display displays contain contains include includes list lists logs report reports return returns
		respond responds answer answers create creates produce produces generate generates write writes say says match matches equal equals cover covers take takes get gets
		require requires body header headers errors warn warns abort aborts hang hangs stop stops`)
	// resultValue matches an arrow or a value after a probe. In a.yml contains "debug": true, for
	// example, the hint asks for the value, and not only for the key.
	resultValue = lazyregexp.New("^[\\s`]*(?:->|→|=>|[:=]\\s*(?:true\\b|null\\b|yes\\b|on\\b|[\"'{\\[]))")
)

// resultReach is how many words after a probe may ask for another result.
const resultReach = 3

// turning returns the word or sign that changes the meaning of a hint, or "". In rest, marks
// replace the probes of the hint. A number changes it, too, because it may be a status or an exit
// code.
func turning(rest string) string {
	rest = strings.ToLower(rest)
	for _, sign := range turningSigns {
		if strings.Contains(rest, sign) {
			return sign
		}
	}
	before := ""
	for word := range wordsIn(rest) {
		isNumber := strings.Trim(word, "0123456789") == "" || len(word) == 3 && strings.HasSuffix(word, "xx") && strings.ContainsAny(word[:1], "1345")
		isStem := func(stem string) bool { return strings.HasPrefix(word, stem) }
		if isNumber || turningWords[word] || slices.ContainsFunc(turningStems, isStem) {
			return word
		}
		if slices.Contains(turningPairs[before], word) {
			return before + " " + word
		}
		before = word
	}
	for i := range len(rest) {
		if rest[i] > urlMark[0] {
			continue
		}
		after := rest[i+1:]
		if next := strings.IndexAny(after, mark+urlMark); next >= 0 {
			after = after[:next]
		}
		if value := resultValue.FindString(after); value != "" {
			return strings.TrimLeft(value, " `")
		}
		if rest[i] == urlMark[0] { // with such words after it, the URL is not a probe; see existence
			continue
		}
		if end := strings.IndexAny(after, ".,;"); end >= 0 {
			after = after[:end]
		}
		n := 0
		for word := range wordsIn(after) {
			if n++; n > resultReach {
				break
			}
			if resultWords[word] {
				return word
			}
		}
	}
	return ""
}

// wordsIn yields the words of a text.
func wordsIn(s string) iter.Seq[string] {
	return strings.FieldsFuncSeq(s, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}
