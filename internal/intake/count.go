package intake

import "github.com/agent-airlock/airlock/internal/safeoutput"

// counter applies the limits, record by record in the order of the input.
type counter struct {
	door    *door
	encode  bool
	counts  map[safeoutput.Kind]int
	scratch []byte
}

// outcome counts what was judged. An item that a limit could have dropped is cleaned
// here, once it is known that none did.
func (c *counter) outcome(v *verdict) Outcome {
	kind, limit := v.spec.Kind, -1
	if len(v.violations) == 0 {
		limit = c.door.cfg.max(v.spec)
		if limit >= 0 && c.counts[kind] >= limit {
			return Outcome{Dropped: &Dropped{Line: v.accepted.line, Kind: kind, Limit: limit, Notes: v.accepted.notes}}
		}
		if !v.cleaned {
			c.door.cleanItem(v)
			if c.encode && len(v.violations) == 0 {
				c.scratch = encodeItem(v, c.scratch[:0])
			}
		}
	}
	if len(v.violations) > 0 {
		return Outcome{Rejected: &Rejected{Line: v.accepted.line, Kind: kind, Violations: sortViolations(v.violations), Notes: v.accepted.notes}}
	}
	c.counts[kind]++
	a := v.accepted
	return Outcome{Accepted: &a}
}

// encodeItem appends the item's JSON to buf. The item's own slice of it stays
// valid if buf grows later, because growing copies.
func encodeItem(v *verdict, buf []byte) []byte {
	from := len(buf)
	out, err := safeoutput.AppendEncode(buf, v.accepted.item)
	if err != nil {
		v.violations = append(v.violations, Violation{Line: v.accepted.line, Kind: v.spec.Kind, Path: "$", Message: "the item cannot be written: " + err.Error()})
		return out[:from]
	}
	v.accepted.encoded = out[from:len(out):len(out)]
	return out
}
