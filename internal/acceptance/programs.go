package acceptance

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/agent-airlock/airlock/internal/text"
)

// howToHint is the remediation for a hint that no machine understands.
const howToHint = `Configure a validator, or write a hint that a machine can verify: PATH, PATH contains "TEXT", $ COMMAND, GET URL -> 200, check:NAME or test:NAME.`

// side is a program of the owner's with the criteria that it has to judge.
type side struct {
	program  *Program // nil if none is configured
	name     string   // for people
	setting  string   // the key of the configuration that names it
	browser  bool     // it is the browser command
	criteria []*criterion
}

// sides returns the validator and the browser command, each with its criteria, if any.
func (v *verification) sides() []side {
	validator := side{program: v.deps.Validator, name: "validator", setting: "acceptance: validator"}
	browser := side{program: v.deps.Browser, name: "browser command", setting: "acceptance: browser", browser: true}
	for _, c := range v.criteria {
		if c.byValidator {
			validator.criteria = append(validator.criteria, c)
		}
		if c.byBrowser {
			browser.criteria = append(browser.criteria, c)
		}
	}
	return []side{validator, browser}
}

// askPrograms has the validator and the browser command judge their criteria. Each is asked about
// all of its criteria at once; both are asked at the same time.
func (v *verification) askPrograms(ctx context.Context) {
	var wg crash.Group
	for _, side := range v.sides() {
		if len(side.criteria) == 0 {
			continue
		}
		if side.program == nil || !v.mayAsk() {
			v.blockUnasked(side)
			continue
		}
		wg.Go(func() {
			if err := crash.Try(func() error { v.ask(ctx, side); return nil }); err != nil {
				side.block(err.Error())
			}
		})
	}
	wg.Wait()
}

// blockUnasked blocks criteria that nobody judges. Their remediation is how to have them judged.
func (v *verification) blockUnasked(s side) {
	for _, c := range s.criteria {
		p := part{status: Blocked, remediation: howToHint}
		switch {
		case s.program != nil:
			p.evidence = fmt.Sprintf("The %s is not asked about criteria that strangers can write.", s.name)
			p.remediation = "The owner can set acceptance: validator-for-issues."
		case c.why != "" && !s.browser: // no hint spares the browser its part
			p.evidence = fmt.Sprintf("Not verified: %s, and no %s is configured.", c.why, s.name)
		default:
			p.evidence = fmt.Sprintf("Not verified: no %s is configured.", s.name)
			p.remediation = fmt.Sprintf("Configure one (%s).", s.setting)
		}
		s.add(c, p)
		v.progress(Step{Criterion: c.ID, Status: Blocked})
	}
}

// add adds this side's part to the result of a criterion.
func (s side) add(c *criterion, p part) {
	p.browser = s.browser
	c.add(p)
}

// block blocks all criteria of this side.
func (s side) block(why string) {
	for _, c := range s.criteria {
		s.add(c, part{status: Blocked, evidence: why})
	}
}

// ask has a program judge its criteria. If its answer is not valid, the program is asked once more,
// and told what is wrong.
func (v *verification) ask(ctx context.Context, s side) {
	begin := v.deps.Now()
	for _, c := range s.criteria {
		v.progress(Step{Criterion: c.ID, Text: "the " + s.name})
	}
	answer, err := v.askTwice(ctx, s)
	if err != nil {
		s.block(v.stopped(ctx, fmt.Sprintf("The %s gave no valid answer", s.name), err))
	} else {
		v.addJudgement(answer, s)
	}
	for _, c := range s.criteria {
		v.progress(Step{Criterion: c.ID, Status: c.result().Status, Elapsed: v.deps.Now().Sub(begin)})
	}
}

// askTwice asks a program about its criteria, and once more if its answer is not valid.
func (v *verification) askTwice(ctx context.Context, s side) (Response, error) {
	asked := v.req
	asked.Criteria = nil
	var indexes []int
	for _, c := range s.criteria {
		asked.Criteria, indexes = append(asked.Criteria, c.Criterion), append(indexes, c.index)
	}
	var wrong *InvalidError
	for try := 1; ; try++ {
		previous := map[string]any{}
		if wrong != nil {
			source, _ := schema.Source(ResponseSchema)
			previous["previous_response"] = map[string]any{"violations": wrong.Violations, "schema": source}
		}
		question, err := v.req.withCriteria(indexes, previous)
		if err != nil {
			return Response{}, err
		}
		raw, err := s.program.Ask(ctx, question)
		if err != nil {
			return Response{}, err
		}
		answer, err := readMasked(v, raw, asked.readAnswer)
		if err == nil || !errors.As(err, &wrong) || try == 2 {
			return answer, err
		}
	}
}

// readAnswer reads a response to the request.
func (r Request) readAnswer(message []byte) (Response, error) {
	answer, err := ReadResponse(message)
	if err != nil {
		return answer, err
	}
	if violations := answer.Mismatches(r); len(violations) > 0 {
		return answer, &InvalidError{ResponseSchema, violations}
	}
	return answer, nil
}

// readMasked reads a program's answer. An error may quote a part of the answer, and so a part of a
// secret. Therefore the answer is masked and read again, and the error about the masked answer is
// returned, if there is one.
func readMasked[T any](v *verification, raw []byte, read func([]byte) (T, error)) (T, error) {
	answer, err := read(raw)
	if err == nil {
		return answer, nil
	}
	if _, masked := read([]byte(v.deps.Mask(string(raw)))); masked != nil {
		err = masked
	}
	return answer, err
}

// maxProgramText is how much of one text of a program's answer is kept, in characters.
const maxProgramText = 4000

// addJudgement adds a program's answer to its criteria, and its evidence to that of the
// verification. Criteria that it does not judge are blocked.
func (v *verification) addJudgement(answer Response, s side) {
	confidence := 0.0
	if answer.Confidence != nil {
		confidence = *answer.Confidence
	}
	for _, c := range s.criteria {
		i := slices.IndexFunc(answer.Results, func(r CriterionResult) bool { return r.ID == c.ID })
		if i < 0 {
			s.add(c, part{status: Blocked, evidence: fmt.Sprintf("The %s did not judge this criterion.", s.name)})
			continue
		}
		r := answer.Results[i]
		s.add(c, part{status: r.Status, evidence: v.maskCut(r.Evidence, maxProgramText), remediation: v.maskCut(r.Remediation, maxProgramText), confidence: confidence})
	}
	if answer.Evidence == nil {
		return
	}
	screenshots := v.collect(s.program, answer.Evidence.Screenshots)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.evidence.Tests = append(v.evidence.Tests, answer.Evidence.Tests...)
	v.evidence.Answers = append(v.evidence.Answers, answer.Evidence.Answers...)
	v.evidence.FileChecks = append(v.evidence.FileChecks, answer.Evidence.FileChecks...)
	v.evidence.Screenshots = append(v.evidence.Screenshots, screenshots...)
}

// maxScreenshots is how many pictures of one program are kept.
const maxScreenshots = 100

// collect returns the first maxScreenshots pictures that a program has left, and saves them if
// evidence is kept. If a picture is saved, its path becomes the name of its file of evidence; if
// saving it fails, its description says so.
func (v *verification) collect(program *Program, screenshots []Screenshot) (kept []Screenshot) {
	for _, s := range firstOf(screenshots, maxScreenshots) {
		if v.deps.Save != nil && program.Collect != nil {
			name := fmt.Sprintf("screenshots/%d-%s", v.nextPicture(), text.Slug(v.deps.Mask(path.Base(path.Clean("/"+s.Path))), 60))
			if err := v.keepFileOf(program, s.Path, name); err != nil {
				s.Description = strings.TrimSpace(s.Description + " (it could not be kept: " + v.noteLoss(name, err) + ")")
			} else {
				s.Path = name
			}
		}
		kept = append(kept, s)
	}
	return kept
}

// nextPicture returns the number of a picture, from 1. The programs leave pictures at the same time,
// and may call them alike.
func (v *verification) nextPicture() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.pictures++
	return v.pictures
}

// keepFileOf saves a file that a program has left as evidence.
func (v *verification) keepFileOf(program *Program, path, name string) error {
	data, err := program.Collect(path)
	if err != nil {
		return err
	}
	return v.deps.Save(name, data)
}
