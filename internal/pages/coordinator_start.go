package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// startView is the first page: what needs a person, what runs, and what has ended.
type startView struct {
	Decide    []loopRecord // that wait for a decision
	Failed    []runRecord  // lately
	Running   []runRecord  // that have not ended
	Recent    []runRecord  // that have ended
	Loops     []loopRecord // that are under way
	MayDecide bool
	MayRun    bool
	HasAgents bool // in addition to those built in
	// Whether there are more than are shown of Running, Decide and Loops.
	MoreRuns, MoreDecide, MoreLoops bool
}

const (
	// failedFor is how long a failed run is among what needs a person.
	failedFor = 7 * 24 * time.Hour
	// onStart is how many runs the start page asks for at once.
	onStart = 10
)

var startPage = coordinatorPage("start.html")

func (x *visit) start() error {
	v := startView{MayDecide: x.Allows("decide"), MayRun: x.Allows("run")}
	decide, err := x.loopList(url.Values{"waits_for": {"decide"}})
	if err != nil {
		return err
	}
	v.Decide, v.MoreDecide = decide.Loops, decide.NextCursor != ""
	open, err := x.loopList(url.Values{"open": {"true"}})
	if err != nil {
		return err
	}
	v.Loops = slices.DeleteFunc(open.Loops, func(l loopRecord) bool { return l.WaitsFor == "decide" })
	v.MoreLoops = open.NextCursor != ""
	newest := func(status string) (runList, error) {
		return x.runList(url.Values{"status": {status}, "limit": {strconv.Itoa(onStart)}})
	}
	failed, err := newest("failed")
	if err != nil {
		return err
	}
	v.Recent = slices.Clone(failed.Runs)
	v.Failed = slices.DeleteFunc(failed.Runs, func(r runRecord) bool { return r.EndedAt == nil || time.Since(*r.EndedAt) >= failedFor })
	for _, status := range []string{"stopping", "running", "pending"} {
		list, err := newest(status)
		if err != nil {
			return err
		}
		v.Running = append(v.Running, list.Runs...)
		v.MoreRuns = v.MoreRuns || list.NextCursor != ""
	}
	for _, status := range []string{"completed", "stopped"} {
		list, err := newest(status)
		if err != nil {
			return err
		}
		v.Recent = append(v.Recent, list.Runs...)
	}
	slices.SortFunc(v.Recent, func(a, b runRecord) int { return strings.Compare(b.ID, a.ID) }) // by when they were started
	v.Recent = v.Recent[:min(len(v.Recent), onStart)]
	agents, err := x.agentList()
	if err != nil {
		return err
	}
	v.HasAgents = slices.ContainsFunc(agents, func(a agentRecord) bool { return a.Source != "built-in" })
	x.show(http.StatusOK, startPage, "What happens", v)
	return nil
}
