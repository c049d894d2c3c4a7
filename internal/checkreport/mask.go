package checkreport

// Mask passes every text that tools and people wrote through f, which leaves out
// secrets. A suggestion that holds one is dropped: it would put something else into
// the code. It comes before any text is cut or changed, after which a part of a
// secret would not be known for one.
func (d *Document) Mask(f func(string) string) {
	if f == nil {
		return
	}
	each := func(texts ...*string) {
		for _, t := range texts {
			*t = f(*t)
		}
	}
	all := func(lists ...[]string) {
		for _, l := range lists {
			for i := range l {
				l[i] = f(l[i])
			}
		}
	}
	o := &d.Output.Checks
	each(&o.Formatter.Command, &o.Linter.Command, &o.Build.Command, &o.Tests.Command)
	all(o.Formatter.Issues, o.Linter.Issues, o.Build.Errors, o.CodeReview.Findings, o.SecurityReview.Vulnerabilities, d.Notes)
	for i := range d.Checks {
		c := &d.Checks[i]
		each(&c.Root, &c.Command, &c.Excerpt)
		all(c.Problems, c.Notes)
		for j := range c.Failures {
			each(&c.Failures[j].Name, &c.Failures[j].Unit, &c.Failures[j].Message)
		}
	}
	for i := range d.Findings {
		fi := &d.Findings[i]
		each(&fi.Message, &fi.Rule, &fi.Tool)
		if f(fi.Suggestion) != fi.Suggestion {
			fi.Suggestion = ""
		}
	}
	for i := range d.Rules { // by the same names as their findings
		r := &d.Rules[i]
		each(&r.Tool, &r.ID, &r.Name, &r.Short, &r.Help)
	}
	for i := range d.Suppressed {
		each(&d.Suppressed[i].Rule, &d.Suppressed[i].Message, &d.Suppressed[i].Reason)
	}
	for i := range d.Skipped {
		each(&d.Skipped[i].Reason)
	}
	for i := range d.Missing {
		m := &d.Missing[i]
		each(&m.Tool, &m.Command, &m.Override)
	}
}
