package safeoutput

import (
	"reflect"
	"strconv"
)

// The internal kinds: what only Airlock itself asks for. They are no rows of the
// kind table, so Lookup and Decode do not know them, and no line of an agent's can
// name one.
const (
	KindCheckRun         Kind = "check-run"
	KindStickyComment    Kind = "sticky-comment"
	KindMinimiseComments Kind = "minimise-comments"
)

// internalItems returns one empty item of each internal kind.
func internalItems() []Item { return []Item{&CheckRun{}, &StickyComment{}, &MinimiseComments{}} }

// IsInternal reports whether a kind is one that only Airlock itself asks for.
func IsInternal(kind Kind) bool {
	switch kind {
	case KindCheckRun, KindStickyComment, KindMinimiseComments:
		return true
	}
	return false
}

// CheckRun shows a conclusion and annotations in a commit's list of checks.
type CheckRun struct {
	Name       string `json:"name"`       // what the list shows, and rules about required checks name
	HeadSHA    string `json:"head_sha"`   // the commit
	Conclusion string `json:"conclusion"` // "success", "failure" or "neutral"
	Title      string `json:"title"`      // one line
	Summary    string `json:"summary"`    // Markdown
	Text       string `json:"text,omitempty"`
	// Annotations may be any number: they are sent in as many requests as it takes.
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

// StickyComment is the one comment of its name in a pull request's conversation:
// a later one of the same name replaces its text.
type StickyComment struct {
	Name string `json:"name"`
	Body string `json:"body"`
	// OnlyUpdate changes a comment that is there and opens none: where all is well
	// and always was, nothing needs to be said.
	OnlyUpdate bool `json:"only_update,omitempty"`
}

// MinimiseComments hides, as resolved, the review comments of Airlock's own in a
// pull request whose reason is gone: those of the scopes that are not kept.
type MinimiseComments struct {
	// Scopes are what the stable names of the comments have before their first '/'.
	Scopes []string `json:"scopes"`
	// Keep are the whole stable names of what is still so, whether or not there is
	// a comment about it.
	Keep []string `json:"keep"`
}

// Kind implements Item.
func (*CheckRun) Kind() Kind { return KindCheckRun }

// Kind implements Item.
func (*StickyComment) Kind() Kind { return KindStickyComment }

// Kind implements Item.
func (*MinimiseComments) Kind() Kind { return KindMinimiseComments }

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

// Texts implements Item. Nobody reads these names.
func (i *MinimiseComments) Texts() []Text { return nil }

// Clone returns a copy of an item that shares nothing with it which cleaning
// could change. it is not nil.
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
