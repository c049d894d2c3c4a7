package apply

import "fmt"

// keepPatch stores the changes that were not delivered, so that nobody's work is
// lost, and tells where in the result.
func (x *executor) keepPatch(e *entry, r *Result) {
	st := x.plan.snap.code[e.index]
	if st == nil || len(st.patch) == 0 || r.File != "" || e.staged {
		return
	}
	if r.Object != nil && r.Object.SHA != "" { // a branch holds them
		return
	}
	switch r.State {
	case Failed, Denied, Skipped:
	default:
		return
	}
	if x.w.Files == nil {
		return
	}
	path, err := x.w.Files.WriteFile(fmt.Sprintf("airlock-%s.patch", e.key[:8]), st.patch)
	if err != nil {
		x.w.log("the patch could not be kept: " + err.Error())
		return
	}
	r.File = path
	r.Notes = append(r.Notes, "the changes are kept as a patch, which git am --3way applies")
}
