package scaffold

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
)

// A Preset is a task that agents are commonly given, with the kinds that it needs.
type Preset struct {
	Name, Summary string
	kinds         map[safeoutput.Kind][]safeoutput.Target // what each kind acts on; nil means all that it can
	events        []trigger
	task          string // the agent's task, until a person writes a better one
}

// trigger is an event that starts the agent.
type trigger int

const (
	onIssue   trigger = iota // an issue is opened
	onLabel                  // an issue gets the label "agent"
	onPull                   // a pull request is opened or changed
	onceAWeek                // the clock
)

// Presets returns the tasks that can be chosen, the most harmless first.
func Presets() []Preset {
	issue, pull := []safeoutput.Target{safeoutput.Issue}, []safeoutput.Target{safeoutput.PullRequest}
	return []Preset{
		{"triage", "answer and label new issues", map[safeoutput.Kind][]safeoutput.Target{safeoutput.KindAddIssueComment: issue, safeoutput.KindAddIssueLabel: issue}, []trigger{onIssue},
			"When an issue was opened: read it and the code that it is about. Give it one label, and answer\nit with one comment that says what you found and what is missing."},
		{"review", "comment on the lines of pull requests", map[safeoutput.Kind][]safeoutput.Target{safeoutput.KindCreateReviewComment: pull, safeoutput.KindAddIssueComment: pull}, []trigger{onPull},
			"When a pull request was opened or changed: read its changes. Comment on each line that has a\ndefect, with the reason and how to mend it. Where there is none, ask for nothing."},
		{"report", "look at the repository once a week and open issues", map[safeoutput.Kind][]safeoutput.Target{safeoutput.KindCreateIssue: nil}, []trigger{onceAWeek},
			"Once a week: look for documentation that contradicts the code. Open one issue about the worst\ncase, with the files and lines."},
		{"code", "open pull requests for issues with the label \"agent\"", map[safeoutput.Kind][]safeoutput.Target{safeoutput.KindCreatePullRequest: nil, safeoutput.KindAddIssueComment: issue}, []trigger{onLabel},
			"When an issue got the label \"agent\": do what it asks for, run the tests, and ask for a pull\nrequest with your changes. If you cannot do it, say why in a comment."},
	}
}

// selection is what was chosen: presets, kinds, and what each kind may act on.
type selection struct {
	names    []string // canonical names of presets and kinds, in the order of their tables
	presets  []Preset
	kinds    map[safeoutput.Kind]map[safeoutput.Target]bool
	triggers []trigger
}

// choose resolves names of presets and kinds.
func choose(names []string) (selection, error) {
	s := selection{kinds: map[safeoutput.Kind]map[safeoutput.Target]bool{}}
	presets := Presets()
	asked := map[string]bool{}
	for _, name := range names {
		name = strings.TrimSpace(name)
		if i := slices.IndexFunc(presets, func(p Preset) bool { return p.Name == name }); i >= 0 {
			asked[name] = true
			continue
		}
		if name == "nothing" {
			return selection{}, errors.New("agents are allowed nothing, or something: give \"nothing\" alone")
		}
		spec, ok := safeoutput.Lookup(name)
		if ok && spec.AlwaysAllowed {
			return selection{}, fmt.Errorf("%s need not be allowed: it changes nothing, so every agent may ask for it", spec.Kind)
		}
		if !ok {
			return selection{}, fmt.Errorf("agents cannot be allowed %q%s\nchoose from %s", text.Truncate(text.OneLine(name), 60), text.DidYouMean(name, ChoiceNames()), strings.Join(ChoiceNames(), ", "))
		}
		asked[string(spec.Kind)] = true
	}
	for _, p := range presets {
		if !asked[p.Name] {
			continue
		}
		s.names, s.presets, s.triggers = append(s.names, p.Name), append(s.presets, p), append(s.triggers, p.events...)
		for kind, on := range p.kinds {
			s.add(kind, on)
		}
	}
	for _, spec := range safeoutput.Kinds() {
		if !asked[string(spec.Kind)] {
			continue
		}
		s.names = append(s.names, string(spec.Kind))
		s.add(spec.Kind, nil)
		s.triggers = append(s.triggers, triggersOf(spec)...)
	}
	slices.Sort(s.triggers)
	s.triggers = slices.Compact(s.triggers)
	return s, nil
}

// add allows a kind to act on targets, nil meaning all that it can.
func (s *selection) add(kind safeoutput.Kind, on []safeoutput.Target) {
	if s.kinds[kind] == nil {
		s.kinds[kind] = map[safeoutput.Target]bool{}
	}
	if on == nil {
		on = safeoutput.SpecOf(kind).ActsOn
	}
	for _, t := range on {
		s.kinds[kind][t] = true
	}
}

// carriesCode reports whether a chosen kind publishes the agent's changes.
func (s selection) carriesCode() bool {
	for kind := range s.kinds {
		if safeoutput.SpecOf(kind).CarriesCode {
			return true
		}
	}
	return false
}

// triggersOf returns the triggers of an agent for a kind that was chosen by itself, not in a
// preset.
func triggersOf(spec safeoutput.Spec) (on []trigger) {
	if spec.CanActOn(safeoutput.Issue) {
		on = append(on, onIssue)
	}
	if spec.CanActOn(safeoutput.PullRequest) {
		on = append(on, onPull)
	}
	return on
}

// ChoiceNames returns the names that can be chosen: the presets', then the kinds'.
func ChoiceNames() []string {
	names := presetNames()
	for _, spec := range safeoutput.Kinds() {
		if !spec.AlwaysAllowed { // those need not be chosen
			names = append(names, string(spec.Kind))
		}
	}
	return names
}
