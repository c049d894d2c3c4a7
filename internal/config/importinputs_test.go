package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sharedWithInputs is a file that workflows import, with the widely used front matter.
const sharedWithInputs = `---
import-schema:
  title-prefix:
    type: string
    required: true
  expires:
    type: string
    default: "2d"
  labels:
    type: array
    items: {type: string}
    default: [automation]
  kind:
    type: choice
    options: [issue, task]
  max:
    type: number
    default: 3
  close:
    type: boolean
    default: false
  review:
    type: object
    properties:
      team: {type: string, required: true}
imports:
  - uses: more.md
    with: {footer: "${{ github.aw.import-inputs.title-prefix }}"}
safe-outputs:
  create-issue:
    expires: ${{ github.aw.import-inputs.expires }}
    title-prefix: "${{ github.aw.import-inputs.title-prefix }}"
    labels: ${{github.aw.import-inputs.labels}}
    max: ${{ github.aw.import-inputs.max }}
---
Do ${{ github.aw.import-inputs.title-prefix }}.
`

// withInputs loads a workflow with these imports, and returns the effects of its keys too.
func withInputs(t *testing.T, imports string) (cfg SafeOutputs, keys string, err error) {
	t.Helper()
	dir := repository(t, map[string]string{
		workflow:                             "---\nimports:\n" + imports + "\nsafe-outputs:\n  add-comment:\n---\nTriage.\n",
		".github/workflows/shared/base.md":   sharedWithInputs,
		".github/workflows/shared/more.md":   "---\nsafe-outputs:\n  add-labels:\n    allowed: [\"a ${{ github.aw.inputs.footer }}\"]\n---\n",
		".github/workflows/shared/nested.md": "---\nsafe-outputs:\n  add-labels:\n    allowed: [\"${{ github.aw.import-inputs.review.team }}\"]\n---\n",
	})
	cfg, err = Load(Sources{File: dir + "/" + workflow})
	return cfg, effects(dir, cfg), err
}

func TestInputsOfImportsAreFilledIn(t *testing.T) {
	cfg, got, err := withInputs(t, "  - uses: shared/base.md\n    with: {title-prefix: \"[bot] \", labels: [a b, \"x, y\"]}")
	if err != nil {
		t.Fatal(err)
	}
	issue := cfg.Policy.Kinds["create-issue"]
	if issue.TitlePrefix != "[bot] " || issue.Max == nil || *issue.Max != 3 || cfg.Policy.Staged {
		t.Errorf("%+v", issue)
	}
	if diff := cmp.Diff([]string{"a b", "x, y"}, issue.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a [bot] "}, cfg.Policy.Kinds["add-issue-label"].AllowedLabels); diff != "" {
		t.Errorf("what a file gives on (-want +got):\n%s", diff)
	}
	if want := "honoured: imports: .github/workflows/shared/base.md: 2 keys below safe-outputs, with its inputs filled in"; !strings.Contains(got, want) {
		t.Errorf("the effects lack %q:\n%s", want, got)
	}

	cfg, _, err = withInputs(t, "  - path: shared/nested.md\n    inputs: {review: {team: octo/reviewers}}")
	if err != nil || !cmp.Equal([]string{"octo/reviewers"}, cfg.Policy.Kinds["add-issue-label"].AllowedLabels) {
		t.Errorf("%+v, error %v", cfg.Policy.Kinds, err)
	}
}

func TestInputsThatDoNotFit(t *testing.T) {
	for name, c := range map[string]struct{ imports, want string }{
		"none":            {"  - shared/base.md", workflow + `:3:5: imports: .github/workflows/shared/base.md needs the input "title-prefix"; give it below "with"`},
		"unknown":         {"  - uses: shared/base.md\n    with: {title-prefix: a, lables: [b]}", workflow + `:4:29: imports: .github/workflows/shared/base.md has no input "lables"; its import-schema knows "title-prefix", `},
		"a number":        {"  - uses: shared/base.md\n    with: {title-prefix: 5}", `the input "title-prefix" of .github/workflows/shared/base.md takes a text, not 5`},
		"no list":         {"  - uses: shared/base.md\n    with: {title-prefix: a, labels: b}", `the input "labels" of .github/workflows/shared/base.md takes a list, not the text "b"`},
		"item":            {"  - uses: shared/base.md\n    with: {title-prefix: a, labels: [1]}", `the input "labels[0]" of .github/workflows/shared/base.md takes a text, not 1`},
		"choice":          {"  - uses: shared/base.md\n    with: {title-prefix: a, kind: epic}", `takes one of "issue", "task", not "epic"`},
		"member":          {"  - uses: shared/base.md\n    with: {title-prefix: a, review: {taem: b}}", `the input "review" of .github/workflows/shared/base.md has no member "taem"; it knows "team"`},
		"no member":       {"  - uses: shared/base.md\n    with: {title-prefix: a, review: {}}", `needs the member "team"`},
		"lines":           {"  - uses: shared/base.md\n    with: {title-prefix: \"a\\nb\"}", "has several lines, which would be other lines of that file"},
		"a number's form": {"  - uses: shared/base.md\n    with: {title-prefix: a, max: 0x10}", `is the number "0x10", which can be written in several ways`},
		"a quote":         {"  - uses: shared/base.md\n    with: {title-prefix: 'a\"b'}", `.github/workflows/shared/base.md:27: this is not valid YAML: did not find expected ',' or '}' (a brace or a comma is missing, or a comment does not begin with #), with its inputs filled in`},
		"an expression":   {"  - uses: shared/base.md\n    with: {title-prefix: \"${{ github.workflow }}\"}", `base.md:32:19: title-prefix: "${{ github.workflow }}" is an expression`},
		"twice":           {"  - uses: shared/base.md\n    with: {title-prefix: a}\n  - uses: shared/base.md\n    with: {title-prefix: b}", workflow + `:5:11: imports: .github/workflows/shared/base.md is imported more than once, with different inputs; a file is imported once`},
		"twice, with hex": {"  - uses: shared/base.md\n    with: {title-prefix: a, max: 0x10, labels: [b]}\n  - uses: shared/base.md\n    with: {title-prefix: a, max: 0x10, labels: [c]}", workflow + `:5:11: imports: .github/workflows/shared/base.md is imported more than once, with different inputs`},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := withInputs(t, c.imports)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error lacks %q:\n%v", c.want, err)
			}
		})
	}
	if _, _, err := withInputs(t, "  - uses: shared/base.md\n    with: {title-prefix: a}\n  - uses: shared/base.md\n    with: {title-prefix: a}"); err != nil {
		t.Errorf("twice with equal inputs: %v", err)
	}
	if _, _, err := withInputs(t, "  - uses: shared/base.md\n    with: {title-prefix: a, labels: [b, c]}\n  - uses: shared/base.md\n    with: {labels: [b, c], title-prefix: a}"); err != nil {
		t.Errorf("twice with equal inputs in another order: %v", err)
	}
	if _, err := Parse("base.md", []byte(sharedWithInputs)); err == nil || !strings.Contains(err.Error(), `base.md:32:19: title-prefix: "${{ github.aw.import-inputs.title-prefix }}" is an input, which has no value here: the file that imports this one gives it below "with"; validate that file`) {
		t.Errorf("the shared file alone: %v", err)
	}
}

// TestAnImportThatNeedNotBeThere asserts that an import whose name ends in "?" stages nothing if
// there is no such file.
func TestAnImportThatNeedNotBeThere(t *testing.T) {
	cfg, got, err := withInputs(t, "  - shared/gone.md?")
	if err != nil || cfg.Policy.Staged || !strings.Contains(got, "ignored: imports: \"shared/gone.md?\": there is no such file, and the ? says that it need not be there") {
		t.Errorf("staged is %t, error %v:\n%s", cfg.Policy.Staged, err, got)
	}
}
