package doors

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/verdictreport"
)

// Ticks reports whether boxes of verified criteria are to be ticked: the owner wants that, and
// the event is about a pull request that is merged.
func (g *Gate) Ticks(ev event.Event) bool { return g.cfg.Acceptance.Tick && ev.Merged }

// tickItems makes the items that tick the boxes of verified criteria, in the issues that the merged
// pull request closes, and allows these items in the policy. The check runs of its head commit
// record which criteria were verified. Only those of the token's own app count, since nobody else
// can make or edit them. notes are for people.
//
// Without a token, or unless boxes are to be ticked, there are neither items nor notes. The error is
// one of reading.
func (g *Gate) tickItems(ctx context.Context, client *githubapi.Client, ev event.Event) (items []intake.OwnItem, notes []string, err error) {
	if client == nil || !g.Ticks(ev) {
		return nil, nil, nil
	}
	repo := githubapi.Repo{Owner: ev.Repo.Owner, Name: ev.Repo.Name, ID: ev.Repo.ID}
	recorded, others, err := recordedBoxes(ctx, client, repo, ev.Head.SHA)
	if err != nil {
		return nil, nil, exitcode.FailedError(err)
	}
	for _, app := range others {
		notes = append(notes, fmt.Sprintf("Acceptance verdicts of the app %q do not count, because the token is not that app's: report them and tick with the same token.", app))
	}
	if len(recorded) == 0 {
		return nil, append(notes, fmt.Sprintf("No box is ticked: no acceptance verdict of the merged commit %.7s records one. Verdicts record boxes while acceptance: tick is true, for criteria in an issue's task list.", ev.Head.SHA)), nil
	}
	closing, total, err := client.ClosingIssues(ctx, repo, ev.Number)
	if err != nil {
		return nil, nil, exitcode.FailedError(err)
	}
	for _, number := range slices.Sorted(maps.Keys(recorded)) {
		closed := slices.ContainsFunc(closing, func(i githubapi.ClosingIssue) bool {
			return i.Number == number && strings.EqualFold(i.Repo, ev.Repo.FullName())
		})
		if !closed && len(closing) < total {
			notes = append(notes, fmt.Sprintf("No box of #%d is ticked: whether the pull request closes it is not known, because it closes %d issues, of which Airlock reads %d.", number, total, len(closing)))
			continue
		}
		if !closed {
			notes = append(notes, fmt.Sprintf("No box of #%d is ticked: the pull request does not close it.", number))
			continue
		}
		boxes := recorded[number]
		it := &safeoutput.TickBoxes{Issue: number, Boxes: slices.DeleteFunc(slices.Sorted(maps.Keys(boxes)), func(digest string) bool { return !boxes[digest] })}
		if len(it.Boxes) == 0 {
			notes = append(notes, fmt.Sprintf("No box of #%d is ticked: none of its criteria was verified.", number))
			continue
		}
		items = append(items, intake.OwnItem{Item: it})
	}
	g.cfg.Policy.Own.Tick = true
	return items, notes, nil
}

// recordedBoxes reads what a commit's check runs of the token's own app record. others are the
// apps of check runs that do not count.
func recordedBoxes(ctx context.Context, client *githubapi.Client, repo githubapi.Repo, sha string) (boxes verdictreport.Boxes, others []string, err error) {
	viewer, err := client.Viewer(ctx)
	if err != nil {
		return nil, nil, err
	}
	boxes = verdictreport.Boxes{}
	for run, err := range client.LatestCheckRuns(ctx, repo, sha) {
		switch {
		case err != nil:
			return nil, nil, err
		case run.Name != verdictreport.RunName && !strings.HasPrefix(run.Name, verdictreport.RunName+" ("):
			// It is not about acceptance.
		case run.App != "" && run.App == viewer.App():
			boxes.Add(run.Text)
		case !slices.Contains(others, run.App):
			others = append(others, run.App)
		}
	}
	return boxes, others, nil
}
