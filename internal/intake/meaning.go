package intake

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/agent-airlock/airlock/internal/text"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"
)

// changesMeaning reports whether the item would write something else, or elsewhere, without a field
// that the kind does not have. If so, it refuses the field; at most maxRefusedFields are listed.
func (j *recordJudge) changesMeaning(m schema.Member) bool {
	problem := j.lostMeaning(m)
	if problem == "" {
		return false
	}
	if j.refusedFields++; j.refusedFields > maxRefusedFields {
		return true
	}
	path := "$"
	if len(m.Name) < 64 && strings.Trim(m.Name, nameBytes) == "" {
		path += "." + m.Name
	}
	j.refuse(path, quote(m.Name)+" "+problem)
	return true
}

// lostMeaning returns why a field that the kind does not have must not be left out, as the end of a
// sentence that begins with the field's name. It returns "" for a field that may be left out. Such
// a field is empty, is in Spec.Transport, belongs to an item that only reports, or has a name and a
// value that do not say where or what the item writes.
func (j *recordJudge) lostMeaning(m schema.Member) string {
	spec := j.form.spec
	if spec.AlwaysAllowed || isEmpty(m.Value) || slices.Contains(spec.Transport, m.Name) {
		return ""
	}
	if field := j.similarField(m.Name); field != "" {
		return "is not a field, because names are matched exactly; write " + quote(field)
	}
	meaning := meaningOf(m.Name)
	if meaning == meansNothing {
		meaning = j.meaningOfValue(m)
	}
	switch meaning {
	case meansNothing:
		inside := j.targetInside(m)
		if inside == "" {
			return ""
		}
		return "contains " + quote(inside) + ", which names a target only next to 'type'; write it there, or leave " + quote(m.Name) + " out"
	case meansAction:
		return "would change what is done, and " + string(spec.Kind) + " does not have it; leave it out, or write one of its fields: " + strings.Join(j.form.names, ", ")
	}
	if repositoryNames[strings.ToLower(safeoutput.SnakeCase(m.Name))] {
		return "reads like the name of a repository, and " + string(spec.Kind) + " does not have it; items act only on the repository of this workflow run, so leave it out"
	}
	if numbers := spec.NumberNames(); len(numbers) > 0 {
		return "reads like the name of a target, and " + string(spec.Kind) + " does not have it; name the target with '" + strings.Join(numbers, "' or '") + "', or leave it out"
	}
	return "reads like the name of a target, and " + string(spec.Kind) + " acts on nothing that exists; leave it out"
}

// maxRefusedFields bounds the violations about fields of one record.
const maxRefusedFields = 100

// nameBytes are the bytes that a name may consist of to stand in a path as it is.
const nameBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

// isEmpty reports whether a value says nothing: agents write such values for fields that
// they do not use.
func isEmpty(raw []byte) bool {
	switch raw[0] {
	case 'n':
		return true
	case '"', '[', '{':
		return len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0
	}
	return false
}

// similarField returns the form's field whose name differs from an unknown one only in
// letter case and separators, or "".
func (j *recordJudge) similarField(name string) string {
	var plain [64]byte
	n := 0
	for i := range len(name) {
		switch c := name[i]; {
		case c == '_' || c == '-' || c == ' ':
			continue
		case n == len(plain):
			return ""
		case c >= 'A' && c <= 'Z':
			plain[n] = c | 0x20
		default:
			plain[n] = c
		}
		n++
	}
	return j.form.plain[string(plain[:n])]
}

// envelopes are names, in snake_case, of fields in which agents write other fields that belong next
// to the type, as in the call of a tool. Names of mere descriptions, such as metadata, are not
// among them.
var envelopes = text.WordSet(`arg args argument arguments param params parameter parameters option options input inputs
	data payload request properties attributes config configuration settings value values`)

// targetInside looks into the value of a member that is an envelope, and returns the name of
// a field there that names the item's target or repository. It returns "" if there is none.
func (j *recordJudge) targetInside(m schema.Member) string {
	if m.Value[0] != '{' && m.Value[0] != '[' || !envelopes[strings.ToLower(safeoutput.SnakeCase(m.Name))] {
		return ""
	}
	return j.targetIn("", m.Value)
}

// targetIn returns the name of the field that names the item's target or repository: one
// inside of value, or name itself, which is the field that has the value. It returns "" if
// there is none.
func (j *recordJudge) targetIn(name string, value []byte) string {
	numbers := j.form.spec.NumberNames()
	dec := jsontext.NewDecoder(bytes.NewBuffer(value), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		token, err := dec.ReadToken()
		if err != nil {
			return "" // the end
		}
		kind, read := dec.StackIndex(dec.StackDepth())
		isName := kind == '{' && read%2 == 1 // names and values of an object alternate
		switch {
		case isName:
			name = token.String()
			field := safeoutput.CanonicalField(j.form.spec.Kind, name)
			isTarget := field == "repo" || slices.Contains(numbers, field)
			if isTarget && dec.PeekKind() != 'n' {
				return name
			}
		case len(numbers) == 0, name == "": // it acts on nothing that exists, or no field has the value
		case token.Kind() == '"' && isReference(token.String()):
			return name
		case isNumberOfTarget(token) && (isPlace(name) || meaningOf(name) == meansTarget):
			return name
		}
	}
}

// meaning is what a field's name says about its value.
type meaning int

const (
	meansNothing meaning = iota // the value is context, or has no effect
	meansTarget                 // where something is done
	meansAction                 // what is done
)

// wordMeanings has the words that make a name mean something, in the singular.
var wordMeanings = func() map[string]meaning {
	m := map[string]meaning{}
	for w := range strings.FieldsSeq(`issue pr pull mr pullrequest discussion target number num item ticket
		repo repository owner org organization organisation nwo destination dest iid conversation upstream`) {
		m[w] = meansTarget
	}
	for w := range strings.FieldsSeq(`operation op mode action event state status close closed reopen lock locked unlock
		reply replyto inreplyto thread comment assignee assign assigned reviewer milestone project label parent child blocked
		blocking duplicate draft base head branch ref commit sha stack dependency side line startline position path file
		title body category expire expiry suggest merge squash rebase delete remove replace append prepend overwrite
		island force pin pinned hide minimize minimise approve approved approval dismiss resolve resolved answer react reaction subscribe notify
		schedule due staged dryrun dry private confidential visibility field attachment skip skipped disable disabled enable enabled
		cancel canceled cancelled ignore ignored simulate simulated preview confirm confirmed postpone delay defer deferred upsert update
		apply publish submit send execute perform active inactive
		condition conditional if unless until wait await depend depends silent quiet hidden edit amend rewrite undo revert rollback
		abort reject withdraw retract revoke void`) {
		m[w] = meansAction
	}
	return m
}()

// wholeNames are words that mean a target only if the name has no other word.
var wholeNames = text.WordSet(`on to url uri href link html_url permalink no nr node_id subject_id where for # no.
	full_name slug remote fork`)

// repositoryNames are the names of a repository among the names that mean a target.
var repositoryNames = text.WordSet(`full_name repo_full_name slug repo_slug remote fork upstream
	nwo owner org organization repo_id repository_id`)

// wholeActions are words that mean an action if the name has no other word: they make the item
// depend on something, or say when it is due. All but "when" are also among wordMeanings, so they
// mean an action in longer names, too.
var wholeActions = text.WordSet("if unless when until")

// annotations are names that documents in JSON give to comments.
var annotations = text.WordSet("_comment $comment //")

// neighbours are words that can stand next to a word for a target in a name without separators.
var neighbours = text.WordSet("no nr id name full url link node key ref to on of html this current parent base head")

// longestWord is the length in bytes of the longest word that means a target, or neighbour.
const longestWord = len("organization")

// meaningOf returns what the words of a name mean. If one means a target and another one an
// action, the name means a target, and so does a name that is written to look like another
// one.
func meaningOf(name string) meaning {
	found := meansNothing
	plain, mixed := latin(name)
	snake := strings.ToLower(safeoutput.SnakeCase(plain))
	switch {
	case mixed || wholeNames[snake]:
		return meansTarget
	case annotations[name]:
		return meansNothing
	case wholeActions[snake]:
		return meansAction
	}
	for word := range strings.FieldsFuncSeq(snake, func(r rune) bool { return r < 'a' || r > 'z' }) {
		switch wordMeaning(word) {
		case meansTarget:
			return meansTarget
		case meansAction:
			found = meansAction
		}
	}
	return found
}

// placeWords are words that mean a target if the value is a number: they say what the number
// belongs to, or only that it is a number of something.
var placeWords = text.WordSet(`reference subject case in at about re regarding against task bug story
	id identifier n nb key resource object entity record thing post`)

// isPlace reports whether a name consists of placeWords: "id", "resource_id", "recordids".
func isPlace(name string) bool {
	plain, _ := latin(name)
	some := false
	for word := range strings.FieldsFuncSeq(strings.ToLower(safeoutput.SnakeCase(plain)), func(r rune) bool { return r < 'a' || r > 'z' }) {
		one := strings.TrimSuffix(word, "s")
		joined, isJoined := strings.CutSuffix(one, "id")
		if !placeWords[word] && !placeWords[one] && (!isJoined || !placeWords[joined]) {
			return false
		}
		some = true
	}
	return some
}

// meaningOfValue returns what the value means, for a field whose name means nothing. The name
// of an operation is an action, if the kind has operations. If the kind acts on something
// that exists, a target is
//   - a reference, in a field of any name
//   - a number or a reference at or below a name for which isPlace is true, unless a field of
//     the kind names the target already
func (j *recordJudge) meaningOfValue(m schema.Member) meaning {
	const longest = 2000
	value := ""
	if m.Value[0] == '"' && len(m.Value) <= longest {
		unquoted, err := jsontext.AppendUnquote(nil, m.Value)
		if err != nil {
			unquoted = bytes.Trim(m.Value, `"`)
		}
		value = strings.TrimSpace(string(unquoted))
	}
	switch {
	case j.form.has("operation") && isOperation(value):
		return meansAction
	case len(j.form.spec.NumberNames()) == 0: // it acts on nothing that exists
		return meansNothing
	case isReference(value):
		return meansTarget
	case isPlace(m.Name) && j.targetIn(m.Name, m.Value) != "" && !j.namesTarget():
		return meansTarget
	}
	return meansNothing
}

// namesTarget reports whether a field of the kind names the item's target.
func (j *recordJudge) namesTarget() bool {
	numbers := j.form.spec.NumberNames()
	return slices.ContainsFunc(j.members, func(m schema.Member) bool {
		return !isEmpty(m.Value) && slices.Contains(numbers, safeoutput.CanonicalField(j.kind, m.Name))
	})
}

// isOperation reports whether s is the name of an operation on a text.
func isOperation(s string) bool {
	switch strings.ToLower(s) {
	case safeoutput.OperationAppend, safeoutput.OperationPrepend, safeoutput.OperationReplace, safeoutput.OperationReplaceIsland,
		"replace_island", "insert", "overwrite", "merge", "patch", "delete", "remove", "add":
		return true
	}
	return false
}

// isNumber reports whether s is digits and nothing else.
func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// isNumberOfTarget reports whether a value can be the number of something on GitHub, or
// its id: a whole number of at least 1, or the digits of one.
func isNumberOfTarget(token jsontext.Token) bool {
	const longest = 20 // digits
	switch token.Kind() {
	case '0':
		n, err := strconv.ParseFloat(token.String(), 64)
		return err == nil && n >= 1 && n == math.Trunc(n) && n < 1e20
	case '"':
		s := strings.TrimSpace(token.String())
		return len(s) <= longest && isNumber(s) && strings.Trim(s, "0") != ""
	}
	return false
}

// isReference reports whether s is nothing but a reference to one issue, pull request or
// discussion, or to a part of one: "#12", "GH-12", "PR 12", "owner/name#12", its address or path,
// its id in GraphQL, or a Markdown link of these.
func isReference(s string) bool {
	const wrapping = "<>()[]{}\"'`*_ \t\r\n"
	s = strings.Trim(strings.TrimRight(strings.Trim(s, wrapping), ".,;:!"), wrapping)
	if text, address, ok := strings.Cut(s, "]("); ok {
		return isReference(text) || isReference(address)
	}
	if before, number, ok := strings.Cut(s, "#"); ok && isNumber(strings.TrimSpace(number)) {
		before = strings.TrimSpace(before)
		isRepository := strings.Count(before, "/") == 1 && !strings.ContainsAny(before, " \n\t")
		return before == "" || namesThing(before) || isRepository
	}
	if before := strings.TrimRight(s, "0123456789"); before != s && namesThing(before) {
		return true
	}
	return isThingID(s) || isThingPath(s)
}

// thingWords are what people call the things that have a number on GitHub, in references.
var thingWords = text.WordSet("issue issues pr prs pull pulls pullrequest mr gh discussion discussions")

// namesThing reports whether the text before a number only says what the number belongs to:
// "PR", "issue number", "pull/".
func namesThing(s string) bool {
	isSeparator := func(r rune) bool { return strings.ContainsRune(" \t-_:/.!", r) }
	some := false
	for word := range strings.FieldsFuncSeq(strings.ToLower(s), isSeparator) {
		switch {
		case thingWords[word]:
			some = true
		case word != "request" && word != "number" && word != "no" && word != "nr":
			return false
		}
	}
	return some
}

// isThingPath reports whether s is the address or the path of an issue, a pull request or
// a discussion, or of a part of one.
func isThingPath(s string) bool {
	if strings.ContainsAny(s, " \n\t") {
		return false
	}
	first := 2 // the step after the owner and the name
	if _, address, ok := strings.Cut(s, "://"); ok {
		s, first = address, 3 // after the host, too
	}
	if end := strings.IndexAny(s, "?#"); end >= 0 {
		s = s[:end]
	}
	steps := strings.Split(strings.TrimPrefix(s, "/"), "/")
	if strings.Contains(steps[0], ".") { // a host
		first = 3
	}
	for i := first; i+1 < len(steps); i++ {
		switch steps[i] {
		case "issues", "pull", "pulls", "discussions":
			if isNumber(steps[i+1]) {
				return true
			}
		}
	}
	return false
}

// isThingID reports whether s is an id of GraphQL, in its present form: of an issue, a pull
// request, a discussion, a comment, a review or its thread.
func isThingID(s string) bool {
	kind, id, ok := strings.Cut(s, "_")
	if !ok || !strings.HasPrefix(id, "kw") || len(id) < 8 || strings.Trim(id, nameBytes) != "" {
		return false
	}
	switch kind {
	case "I", "PR", "D", "IC", "DC", "PRR", "PRRC", "PRRT":
		return true
	}
	return false
}

// latin returns a name in ASCII as far as its characters have such a form: without marks
// and invisible characters, and with plain forms of wide and styled letters. mixed reports
// whether the name is written to look like another one: it mixes letters of scripts that look
// alike, or has a dotless i or a letter of the phonetic alphabet, which look like plain ones.
func latin(name string) (plain string, mixed bool) {
	if strings.IndexFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return name, false
	}
	var scripts [len(alike)]bool
	plain = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Mn, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			return -1
		}
		for i, script := range alike {
			scripts[i] = scripts[i] || unicode.Is(script, r)
		}
		mixed = mixed || r == 'ı' || r >= 0x250 && r < 0x2b0 // IPA extensions
		return r
	}, norm.NFKD.String(name))
	used := 0
	for _, isUsed := range scripts {
		if isUsed {
			used++
		}
	}
	return plain, mixed || used > 1
}

// alike are the scripts that have many letters of the same shapes.
var alike = [...]*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Coptic, unicode.Cherokee, unicode.Lisu}

// wordMeaning returns what one word means, in the singular or plural, or joined from several.
func wordMeaning(word string) meaning {
	if m := wordMeanings[word]; m != meansNothing {
		return m
	}
	if one, isPlural := strings.CutSuffix(word, "s"); isPlural {
		for _, w := range []string{one, strings.TrimSuffix(one, "e"), strings.TrimSuffix(one, "ie") + "y"} {
			if m := wordMeanings[w]; m != meansNothing {
				return m
			}
		}
	}
	if len(word) <= 40 && joinsTarget(word, false) {
		return meansTarget
	}
	return meansNothing
}

// joinsTarget reports whether a word, such as "issuenumber", consists of words that mean a
// target and of neighbours. At least one has to mean a target, unless has is true: then one
// of the words before this one does.
func joinsTarget(word string, has bool) bool {
	if word == "" {
		return has
	}
	for n := 2; n <= min(len(word), longestWord); n++ {
		target := wordMeanings[word[:n]] == meansTarget
		if (target || neighbours[word[:n]]) && joinsTarget(word[n:], has || target) {
			return true
		}
	}
	return false
}
