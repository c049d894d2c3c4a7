package acceptance

import (
	"fmt"
	"io"
	"strings"
)

// Text writes a response for a person: each criterion and how it ended, the claims that did not
// pass, what the judge said, and the verdict last. show makes a text safe to show on one line.
func (r Response) Text(w io.Writer, show func(string) string) {
	fmt.Fprintln(w)
	for _, c := range r.Results {
		fmt.Fprintf(w, "%s %s: %s\n", sign(c.Status), show(c.ID), show(c.Evidence))
		if c.Remediation != "" && c.Status != Pass {
			fmt.Fprintf(w, "  %s\n", show(c.Remediation))
		}
	}
	for _, c := range r.Claims {
		if c.Status != Pass {
			fmt.Fprintf(w, "%s claim %s: %s\n", sign(c.Status), show(c.Claim), show(c.Evidence))
		}
	}
	if len(r.Gates) == 3 { // the third is the judge's
		fmt.Fprintf(w, "%s %s\n", sign(r.Gates[2].Status), show(r.Gates[2].Evidence))
	}
	fmt.Fprintln(w, strings.Join(strings.Fields(fmt.Sprintf("%s. %s %s", r.Verdict, show(r.Reasoning), r.NextStep.advice())), " "))
}

// sign returns a status as one character.
func sign(s Status) string {
	return map[Status]string{Pass: "✓", Fail: "✗", Blocked: "!", Skip: "-"}[s]
}

// advice returns the sentence about what to do next.
func (n NextStep) advice() string {
	return map[NextStep]string{
		Done:         "The task can be closed.",
		Fix:          "Mend what fails, then verify again.",
		Unblock:      "Remove what blocks, then verify again.",
		CorrectClaim: "The claim does not hold: correct it before the task is closed.",
	}[n]
}

// Line returns a step as one line for a person. show makes a text safe to show on one line.
func (s Step) Line(show func(string) string) string {
	line := string(s.Status)
	switch {
	case s.Status == "":
		line = show(s.Text)
	case s.Elapsed > 0:
		line += fmt.Sprintf(" (%.1f s)", s.Elapsed.Seconds())
	}
	if s.Criterion != "" {
		line = show(s.Criterion) + ": " + line
	}
	return line
}
