package reviewer

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/agent-airlock/airlock/internal/finding"
)

// workflowPath is where GitHub reads workflows and actions from.
var workflowPath = regexp.MustCompile(`^\.github/workflows/[^/]+\.ya?ml$|(^|/)action\.ya?ml$`)

// strangers are the expressions whose value anybody may choose who can open an
// issue or a pull request, by GitHub's own guide to script injection.
var strangers = regexp.MustCompile(`\$\{\{[^}]*\bgithub\.(head_ref\b|event\.(issue\.(title|body)|pull_request\.(title|body|head\.(ref|label|repo\.default_branch))|comment\.body|review\.body|review_comment\.body|discussion\.(title|body)|pages[^}]*\.page_name|commits[^}]*\.(message|author\.(email|name))|head_commit\.(message|author\.(email|name))|workflow_run\.(head_branch|head_commit\.message)))`)

// headRef is a checkout of what a pull request proposes.
var headRef = regexp.MustCompile(`github\.(event\.pull_request\.(head\.(sha|ref)|merge_commit_sha)|head_ref)|refs/pull/`)

// workflow reviews a GitHub workflow or action. A file that is no YAML has no
// findings: GitHub does not run it.
func (r *Reviewer) workflow(f File) []finding.Finding {
	var root yaml.Node
	if yaml.Unmarshal([]byte(f.Text), &root) != nil || len(root.Content) == 0 {
		return nil
	}
	w := &workflowFile{path: f.Path, uses: r.uses, rules: r.workflowRules}
	w.privileged = w.triggeredByTarget(root.Content[0])
	w.walk(root.Content[0], 0)
	return w.found
}

type workflowFile struct {
	path       string
	uses       func(*Rule) bool
	rules      map[string]*Rule
	privileged bool // runs with secrets for pull requests of strangers
	found      []finding.Finding
}

// triggeredByTarget reports whether pull_request_target starts the workflow.
func (w *workflowFile) triggeredByTarget(root *yaml.Node) bool {
	on := child(root, "on")
	if on == nil {
		return false
	}
	for _, n := range append([]*yaml.Node{on}, on.Content...) {
		if n.Kind == yaml.ScalarNode && n.Value == "pull_request_target" {
			return true
		}
	}
	return false
}

// deepestYAML bounds how deep a workflow is read; GitHub's are about ten deep.
const deepestYAML = 64

func (w *workflowFile) walk(n *yaml.Node, depth int) {
	if depth > deepestYAML {
		return
	}
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, v := n.Content[i].Value, n.Content[i+1]
			if v.Kind == yaml.ScalarNode && (key == "run" || key == "script") {
				w.script(v)
			}
		}
		if uses := child(n, "uses"); w.privileged && uses != nil && strings.HasPrefix(uses.Value, "actions/checkout@") {
			if ref := child(child(n, "with"), "ref"); ref != nil && headRef.MatchString(ref.Value) {
				w.report("workflow/untrusted-checkout", ref.Line, ref.Column)
			}
		}
	}
	for _, c := range n.Content { // an alias has no content of its own: it is read once, where it is defined
		w.walk(c, depth+1)
	}
}

// script finds each line of a script into which GitHub writes a stranger's text.
func (w *workflowFile) script(v *yaml.Node) {
	block := v.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	line := v.Line
	if block {
		line++ // the text begins below its sign
	}
	for text := range strings.Lines(v.Value) {
		if strangers.MatchString(text) {
			w.report("workflow/expression-injection", line, 0)
		}
		if block {
			line++
		}
	}
}

func (w *workflowFile) report(id string, line, column int) {
	if rule := w.rules[id]; w.uses(rule) {
		w.found = append(w.found, finding.Finding{Check: SecurityReview, Tool: Tool, Rule: id, Severity: rule.Severity, Message: rule.Message, Path: w.path,
			Range: finding.Range{StartLine: line, StartColumn: column, EndLine: line}})
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
