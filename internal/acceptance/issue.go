package acceptance

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/agent-airlock/airlock/internal/tasklist"
	"github.com/agent-airlock/airlock/internal/text"
)

// IssueCriterion is a criterion that an issue's text states.
type IssueCriterion struct {
	Criterion
	// Box is the digest of its task list item (see tasklist.Digest); "" for one of an
	// acceptance block, which has no box to tick.
	Box string
}

// Limits of what is read of an issue.
const (
	maxIssueCriteria = 200
	maxCriterion     = 2000 // characters of a hint or a description; a longer description is shortened
)

// criterionLine matches a line of an acceptance block that states a criterion, with or without a
// bullet and a box.
var criterionLine = lazyregexp.New(`^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:\[[ xX]\][ \t]+)?(\S.*)$`)

// boxOrLinkFirst matches a block that begins with a box or a link. Its first line is a criterion
// without a bullet, and must not be taken for a list of YAML or JSON.
var boxOrLinkFirst = lazyregexp.New(`^[ \t\r\n]*\[(?:[ xX]\][ \t]+\S|[^\]\n]*\][(\[])`)

// FromIssue returns the criteria that an issue's text states. They are in its fenced blocks named
// acceptance, or if there is no such block, in the task list under a heading "Acceptance criteria".
// A block has one criterion on each line, or is YAML or JSON: a list of texts or of criteria, or a
// request with acceptance_criteria. Text that readers of the issue do not see, such as comments, is
// ignored, and so are block quotes and footnotes. unboxed is the number of list items under the
// heading that have no box, and so state no criterion. It is an error if a block cannot be read, if
// there are too many criteria, or if a hint is too long. Other texts are shortened if they are too
// long.
func FromIssue(body string) (found []IssueCriterion, unboxed int, err error) {
	doc := markdown.Scan(body)
	blocks := false
	for i := range doc.Blocks {
		b := &doc.Blocks[i]
		if b.Kind != markdown.FencedCodeBlock || b.Quoted(doc) || !isAcceptance(doc.Info(b)) {
			continue
		}
		blocks = true
		criteria, err := fromBlock(doc.Literal(b, b.Span))
		if err != nil {
			return nil, 0, fmt.Errorf("the block acceptance cannot be read: %w", err)
		}
		found = append(found, criteria...)
	}
	if !blocks {
		var items []tasklist.Item
		items, unboxed = tasklist.CriteriaOf(doc)
		for _, item := range items {
			found = append(found, IssueCriterion{Criterion{Description: item.Text, Hint: item.Text}, tasklist.Digest(item.Text)})
		}
	}
	if len(found) > maxIssueCriteria {
		return nil, 0, fmt.Errorf("it states %d criteria; at most %d are read", len(found), maxIssueCriteria)
	}
	for i, c := range found { // a part of a hint would be another hint
		if n := utf8.RuneCountInString(c.Hint); n > maxCriterion {
			return nil, 0, fmt.Errorf("criterion %d has %d characters; at most %d are read", i+1, n, maxCriterion)
		}
	}
	return numbered(found), unboxed, nil
}

// isAcceptance reports whether a fenced block's info string names it acceptance.
func isAcceptance(info string) bool {
	words := strings.Fields(info)
	return len(words) > 0 && strings.EqualFold(words[0], "acceptance")
}

// numbered shortens the descriptions and ids of criteria. It gives a new id to each criterion that
// has none, or that has the id of an earlier criterion.
func numbered(criteria []IssueCriterion) []IssueCriterion {
	taken := map[string]bool{}
	for i := range criteria {
		c := &criteria[i]
		c.Description, c.ID = text.Truncate(c.Description, maxCriterion), text.Truncate(text.OneLine(c.ID), 100)
		for n := i + 1; c.ID == "" || taken[c.ID]; n++ {
			c.ID = fmt.Sprintf("ac-%d", n)
		}
		taken[c.ID] = true
	}
	return criteria
}

var (
	mappingLine = lazyregexp.New(`(?m)^[ \t]*(?:-[ \t]+)?(?:id|description|validation_hint|hint|acceptance_criteria)[ \t]*:(?:[ \t]|$)`)
	structured  = lazyregexp.New(`^[ \t\r\n]*[[{]`)
)

// fromBlock reads a block: YAML or JSON if it looks like that, otherwise one criterion on each line.
func fromBlock(block string) (found []IssueCriterion, err error) {
	isYAML := mappingLine.MatchString(block) || structured.MatchString(block) && !boxOrLinkFirst.MatchString(block)
	if !isYAML {
		for line := range strings.Lines(block) {
			if m := criterionLine.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
				item := strings.TrimSpace(m[1])
				found = append(found, IssueCriterion{Criterion: Criterion{Description: item, Hint: item}})
			}
		}
		return found, nil
	}
	var doc, second any
	dec := yaml.NewDecoder(strings.NewReader(block))
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("it is neither YAML nor JSON: %s", text.OneLine(err.Error()))
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) && (err != nil || second != nil) {
		return nil, errors.New("there is more after the list; make one list of all, or write each criterion on a line that begins with \"- \"")
	}
	if m, ok := doc.(map[string]any); ok {
		doc = m["acceptance_criteria"]
	}
	list, ok := doc.([]any)
	if !ok {
		return nil, fmt.Errorf("it has no list of criteria")
	}
	for i, item := range list {
		c, err := criterionOf(item)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i+1, err)
		}
		found = append(found, IssueCriterion{Criterion: c})
	}
	return found, nil
}

// criterionKeys are the keys of a criterion that is a mapping. Other keys are ignored, but a key
// that looks like a misspelling of one of the last three is an error.
var criterionKeys = []string{"id", "description", "validation_hint", "hint"}

// criterionOf reads an entry of a list: a text, or a mapping.
func criterionOf(item any) (c Criterion, err error) {
	if s, ok := item.(string); ok && !text.IsBlank(s) {
		return Criterion{Description: s, Hint: s}, nil
	}
	m, ok := item.(map[string]any)
	if !ok {
		return c, fmt.Errorf("it is blank, or neither a text nor a mapping with description and validation_hint")
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		_, isList := m[name].([]any)
		_, isMapping := m[name].(map[string]any)
		switch isKnown := slices.Contains(criterionKeys, name); {
		case isKnown && (isList || isMapping):
			return c, fmt.Errorf("its %s is not a text", name)
		case !isKnown && text.Nearest(name, criterionKeys[1:]) != "":
			return c, fmt.Errorf("unknown key %s%s", schema.Quote(name), text.DidYouMean(name, criterionKeys[1:]))
		}
	}
	get := func(names ...string) string {
		for _, name := range names {
			switch v := m[name].(type) {
			case string:
				return v
			case int, float64, bool:
				raw, _ := json.Marshal(v) // "" for a number that JSON does not have, such as .inf
				return string(raw)
			}
		}
		return ""
	}
	c = Criterion{ID: get("id"), Description: get("description", "validation_hint", "hint"), Hint: get("validation_hint", "hint", "description")}
	if text.IsBlank(c.Description) {
		return c, fmt.Errorf("it has neither description nor validation_hint")
	}
	return c, nil
}

// IssueRequest returns the request for the criteria of an issue.
func IssueRequest(taskID string, criteria []Criterion) (Request, error) {
	raw, err := encode(Request{TaskID: taskID, Type: Code, Criteria: criteria})
	if err != nil {
		return Request{}, err
	}
	return ReadRequest(raw)
}
