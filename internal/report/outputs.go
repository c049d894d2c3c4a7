package report

import (
	"encoding/json"
	"io"
	"slices"
	"strconv"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// Output is one output of the action's step.
type Output struct{ Name, Value string }

// Outputs returns the step's outputs that follow from the results, in a fixed order: the
// counts, then the first object of each type, and the files with what could not be delivered;
// empty where there is none.
func (r *Report) Outputs() []Output {
	c := r.Counts
	out := []Output{
		{"asked", itoa(c.Asked)}, {"applied", itoa(c.Applied)}, {"adopted", itoa(c.Adopted)}, {"staged", itoa(c.Staged)},
		{"denied", itoa(c.Denied)}, {"skipped", itoa(c.Skipped)}, {"failed", itoa(c.Failed)},
		{"rejected", itoa(c.Rejected)}, {"dropped", itoa(c.Dropped)},
	}
	issue := first(r.Results, func(res apply.Result) bool { // an issue that was only updated does not count
		return res.Object.Type == "issue" && res.Kind != safeoutput.KindUpdateIssue
	})
	pull := r.firstOf("pull-request")
	pushed := first(r.Results, func(res apply.Result) bool { return res.Object.SHA != "" })
	upload := first(slices.Concat(r.Results, r.Own), func(res apply.Result) bool { return res.Object.Type == "sarif" })
	comment, review, discussion := r.firstOf("comment", "discussion-comment"), r.firstOf("review", "review-comment"), r.firstOf("discussion")
	return append(out,
		Output{"issue-number", nonZero(issue.Number)}, Output{"issue-url", issue.URL},
		Output{"comment-id", nonZero(comment.ID)}, Output{"comment-url", comment.URL},
		Output{"review-id", nonZero(review.ID)}, Output{"review-url", review.URL},
		Output{"discussion-number", nonZero(discussion.Number)}, Output{"discussion-url", discussion.URL},
		Output{"pull-request-number", nonZero(pull.Number)}, Output{"pull-request-url", pull.URL},
		Output{"branch", pushed.Branch}, Output{"commit-sha", pushed.SHA}, Output{"patch-file", r.file(func(k safeoutput.Kind) bool { return safeoutput.SpecOf(k).CarriesCode })},
		Output{"sarif-file", r.file(func(k safeoutput.Kind) bool { return k == safeoutput.KindCreateSecurityReport })}, Output{"sarif-id", upload.NodeID},
	)
}

// first returns the object of the first result that has one and for which wanted returns true; an
// empty object if there is none.
func first(results []apply.Result, wanted func(apply.Result) bool) apply.Object {
	for _, res := range results {
		if res.Object != nil && wanted(res) {
			return *res.Object
		}
	}
	return apply.Object{}
}

// firstOf returns an agent's first object of one of the types.
func (r *Report) firstOf(types ...string) apply.Object {
	return first(r.Results, func(res apply.Result) bool { return slices.Contains(types, res.Object.Type) })
}

// file returns where the first item of the wanted kinds was stored because it could not be
// delivered; "" if none was.
func (r *Report) file(wanted func(safeoutput.Kind) bool) string {
	for _, res := range slices.Concat(r.Results, r.Own) {
		if res.File != "" && wanted(res.Kind) {
			return res.File
		}
	}
	return ""
}

// nonZero writes a number; "" for 0.
func nonZero[T int | int64](n T) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(int64(n), 10)
}

// JSON writes the report in its documented form.
func (r *Report) JSON(w io.Writer, indent string) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	return enc.Encode(r)
}

// Clean reports whether nothing was rejected, denied, dropped, skipped or failed.
func (r *Report) Clean() bool { return r.Counts.NotDone() == 0 && !r.FailedOwn() }

// TooFew reports whether there are fewer items of a kind than the configuration demands.
func (r *Report) TooFew() bool { return r.tooFew }

// FailedOwn reports whether something that the checks found could not be published. A finding that
// is shown in the summary instead, because GitHub or the token does not allow more, does not count.
func (r *Report) FailedOwn() bool {
	return slices.ContainsFunc(r.Own, func(res apply.Result) bool { return res.State == apply.Failed })
}
