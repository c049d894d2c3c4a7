package apply

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// strangeAnswers are answers with the status of a success whose bodies do not say what was done.
var strangeAnswers = map[string]githubtest.Fault{
	"an empty object": {Status: 201, Body: `{}`}, "null": {Status: 201, Body: `null`}, "a message": {Status: 202, Body: `{"message":"Accepted"}`},
	"a wrong type": {Status: 201, Body: `{"id":"1","number":"2"}`}, "a list": {Status: 200, Body: `[null]`}, "no content": {Status: 204}, "HTML": {Status: 200, Body: `<html>Unicorn!</html>`},
	"cut off":       {Status: 201, Body: `{"id":1,"number":2,`},
	"another issue": {Status: 201, Body: `{"id":77,"number":77,"title":"Other","body":"Somebody else wrote this.","issue_url":"https://api.github.test/repos/octo/repo/issues/77"}`},
	"only numbers":  {Status: 201, Body: `{"id":77,"number":77}`},
	"null data":     {Status: 200, Body: `{"data":null}`}, "no object": {Status: 200, Body: `{"data":{"createDiscussion":{"discussion":null},"addDiscussionComment":{}}}`},
}

// written are items with the operations that write and list them.
var written = []struct{ name, item, write, list string }{
	{"issue", anIssue, "issues/create", "issues/list-for-repo"},
	{"comment", `{"type":"add-issue-comment","body":"Hello."}`, "issues/create-comment", "issues/list-comments"},
	{"review", reviewLine("main.go", 1, "Here."), "pulls/create-review", "pulls/list-reviews"},
	{"discussion", aDiscussion, "graphql/CreateDiscussion", "graphql/Discussions"},
}

// An item counts as applied only if the object that it made is known. If GitHub's answer does not
// name the object, it is looked for.
func TestStrangeAnswersToWrites(t *testing.T) {
	for name, answer := range strangeAnswers {
		for _, w := range written {
			for _, effect := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%s/effect %v", w.name, name, effect), func(t *testing.T) {
					b := reviewBench(t, githubtest.Options{})
					fault := answer
					fault.After = effect
					b.srv.SetFault(times(1, w.write, fault))
					results := b.run(w.item)
					want(t, results, "applied")
					if o := results[0].Object; o == nil || o.ID == 0 || o.Number == 0 || o.Number == 77 {
						t.Errorf("object %+v", o)
					}
					b.wantWritten(w.name, 1)
				})
			}
			t.Run(w.name+"/"+name+"/always", func(t *testing.T) {
				b := reviewBench(t, githubtest.Options{})
				b.srv.SetFault(times(1000, w.write, answer))
				results := b.run(w.item)
				want(t, results, "failed(ambiguous)")
				if !strings.Contains(results[0].Message, "nothing confirms the change") || results[0].Object != nil {
					t.Errorf("message %q, object %+v", results[0].Message, results[0].Object)
				}
			})
		}
	}
}

// wantWritten asserts how often an item of written is there.
func (b *bench) wantWritten(name string, wanted int) {
	b.t.Helper()
	st := b.srv.State()
	there := map[string]int{"issue": len(st.Issues) - 2, "comment": len(issueIn(st, pullNumber).Comments), "review": len(issueIn(st, pullNumber).Pull.Reviews),
		"discussion": len(st.Discussions) - 1}[name]
	if there != wanted {
		b.t.Errorf("the %s is there %d times, not %d", name, there, wanted)
	}
}

// A list that GitHub does not show does not count as empty: what an earlier attempt wrote may be in
// it.
func TestStrangeListsAreNotEmpty(t *testing.T) {
	answers := map[string]githubtest.Fault{"null": {Status: 200, Body: `null`}, "no content": {Status: 204}, "null entries": {Status: 200, Body: `[null]`},
		"empty entries": {Status: 200, Body: `[{}]`}, "an object": {Status: 200, Body: `{}`}, "a message": {Status: 200, Body: `{"message":"ok"}`},
		"null nodes":    {Status: 200, Body: `{"data":{"repository":{"id":"R_42","hasDiscussionsEnabled":true,"discussions":{"nodes":null,"pageInfo":{}}}}}`},
		"a null node":   {Status: 200, Body: `{"data":{"repository":{"id":"R_42","hasDiscussionsEnabled":true,"discussions":{"nodes":[null],"pageInfo":{}}}}}`},
		"no repository": {Status: 200, Body: `{"data":{"repository":null}}`}}
	for name, answer := range answers {
		for _, w := range written {
			t.Run(w.name+"/"+name, func(t *testing.T) {
				b := reviewBench(t, githubtest.Options{})
				want(t, b.run(w.item), "applied")
				b.cfg.Run.Attempt = 2
				b.srv.SetFault(times(1000, w.list, answer))
				results := b.run(w.item)
				if r := results[0]; r.State != Failed || !strings.Contains(r.Message, "could not") {
					t.Errorf("%s(%s): %s", r.State, r.Code, r.Message)
				}
				b.wantWritten(w.name, 1)
			})
		}
	}
}
