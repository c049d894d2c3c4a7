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
	// strangerExpression matches the expressions whose value anybody may choose who can open an
	// issue or a pull request, by GitHub's own guide to script injection.
	strangerExpression = lazyregexp.New(`\$\{\{[^}]*\bgithub\.(head_ref\b|event\.(issue\.(title|body)|pull_request\.(title|body|head\.(ref|label|repo\.default_branch))|comment\.body|review\.body|review_comment\.body|discussion\.(title|body)|pages[^}]*\.page_name|commits[^}]*\.(message|author\.(email|name))|head_commit\.(message|author\.(email|name))|workflow_run\.(head_branch|head_commit\.message)))`)
	// headRef matches the names of what a pull request proposes.
	headRef = lazyregexp.New(`github\.(event\.pull_request\.(head\.(sha|ref)|merge_commit_sha)|head_ref)|refs/pull/`)
)

// workflowFile is a workflow or an action under security review.
type workflowFile struct {
	path       string
	uses       func(*Rule) bool
	rules      map[string]*Rule
	privileged bool // the workflow runs with secrets for pull requests of strangers
	found      []finding.Finding
}

// workflow reviews a GitHub workflow or action. A file that is not YAML has no findings:
// GitHub does not run it.
func (r *Reviewer) workflow(f File) []finding.Finding {
	var document yaml.Node
	if yaml.Unmarshal([]byte(f.Text), &document) != nil || len(document.Content) == 0 {
		return nil
	}
	root := document.Content[0]
	w := &workflowFile{path: f.Path, uses: r.uses, rules: r.byID, privileged: runsForPullRequestTarget(root)}
	w.walk(root, 0)
	return w.found
}

// runsForPullRequestTarget reports whether pull_request_target starts the workflow.
func runsForPullRequestTarget(root *yaml.Node) bool {
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
	if uses := child(n, "uses"); w.privileged && uses != nil && strings.HasPrefix(uses.Value, "actions/checkout@") {
		if ref := child(child(n, "with"), "ref"); ref != nil && headRef.MatchString(ref.Value) {
			w.report("workflow/untrusted-checkout", ref.Line, ref.Column)
		}
	}
	for _, c := range n.Content { // an alias has no content of its own: it is read once, where it is defined
		w.walk(c, depth+1)
	}
}

// truths matches an expression that is true or false, whatever is compared in it.
var truths = lazyregexp.New(`\$\{\{\s*!?\s*(?:contains|startsWith|endsWith)\([^(){}]*\)\s*\}\}`)

// script finds each line of a script into which GitHub writes a stranger's text.
func (w *workflowFile) script(script *yaml.Node) {
	isBlock := script.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	line := script.Line
	if isBlock {
		line++ // the text begins below its sign
	}
	for text := range strings.Lines(script.Value) {
		if strangerExpression.MatchString(truths.ReplaceAllString(text, "")) {
			w.report("workflow/expression-injection", line, 0)
		}
		if isBlock {
			line++
		}
	}
}

func (w *workflowFile) report(id string, line, column int) {
	if rule := w.rules[id]; w.uses(rule) {
		w.found = append(w.found, rule.finding(w.path, "", finding.Range{StartLine: line, StartColumn: column, EndLine: line}))
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
