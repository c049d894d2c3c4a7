package safeoutput

import "strconv"

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
func (i *PushToBranch) Texts() []Text { return []Text{{"message", Plain, &i.Message}} }

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
	return []Text{{"category", Plain, &i.Category}, {"message", Plain, &i.Message}}
}

// Texts implements Item.
func (i *Noop) Texts() []Text { return []Text{{"message", Body, &i.Message}} }

func labelTexts(labels []string) []Text {
	t := make([]Text, len(labels))
	for n := range labels {
		t[n] = Text{"labels[" + strconv.Itoa(n) + "]", Label, &labels[n]}
	}
	return t
}
