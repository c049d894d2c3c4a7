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

// maxPatch is how large a patch is kept for people, in bytes.
const maxPatch = 10 << 20

// seriesPatch is the patch of changes that could not be put onto anything; nil
// when it cannot be made.
func (c *coder) seriesPatch(st *codeState) []byte {
	data, err := c.code.Repo.SeriesPatch(c.o.ctx, st.series, maxPatch)
	return c.keepable(st, data, err)
}

// keepable returns a patch if it was made and holds no secret. One may stand in it
// although the changes bring none: in the lines that they take away or leave.
func (c *coder) keepable(st *codeState, data []byte, err error) []byte {
	if err != nil {
		st.note("the patch could not be kept: " + err.Error())
		return nil
	}
	if scanner := c.o.cfg.Secrets; scanner != nil && len(scanner.Scan(string(data))) > 0 {
		st.note("the patch is not kept, since it holds what looks like a secret")
		return nil
	}
	return data
}
