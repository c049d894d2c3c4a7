package safeoutput

import (
	"strconv"
	"sync"
)

// Texts implements Item.
func (i *CreateIssue) Texts() []Text {
	return append([]Text{{"title", Title, &i.Title}, {"body", Body, &i.Body}}, labelTexts(i.Labels)...)
}

// Texts implements Item.
func (i *AddIssueComment) Texts() []Text { return []Text{{"body", Body, &i.Body}} }

// Texts implements Item.
func (i *CreatePullRequest) Texts() []Text {
	t := []Text{{"title", Title, &i.Title}, {"body", Body, &i.Body}, {"branch", Plain, &i.Branch}}
	return append(t, labelTexts(i.Labels)...)
}

// Texts implements Item.
func (i *AddIssueLabel) Texts() []Text { return labelTexts(i.Labels) }

// Texts implements Item.
func (i *UpdateIssue) Texts() []Text {
	var t []Text
	if i.Title != nil {
		t = append(t, Text{"title", Title, i.Title})
	}
	if i.Body != nil {
		t = append(t, Text{"body", Body, i.Body})
	}
	return t
}

// Texts implements Item.
func (i *PushToBranch) Texts() []Text { return []Text{{"message", Literal, &i.Message}} }

// Texts implements Item.
func (i *CreateReviewComment) Texts() []Text { return []Text{{"body", Body, &i.Body}} }

// Texts implements Item.
func (i *CreateDiscussion) Texts() []Text {
	return []Text{{"title", Title, &i.Title}, {"body", Body, &i.Body}, {"category", Plain, &i.Category}}
}

// Texts implements Item.
func (i *MissingTool) Texts() []Text {
	return []Text{{"tool", Plain, &i.Tool}, {"reason", Body, &i.Reason}, {"alternatives", Body, &i.Alternatives}}
}

// Texts implements Item. Texts inside SARIF are cleaned by package sarif.
func (i *CreateSecurityReport) Texts() []Text {
	return []Text{{"category", Plain, &i.Category}, {"message", Literal, &i.Message}}
}

// Texts implements Item.
func (i *Noop) Texts() []Text { return []Text{{"message", Body, &i.Message}} }

func labelTexts(labels []string) []Text {
	t := make([]Text, len(labels))
	for n := range labels {
		t[n] = Text{LabelField(n), Label, &labels[n]}
	}
	return t
}

// labelFields are the names of as many labels as an item can have, so that
// they need not be made for each.
var labelFields = sync.OnceValue(func() []string {
	names := make([]string, 100)
	for n := range names {
		names[n] = "labels[" + strconv.Itoa(n) + "]"
	}
	return names
})

// LabelField returns the name of the n-th label's field, counted from 0:
// "labels[2]".
func LabelField(n int) string {
	if names := labelFields(); n < len(names) {
		return names[n]
	}
	return "labels[" + strconv.Itoa(n) + "]"
}
