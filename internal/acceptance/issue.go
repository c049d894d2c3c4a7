package acceptance

import (
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/text"
)

// IssueCriterion is a criterion that an issue's text states.
type IssueCriterion struct {
	Criterion
	// Line is the line of its task list item, as the text has it; "" for one of an acceptance
	// block, which has no box to tick.
	Line string
}

// Limits of what is read of an issue.
const (
	maxIssueCriteria = 200
	maxCriterion     = 2000 // characters of one criterion
)

var (
	headingLine  = lazyregexp.New(`^ {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$`)
	criteriaName = lazyregexp.New(`(?i)^(?:[\W_]*)acceptance criteri(?:a|on)(?:[\W_]*)$`)
	taskLine     = lazyregexp.New(`^[ \t]{0,8}(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ xX]\][ \t]+(\S.*)$`)
	bulletLine   = lazyregexp.New(`^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:\[[ xX]\][ \t]+)?(\S.*)$`)
)

// FromIssue returns the criteria that an issue's text states: those of its fenced blocks
// named acceptance, else the task list under a heading "Acceptance criteria". A block has
// a criterion a line, or YAML or JSON: a list of texts or of criteria, or a request with
// acceptance_criteria. What readers of the issue do not see, such as comments, states
// nothing. The error says what of a block cannot be read.
func FromIssue(body string) ([]IssueCriterion, error) {
	lines := visibleLines(body)
	var found []IssueCriterion
	blocks := false
	for i := 0; i < len(lines); i++ {
		if lines[i].block == "" {
			continue
		}
		start := i
		var block strings.Builder
		for ; i < len(lines) && lines[i].block == lines[start].block; i++ {
			block.WriteString(lines[i].text + "\n")
		}
		i--
		if !strings.HasSuffix(lines[start].block, " acceptance") {
			continue
		}
		blocks = true
		criteria, err := fromBlock(block.String())
		if err != nil {
			return nil, fmt.Errorf("the block acceptance cannot be read: %w", err)
		}
		found = append(found, criteria...)
	}
	if !blocks {
		found = fromTasks(lines)
	}
	if len(found) > maxIssueCriteria {
		return nil, fmt.Errorf("it states %d criteria; at most %d are read", len(found), maxIssueCriteria)
	}
	return numbered(found), nil
}

// numbered gives each criterion without an id, or with that of another one, its own.
func numbered(criteria []IssueCriterion) []IssueCriterion {
	taken := map[string]bool{}
	for i := range criteria {
		c := &criteria[i]
		c.Description, c.Hint, c.ID = text.Truncate(c.Description, maxCriterion), text.Truncate(c.Hint, maxCriterion), text.Truncate(text.OneLine(c.ID), 100)
		for n := i + 1; c.ID == "" || taken[c.ID]; n++ {
			c.ID = fmt.Sprintf("ac-%d", n)
		}
		taken[c.ID] = true
	}
	return criteria
}

// visibleLine is a line of a text, without what a comment hides.
type visibleLine struct {
	text  string
	raw   string // the whole line
	block string // of a fenced block's content: its number and name, as "3 acceptance"; "" outside
}

// visibleLines splits a text. The lines of fences are left out.
func visibleLines(body string) (lines []visibleLine) {
	fence, block, blocks, hidden := "", "", 0, false
	for raw := range strings.Lines(body) {
		raw = strings.TrimRight(raw, "\r\n")
		line := raw
		if fence != "" {
			if closing, info := fenceOf(line); info == "" && len(closing) >= len(fence) && closing[0] == fence[0] {
				fence = ""
				continue
			}
			lines = append(lines, visibleLine{line, raw, block})
			continue
		}
		line, hidden = withoutComments(line, hidden)
		if opening, info := fenceOf(line); opening != "" && !hidden && !strings.Contains(info, "`") {
			blocks++
			name, _, _ := strings.Cut(info, " ")
			fence, block = opening, fmt.Sprintf("%d %s", blocks, strings.ToLower(name))
			continue
		}
		lines = append(lines, visibleLine{line, raw, ""})
	}
	return lines
}

// withoutComments removes HTML comments from a line, the first of which may have begun
// before it. It reports whether one goes on after it.
func withoutComments(line string, inside bool) (visible string, goesOn bool) {
	var b strings.Builder
	for {
		if inside {
			_, after, ended := strings.Cut(line, "-->")
			if !ended {
				return b.String(), true
			}
			line = after
		}
		before, after, begins := strings.Cut(line, "<!--")
		b.WriteString(before)
		if !begins {
			return b.String(), false
		}
		line, inside = after, true
	}
}

// fromTasks returns the task list items under the heading, up to the next one of its level.
func fromTasks(lines []visibleLine) (found []IssueCriterion) {
	level := 0 // of the heading, while below it
	for _, l := range lines {
		if l.block != "" {
			continue
		}
		if m := headingLine.FindStringSubmatch(l.text); m != nil {
			switch {
			case criteriaName.MatchString(m[2]):
				level = len(m[1])
			case len(m[1]) <= level:
				level = 0
			}
			continue
		}
		if level == 0 {
			continue
		}
		if m := taskLine.FindStringSubmatch(l.text); m != nil {
			item := strings.TrimSpace(m[1])
			found = append(found, IssueCriterion{Criterion{Description: item, Hint: item}, l.raw})
		}
	}
	return found
}

var (
	mappingLine = lazyregexp.New(`(?m)^[ \t]*(?:-[ \t]+)?(?:id|description|validation_hint|hint|acceptance_criteria)[ \t]*:(?:[ \t]|$)`)
	structured  = lazyregexp.New(`^[ \t\r\n]*[[{]`)
)

// fromBlock reads a block: YAML or JSON if it looks like that, else a criterion a line.
func fromBlock(block string) (found []IssueCriterion, err error) {
	checkbox := taskLine.MatchString(block)
	if !mappingLine.MatchString(block) && (!structured.MatchString(block) || checkbox) {
		for line := range strings.Lines(block) {
			if m := bulletLine.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
				item := strings.TrimSpace(m[1])
				found = append(found, IssueCriterion{Criterion: Criterion{Description: item, Hint: item}})
			}
		}
		return found, nil
	}
	var doc any
	if err := yaml.Unmarshal([]byte(block), &doc); err != nil {
		return nil, fmt.Errorf("it is neither YAML nor JSON: %s", text.OneLine(err.Error()))
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

// criterionOf reads an entry of a list: a text, or a mapping.
func criterionOf(item any) (c Criterion, err error) {
	if s, ok := item.(string); ok && !text.IsBlank(s) {
		return Criterion{Description: s, Hint: s}, nil
	}
	m, ok := item.(map[string]any)
	if !ok {
		return c, fmt.Errorf("it is neither a text nor a mapping with description and validation_hint")
	}
	get := func(names ...string) string {
		for _, name := range names {
			switch v := m[name].(type) {
			case string:
				return v
			case int, float64, bool:
				raw, _ := json.Marshal(v) // these can all be written
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
