package safeoutput

import (
	"reflect"
	"strconv"
)

// The internal kinds are those of items that only Airlock itself makes. They are
// not in the kind table, so Lookup and Decode do not know them, and an agent cannot
// name them.
const (
	KindCheckRun         Kind = "check-run"
	KindStickyComment    Kind = "sticky-comment"
	KindMinimiseComments Kind = "minimise-comments"
	KindTickBoxes        Kind = "tick-boxes"
)

// internalItems returns one empty item of each internal kind.
func internalItems() []Item {
	return []Item{&CheckRun{}, &StickyComment{}, &MinimiseComments{}, &TickBoxes{}}
}

// IsInternal reports whether only Airlock itself makes items of the kind.
func IsInternal(kind Kind) bool {
	return kind == KindCheckRun || kind == KindStickyComment || kind == KindMinimiseComments || kind == KindTickBoxes
}

// CheckRun shows a conclusion and annotations in a commit's list of checks.
type CheckRun struct {
	Name       string `json:"name"`       // shown in the list, and used by rules about required checks
	HeadSHA    string `json:"head_sha"`   // the commit
	Conclusion string `json:"conclusion"` // "success", "failure" or "neutral"
	Title      string `json:"title"`      // one line
	Summary    string `json:"summary"`    // Markdown
	Text       string `json:"text,omitempty"`
	// Annotations are sent in several requests if necessary. The policy limits their number.
	Annotations []CheckAnnotation `json:"annotations,omitempty"`
}

// CheckAnnotation is a remark on lines of a file in a check run.
type CheckAnnotation struct {
	Path      string `json:"path"` // relative, slash-separated, without ".."
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
	Level     string `json:"annotation_level"` // "notice", "warning" or "failure"
	Title     string `json:"title,omitempty"`
	Message   string `json:"message"` // plain text
}

// StickyComment is the only comment with its name in a pull request's conversation.
// A later one with the same name replaces its text.
type StickyComment struct {
	Name string `json:"name"`
	Body string `json:"body"`
	// OnlyUpdate changes an existing comment but does not make one: if there never
	// was a problem, a comment is not needed.
	OnlyUpdate bool `json:"only_update,omitempty"`
	// Revision is 0 unless the comment is that of a fix loop. Any workflow and job of the
	// repository finds such a comment again, and a text of an older revision does not replace
	// that of a newer one.
	Revision int `json:"revision,omitempty"`
	// Outdated hides the comment that is there, which keeps its text, because another one has
	// taken its place. Body is not used then.
	Outdated bool `json:"outdated,omitempty"`
}

// MinimiseComments resolves those of Airlock's own review comments in a pull request that no longer
// apply: all of Scopes whose names are not in Keep. They are hidden, except for those with replies,
// and their text says why.
type MinimiseComments struct {
	// Scopes are the parts of the comments' stable names before the first '/'.
	Scopes []string `json:"scopes"`
	// Keep are the complete stable names of what still applies, with or without a
	// comment.
	Keep []string `json:"keep"`
	// Moved are those of Keep that are shown elsewhere now. Comments on them are resolved as
	// well, with another note.
	Moved []string `json:"moved,omitempty"`
}

// TickBoxes ticks boxes of the acceptance criteria in an issue's text, and changes nothing
// else there.
type TickBoxes struct {
	Issue int `json:"issue"`
	// Boxes are the digests of the criteria's texts: see tasklist.Digest.
	Boxes []string `json:"boxes"`
}

// Kind implements Item.
func (*CheckRun) Kind() Kind { return KindCheckRun }

// Kind implements Item.
func (*StickyComment) Kind() Kind { return KindStickyComment }

// Kind implements Item.
func (*MinimiseComments) Kind() Kind { return KindMinimiseComments }

// Kind implements Item.
func (*TickBoxes) Kind() Kind { return KindTickBoxes }

// Texts implements Item.
func (i *CheckRun) Texts() []Text {
	t := []Text{{"name", Literal, &i.Name}, {"title", Literal, &i.Title}, {"summary", Body, &i.Summary}, {"text", Body, &i.Text}}
	for n := range i.Annotations {
		a, at := &i.Annotations[n], "annotations["+strconv.Itoa(n)+"]"
		t = append(t, Text{at + ".title", Literal, &a.Title}, Text{at + ".message", Literal, &a.Message})
	}
	return t
}

// Texts implements Item.
func (i *StickyComment) Texts() []Text { return []Text{{"body", Body, &i.Body}} }

// Texts implements Item. The names are not shown to people.
func (i *MinimiseComments) Texts() []Text { return nil }

// Texts implements Item. The digests are not shown to people.
func (i *TickBoxes) Texts() []Text { return nil }

// Clone returns a copy of an item. Cleaning the copy does not change the item,
// which must not be nil.
func Clone(it Item) Item {
	from := reflect.ValueOf(it).Elem()
	to := reflect.New(from.Type())
	to.Elem().Set(from)
	for i := range from.NumField() {
		f := to.Elem().Field(i)
		switch {
		case f.Kind() == reflect.Slice && !f.IsNil():
			c := reflect.MakeSlice(f.Type(), f.Len(), f.Len())
			reflect.Copy(c, f)
			f.Set(c)
		case f.Kind() == reflect.Pointer && !f.IsNil():
			p := reflect.New(f.Type().Elem())
			p.Elem().Set(f.Elem())
			f.Set(p)
		}
	}
	return to.Interface().(Item)
}
