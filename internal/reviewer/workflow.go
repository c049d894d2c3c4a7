package reviewer

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

var (
	// workflowPath is where GitHub reads workflows and actions from.
	workflowPath = lazyregexp.New(`^\.github/workflows/[^/]+\.ya?ml$|(^|/)action\.ya?ml$`)
	// strangersTexts are, by GitHub's own guide to script injection, the texts that a stranger may
	// choose, such as the title of an issue or the branch of a pull request.
	strangersTexts = newContextTexts("github.head_ref github.event.issue.title github.event.issue.body github.event.pull_request.title " +
		"github.event.pull_request.body github.event.pull_request.head.ref github.event.pull_request.head.label " +
		"github.event.pull_request.head.repo.default_branch github.event.comment.body github.event.review.body github.event.review_comment.body " +
		"github.event.discussion.title github.event.discussion.body github.event.pages.*.page_name github.event.commits.*.message " +
		"github.event.commits.*.author.email github.event.commits.*.author.name github.event.head_commit.message " +
		"github.event.head_commit.author.email github.event.head_commit.author.name github.event.workflow_run.head_branch " +
		"github.event.workflow_run.head_commit.message")
	// headNames are the names of the commits and the branch that a pull request proposes.
	headNames = newContextTexts("github.head_ref github.event.pull_request.head.sha github.event.pull_request.head.ref github.event.pull_request.merge_commit_sha")
)

// workflowFile is a workflow or an action under security review.
type workflowFile struct {
	*source
	reviewer *Reviewer
	yaml     *yamlText
	events   wordSet // that start the workflow
	found    []finding.Finding
	// Aliases lead to a node again and again. These are what was found out about nodes before: what
	// expressions returned for a script, the ref in the parameters of a checkout, and what headIn
	// returned for a ref.
	scripts map[*yaml.Node]finding.Precision
	refs    map[*yaml.Node]*yaml.Node
	places  map[*yaml.Node]finding.Range
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
	w := &workflowFile{source: unscanned(f), reviewer: r, yaml: newYAMLText(f.Text), events: eventsOf(root),
		scripts: map[*yaml.Node]finding.Precision{}, refs: map[*yaml.Node]*yaml.Node{}, places: map[*yaml.Node]finding.Range{}}
	w.walk(root, 0)
	return w.found
}

// eventsOf returns the events that start a workflow, in any of the ways to write them.
func eventsOf(root *yaml.Node) wordSet {
	events := wordSet{}
	on := target(child(root, "on"))
	switch {
	case on == nil:
	case on.Kind == yaml.MappingNode:
		for i := 0; i < len(on.Content); i += 2 {
			events[on.Content[i].Value] = true
		}
	default:
		for _, n := range append([]*yaml.Node{on}, on.Content...) {
			events[target(n).Value] = true
		}
	}
	return events
}

// privilegedEvents are the events that strangers cause, and whose workflows have secrets or a token
// that writes. Each has the paths of a stranger's texts, or of objects with such texts, that it
// brings. For any other event, whoever can choose the text can change the repository anyway, or the
// workflow itself in a pull request.
var privilegedEvents = map[string][]string{
	"pull_request_target": {"github.head_ref", "github.event.pull_request"},
	"issues":              {"github.event.issue"},
	"issue_comment":       {"github.event.issue", "github.event.comment"},
	"discussion":          {"github.event.discussion"},
	"discussion_comment":  {"github.event.discussion", "github.event.comment"},
	"workflow_run":        {"github.event.workflow_run"},
	"gollum":              {"github.event.pages"},
}

// isPrivileged reports whether a privileged event, which brings one of the stranger's texts, starts
// the workflow.
func (w *workflowFile) isPrivileged(texts nodeSet) bool {
	for event, paths := range privilegedEvents {
		if w.events[event] && strangersTexts.at(paths)&texts != 0 {
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
		if key := n.Content[i].Value; key == "run" || key == "script" {
			w.script(n.Content[i+1])
		}
	}
	if uses := target(child(n, "uses")); w.events["pull_request_target"] && uses != nil && strings.HasPrefix(uses.Value, "actions/checkout@") {
		w.checkout(child(n, "with"))
	}
	for _, c := range n.Content { // an alias has no content of its own: it is read once, where it is defined
		w.walk(c, depth+1)
	}
}

// checkout looks for the code of a stranger's pull request in the ref of a checkout, whose parameters
// may be nil. If the ref is an alias, it reports the alias as well.
func (w *workflowFile) checkout(parameters *yaml.Node) {
	parameters = target(parameters)
	value, known := w.refs[parameters]
	if !known {
		value = child(parameters, "ref")
		w.refs[parameters] = value
	}
	ref := target(value)
	if ref == nil || ref.Kind != yaml.ScalarNode {
		return
	}
	place, known := w.places[ref]
	if !known {
		place = w.headIn(ref)
		w.places[ref] = place
	}
	if place.StartLine == 0 {
		return
	}
	rule := w.reviewer.byID["workflow/untrusted-checkout"]
	w.report(rule, rule.Precision, place)
	if value != ref {
		w.report(rule, rule.Precision, w.lineOf(value))
	}
}

// headIn returns where a ref first names what a pull request proposes, and the zero Range if it does
// not.
func (w *workflowFile) headIn(ref *yaml.Node) finding.Range {
	spans := slices.DeleteFunc(expressionSpans(ref.Value), func(s [2]int) bool { return headNames.writtenBy(ref.Value[s[0]:s[1]]) == 0 })
	if at := strings.Index(ref.Value, pullRefs); at >= 0 && (len(spans) == 0 || at < spans[0][0]) {
		spans = [][2]int{{at, at + len(pullRefs)}}
	}
	if len(spans) == 0 {
		return finding.Range{}
	}
	place := w.linesOf(w.yaml.reader(ref).place(spans[0][0], spans[0][1]))
	if place.StartLine == ref.Line {
		place.StartColumn = ref.Column
	}
	return place
}

// pullRefs begins the names of the branches that GitHub makes for pull requests.
const pullRefs = "refs/pull/"

// script finds each expression by which GitHub writes a stranger's text into a script. In a script
// that an alias stands for, it reports the line of the alias as well: a change of either can make the
// weakness.
func (w *workflowFile) script(script *yaml.Node) {
	defined := target(script)
	if defined.Kind != yaml.ScalarNode {
		return
	}
	worst, known := w.scripts[defined]
	if !known {
		worst = w.expressions(defined)
		w.scripts[defined] = worst
	}
	if worst != finding.PrecisionUnknown && script != defined {
		w.report(w.reviewer.byID["workflow/expression-injection"], worst, w.lineOf(script))
	}
}

// expressions reports the expressions of a script that write a stranger's text. It returns their
// highest precision, PrecisionUnknown if there are none.
func (w *workflowFile) expressions(script *yaml.Node) (highest finding.Precision) {
	rule := w.reviewer.byID["workflow/expression-injection"]
	var places *scalarReader
	for _, span := range expressionSpans(script.Value) {
		texts := strangersTexts.writtenBy(script.Value[span[0]:span[1]])
		if texts == 0 {
			continue
		}
		precision := finding.PrecisionMedium
		if w.isPrivileged(texts) {
			precision = rule.Precision
		}
		if precision.Rank() > highest.Rank() {
			highest = precision
		}
		if places == nil {
			places = w.yaml.reader(script)
		}
		w.report(rule, precision, w.linesOf(places.place(span[0], span[1])))
	}
	return highest
}

// lineOf returns the line on which a node begins.
func (w *workflowFile) lineOf(n *yaml.Node) finding.Range {
	start := int32(w.yaml.start(n))
	return w.linesOf(start, start+1)
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

// target returns the node that an alias stands for, and any other node as it is.
func target(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// child returns the value of a mapping's key, which may be an alias, or nil.
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
