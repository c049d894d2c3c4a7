package reviewer

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

var (
	// workflowPath is where GitHub reads workflows and actions from.
	workflowPath = lazyregexp.New(`^\.github/workflows/[^/]+\.ya?ml$|(^|/)action\.ya?ml$`)
	// strangerExpression matches, by GitHub's own guide to script injection, the expressions whose
	// value a stranger may choose, such as the title of an issue or the branch of a pull request.
	strangerExpression = lazyregexp.New(`\$\{\{[^}]*\bgithub\.(head_ref\b|event\.(issue\.(title|body)|pull_request\.(title|body|head\.(ref|label|repo\.default_branch))|comment\.body|review\.body|review_comment\.body|discussion\.(title|body)|pages[^}]*\.page_name|commits[^}]*\.(message|author\.(email|name))|head_commit\.(message|author\.(email|name))|workflow_run\.(head_branch|head_commit\.message)))`)
	// headRef matches the names of the commits and the branch that a pull request proposes.
	headRef = lazyregexp.New(`github\.(event\.pull_request\.(head\.(sha|ref)|merge_commit_sha)|head_ref)|refs/pull/`)
)

// workflowFile is a workflow or an action under security review.
type workflowFile struct {
	*source
	reviewer *Reviewer
	yaml     *yamlText
	events   wordSet // that start the workflow
	found    []finding.Finding
}

// workflow reviews a GitHub workflow or action. A file that is not YAML has no findings:
// GitHub does not run it.
func (r *Reviewer) workflow(f File) []finding.Finding {
	f.Text = strings.TrimLeft(f.Text, "\ufeff") // byte order marks: the library counts none, and misreads two
	var document yaml.Node
	if yaml.Unmarshal([]byte(f.Text), &document) != nil || len(document.Content) == 0 {
		return nil
	}
	root := document.Content[0]
	w := &workflowFile{source: unscanned(f), reviewer: r, yaml: newYAMLText(f.Text), events: eventsOf(root)}
	w.walk(root, 0)
	return w.found
}

// eventsOf returns the events that start a workflow, in any of the ways to write them.
func eventsOf(root *yaml.Node) wordSet {
	events := wordSet{}
	on := child(root, "on")
	switch {
	case on == nil:
	case on.Kind == yaml.MappingNode:
		for i := 0; i < len(on.Content); i += 2 {
			events[on.Content[i].Value] = true
		}
	default:
		for _, n := range append([]*yaml.Node{on}, on.Content...) {
			events[n.Value] = true
		}
	}
	return events
}

// privilegedEvents are the events that strangers cause, and whose workflows have secrets or a token
// that writes. The pattern of each matches the expressions that name a stranger's texts. For any
// other event, whoever can choose the text can change the repository anyway, or the workflow itself
// in a pull request.
var privilegedEvents = map[string]*lazyregexp.Regexp{
	"pull_request_target": lazyregexp.New(`head_ref|event\.pull_request\.`),
	"issues":              lazyregexp.New(`event\.issue\.`),
	"issue_comment":       lazyregexp.New(`event\.(issue|comment)\.`),
	"discussion":          lazyregexp.New(`event\.discussion\.`),
	"discussion_comment":  lazyregexp.New(`event\.(discussion|comment)\.`),
	"workflow_run":        lazyregexp.New(`event\.workflow_run\.`),
	"gollum":              lazyregexp.New(`event\.pages`),
}

// isPrivileged reports whether a privileged event, which brings the text that an expression names,
// starts the workflow.
func (w *workflowFile) isPrivileged(expression string) bool {
	for event, brings := range privilegedEvents {
		if w.events[event] && brings.MatchString(expression) {
			return true
		}
	}
	return false
}

// walk reviews a node and what is below it.
func (w *workflowFile) walk(n *yaml.Node, depth int) {
	const deepest = 64 // GitHub's workflows are about ten deep
	if depth > deepest {
		return
	}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if key, v := n.Content[i].Value, n.Content[i+1]; v.Kind == yaml.ScalarNode && (key == "run" || key == "script") {
			w.script(v)
		}
	}
	if uses := child(n, "uses"); w.events["pull_request_target"] && uses != nil && strings.HasPrefix(uses.Value, "actions/checkout@") {
		if ref := child(child(n, "with"), "ref"); ref != nil {
			if at := headRef.FindStringIndex(ref.Value); at != nil {
				rule := w.reviewer.byID["workflow/untrusted-checkout"]
				place := w.linesOf(w.yaml.reader(ref).place(at[0], at[1]))
				if place.StartLine == ref.Line {
					place.StartColumn = ref.Column
				}
				w.report(rule, rule.Precision, place)
			}
		}
	}
	for _, c := range n.Content { // an alias has no content of its own: it is read once, where it is defined
		w.walk(c, depth+1)
	}
}

// truths matches an expression that is true or false, whatever is compared in it.
var truths = lazyregexp.New(`\$\{\{\s*!?\s*(?:contains|startsWith|endsWith)\([^(){}]*\)\s*\}\}`)

// script finds each expression by which GitHub writes a stranger's text into a script.
func (w *workflowFile) script(script *yaml.Node) {
	rule := w.reviewer.byID["workflow/expression-injection"]
	text := truths.ReplaceAllStringFunc(script.Value, func(truth string) string { return strings.Repeat(" ", len(truth)) })
	var places *scalarReader
	for _, at := range strangerExpression.FindAllStringSubmatchIndex(text, -1) {
		precision := finding.PrecisionMedium
		if w.isPrivileged(text[at[0]:at[1]]) {
			precision = rule.Precision
		}
		if places == nil {
			places = w.yaml.reader(script)
		}
		w.report(rule, precision, w.linesOf(places.place(at[0], at[1])))
	}
}

// linesOf returns the lines with the bytes from start to end. It leaves columns out, so that a line
// has one finding.
func (w *workflowFile) linesOf(start, end int32) finding.Range {
	return finding.Range{StartLine: w.line(start), EndLine: w.line(end - 1)}
}

func (w *workflowFile) report(rule *Rule, precision finding.Precision, place finding.Range) {
	if w.reviewer.config.selects(rule, precision) {
		w.found = append(w.found, rule.finding(w.path, "", place))
	}
}

// child returns the value of a mapping's key, or nil.
func child(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}
