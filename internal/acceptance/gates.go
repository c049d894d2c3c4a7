package acceptance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/agent-airlock/airlock/internal/text"
)

// Gate is one of the three gates that a task passes before it is done.
type Gate struct {
	Number   int    `json:"gate"` // 1 is the claim, 2 the verdict, 3 the judge
	Status   Status `json:"status"`
	Evidence string `json:"evidence"`
}

// NextStep is what follows from a response.
type NextStep string

// The next steps.
const (
	Done         NextStep = "done"          // close the task
	Fix          NextStep = "fix"           // the failures go to the fixer
	Unblock      NextStep = "unblock"       // remove the obstacle and verify again; this uses up no iteration
	CorrectClaim NextStep = "correct_claim" // the verdict passes, and the claim does not hold
)

// gates masks the response, and sets its gates and its next step. The judge is asked only if the
// two other gates let the task pass.
func (v *verification) gates(ctx context.Context, r *Response) error {
	r.Mask(v.deps.Mask)
	r.Gates = []Gate{claimGate(v.req, *r), verdictGate(*r, v.cfg.AcceptPartial)}
	if v.deps.Judge != nil && r.Gates[0].Status != Fail && r.Gates[1].Status == Pass {
		g, err := v.judge(ctx, *r)
		if err != nil {
			return err
		}
		r.Gates = append(r.Gates, g)
	}
	r.NextStep = nextStep(*r)
	return nil
}

// claimGate fails if a claim is proved wrong, and not if one cannot be checked.
func claimGate(req Request, r Response) Gate {
	count := map[Status]int{}
	var wrong []string
	for _, c := range r.Claims {
		count[c.Status]++
		if c.Status == Fail {
			wrong = append(wrong, fmt.Sprintf("%s: %s", c.Claim, c.Evidence))
		}
	}
	switch {
	case req.Claim == nil:
		return Gate{1, Skip, "The request claims nothing."}
	case len(wrong) > 0:
		return Gate{1, Fail, strings.Join(firstOf(wrong, 5), " ")}
	case count[Pass] > 0:
		return Gate{1, Pass, fmt.Sprintf("%d of %s checked and right.", count[Pass], text.Count(len(r.Claims), "claim"))}
	}
	return Gate{1, Skip, "Nothing that the request claims could be checked."}
}

func verdictGate(r Response, acceptPartial bool) Gate {
	switch {
	case r.Verdict == VerdictPass && slices.Contains(r.statuses(), Skip):
		return Gate{2, Pass, "All criteria that were not skipped are verified."}
	case r.Verdict == VerdictPass:
		return Gate{2, Pass, "All criteria are verified."}
	case r.Verdict == VerdictPartial && acceptPartial:
		return Gate{2, Pass, "Some criteria are not met, which the configuration accepts."}
	case r.Verdict == VerdictBlocked:
		return Gate{2, Blocked, "Some criteria could not be verified."}
	}
	return Gate{2, Fail, "Some criteria are not met."}
}

// nextStep returns what follows from the gates.
func nextStep(r Response) NextStep {
	claim, verdict := r.Gates[0], r.Gates[1]
	switch {
	case verdict.Status == Fail:
		return Fix
	case verdict.Status == Blocked:
		return Unblock
	case claim.Status == Fail:
		return CorrectClaim
	case len(r.Gates) < 3: // no judge was asked
		return Done
	}
	switch r.Gates[2].Status {
	case Fail:
		return Fix
	case Blocked:
		return Unblock
	}
	return Done
}

// Passed reports whether the verdict is PASS and every gate lets the task pass.
func (r Response) Passed() bool {
	return r.Verdict == VerdictPass && !slices.ContainsFunc(r.Gates, func(g Gate) bool { return g.Status == Fail || g.Status == Blocked })
}

// judge asks the owner's judge, who gets the request and the response. A judge that gives no valid
// answer blocks, unless it is optional. An error means that Airlock itself failed.
func (v *verification) judge(ctx context.Context, r Response) (Gate, error) {
	v.progress(Step{Text: "the judge"})
	r.Timestamp = timestamp(v.deps.Now())
	r.Gates = nil
	question, err := encode(struct {
		Request  json.RawMessage `json:"request"`
		Response Response        `json:"response"`
	}{v.req.raw, r})
	if err != nil {
		return Gate{}, err
	}
	answer, err := v.askVerdict(ctx, question)
	reasoning := "it gave no reason."
	if !text.IsBlank(answer.Reasoning) {
		reasoning = v.maskCut(answer.Reasoning, maxProgramText)
	}
	switch {
	case err != nil && v.cfg.JudgeOptional:
		return Gate{3, Skip, fmt.Sprintf("The judge gave no valid answer, which the configuration accepts: %s.", v.maskLine(err.Error()))}, nil
	case err != nil:
		return Gate{3, Blocked, fmt.Sprintf("The judge gave no valid answer: %s.", v.maskLine(err.Error()))}, nil
	case answer.Verdict == VerdictFail:
		return Gate{3, Fail, "The judge: " + reasoning}, nil
	}
	return Gate{3, Pass, "The judge: " + reasoning}, nil
}

// judgement is the answer of a judge.
type judgement struct {
	Verdict   Verdict `json:"verdict"` // PASS or FAIL
	Reasoning string  `json:"reasoning"`
}

// askVerdict returns the answer of the judge. An error says why there is no valid one.
func (v *verification) askVerdict(ctx context.Context, question []byte) (answer judgement, err error) {
	raw, err := v.deps.Judge.Ask(ctx, question)
	if err != nil {
		return answer, err
	}
	return readMasked(v, raw, readJudgement)
}

// readJudgement reads the answer of a judge in any of the forms that Unwrap knows.
func readJudgement(message []byte) (answer judgement, err error) {
	raw, err := Unwrap(message)
	if err != nil {
		return answer, err
	}
	if place, twice := schema.Duplicate(raw); twice {
		return answer, fmt.Errorf("%s is given twice", place)
	}
	if err := decodeLoose(raw, &answer); err != nil {
		return answer, err
	}
	if answer.Verdict != VerdictPass && answer.Verdict != VerdictFail {
		return answer, errors.New("its verdict must be PASS or FAIL")
	}
	return answer, nil
}
