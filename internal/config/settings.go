package config

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

// Mode is what the action does.
type Mode string

// The modes of the action.
const (
	ModeAll     Mode = "all" // check, where the configuration asks for it, collect and apply, in this order
	ModeCheck   Mode = "check"
	ModeVerify  Mode = "verify"
	ModeCollect Mode = "collect"
	ModeApply   Mode = "apply"
	ModeLoop    Mode = "loop" // one turn of a pull request's fix loop
)

// FailOn is which outcomes fail the action's step.
type FailOn string

// The values of FailOn.
const (
	FailOnError    FailOn = "error"    // failed items, and fewer items than the configuration requires
	FailOnRejected FailOn = "rejected" // also rejected, denied, dropped and skipped items
	FailOnNever    FailOn = "never"    // none of these
)

// LogLevel is how much is logged.
type LogLevel string

// The levels, from the quietest.
const (
	LogError   LogLevel = "error"
	LogWarning LogLevel = "warning"
	LogInfo    LogLevel = "info"
	LogDebug   LogLevel = "debug"
)

// Settings are the action's inputs, decoded. The token is not one of them: see
// action.Secrets.
type Settings struct {
	Mode Mode // input mode; default all
	// OutputFile names the agent's lines, AgentOutput is the checked output or its
	// file; "" where the environment decides. Inputs output-file, agent-output.
	OutputFile, AgentOutput string
	// Config and ConfigFile are for Sources. Inputs config, config-file.
	Config, ConfigFile string
	// Changes names the patch or bundle with the agent's changes, "" for those of the
	// workspace; ChangesBase is the commit or branch that they were made from, ""
	// to detect it. Inputs changes, changes-base.
	Changes, ChangesBase string
	Findings             string   // the findings document of an earlier job; input findings
	ReviewsOnly          bool     // input checks: of the checks, the reviews alone run
	Request              string   // a validation request, as text; input request
	Verdict              string   // the verdict document of an earlier job; input verdict
	LoopLimits           string   // limits of a fix loop, as fixloop.ParseLimits reads them; input loop-limits
	LoopDispatch         string   // the type of the event that asks an agent for a fix, "" for none; input loop-dispatch
	FailOn               FailOn   // input fail-on; default error
	Staged               bool     // input staged: plan everything, apply nothing
	Strict               bool     // input strict: unknown fields of an item are errors
	LogLevel             LogLevel // input log-level; default info
	// Proxy is the proxy for the API, from the input proxy; nil for none. It may
	// contain a password: never print it.
	Proxy *url.URL
	// CAFile names a file with more certificates to trust, from the input ca-file.
	CAFile string
	// TrustEnv lets the environment name a proxy, certificates and the
	// configuration; input trust-env. Earlier steps of a job can set the environment.
	TrustEnv bool
	// Network replaces the configuration's setting; input network. "" leaves it.
	Network Network
	// MatrixIndex is the job's index in its matrix, and CheckRunID the id of its check run;
	// inputs matrix-index, check-run-id.
	MatrixIndex, CheckRunID string
	// Name is the owner's name for the job; input name.
	Name string
}

// ParseSettings decodes the inputs; get returns an input's text, "" when it is
// not given. The error is of type Problems and names every bad input.
func ParseSettings(get func(name string) string) (Settings, error) {
	in := inputs{get: get}
	s := Settings{
		Mode:         choice(&in, "mode", ModeAll, ModeCheck, ModeVerify, ModeCollect, ModeApply, ModeLoop),
		OutputFile:   in.text("output-file"),
		AgentOutput:  in.text("agent-output"),
		Config:       in.get("config"),
		ConfigFile:   in.text("config-file"),
		Changes:      in.text("changes"),
		ChangesBase:  in.text("changes-base"),
		Findings:     in.text("findings"),
		LoopLimits:   in.text("loop-limits"),
		LoopDispatch: in.text("loop-dispatch"),
		ReviewsOnly:  choice(&in, "checks", "as-configured", ReviewsOnly) == ReviewsOnly,
		Request:      in.text("request"),
		Verdict:      in.text("verdict"),
		FailOn:       choice(&in, "fail-on", FailOnError, FailOnRejected, FailOnNever),
		Staged:       in.boolean("staged"),
		Strict:       in.boolean("strict"),
		LogLevel:     choice(&in, "log-level", LogInfo, LogError, LogWarning, LogDebug),
		Proxy:        in.proxy("proxy"),
		CAFile:       in.text("ca-file"),
		TrustEnv:     in.boolean("trust-env"),
		Network:      choice(&in, "network", "", NetworkOpen, NetworkNone),
		MatrixIndex:  in.wholeNumber("matrix-index", "strategy.job-index"),
		CheckRunID:   in.wholeNumber("check-run-id", "job.check_run_id"),
		Name:         in.text("name"),
	}
	if !text.IsBlank(s.Config) && s.ConfigFile != "" {
		in.fail("config-file", "both config and config-file are given; give one of the two")
	}
	in.checkModes(s.Mode)
	return s, in.problems.err()
}

// CheckInputs returns an error of type Problems if an input is given that the action does not
// have, because a restriction with a misspelt name must not be ignored. If complete is set, every
// input has to be given, even if it is empty. The runner gives all inputs to an action with an
// action.yml. If an image runs without an action.yml, an earlier step of the job could set an
// input that the workflow leaves out, such as a proxy.
func CheckInputs(given []string, complete bool) error {
	known := inputNames()
	in := inputs{}
	for _, name := range given {
		if slices.Contains(known, name) || slices.Contains(runnerInputs, name) {
			continue
		}
		in.fail(text.Truncate(text.OneLine(name), 50), "Airlock has no such input%s If a variable of the workflow or of an earlier step has this name (INPUT_…), rename it", cmp.Or(text.DidYouMean(name, known), "."))
	}
	if err := in.problems.err(); err != nil || !complete {
		return err
	}
	var missing []string
	for _, name := range known {
		if !slices.Contains(given, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return Problems{{Source: "inputs", Message: fmt.Sprintf("this image was started without its action.yml, so that an earlier step could set %s: use the action, as in 'uses: agent-airlock/airlock/actions/gate@v1', instead of docker://", text.QuoteList(missing))}}
	}
	return nil
}

// runnerInputs are inputs of every container action, which the runner itself reads.
var runnerInputs = []string{"entrypoint", "args"}

// inputNames returns the names of the action's inputs, sorted.
func inputNames() []string {
	names := []string{"token", "secrets", "loop-secret"} // package action takes these out of the environment
	_, _ = ParseSettings(func(name string) string {
		names = append(names, name)
		return ""
	})
	slices.Sort(names)
	return slices.Compact(names) // ParseSettings asks for some of them twice
}

// inputs decodes texts and collects what is wrong with them.
type inputs struct {
	get      func(string) string
	problems Problems
}

func (in *inputs) text(name string) string { return strings.TrimSpace(in.get(name)) }

func (in *inputs) fail(name, format string, args ...any) {
	in.problems = append(in.problems, Problem{Source: "input " + name, Message: fmt.Sprintf(format, args...)})
}

// wholeNumber reads a whole number, "" if it is not given. expression is what a workflow writes
// for it.
func (in *inputs) wholeNumber(name, expression string) string {
	v := in.text(name)
	if n, err := strconv.ParseInt(v, 10, 64); v != "" && (err != nil || n < 0) {
		in.fail(name, "expected a whole number, such as ${{ %s }}, found %s", expression, quote(v))
	}
	return v
}

// boolean reads true or false, as the runner's own toolkit does.
func (in *inputs) boolean(name string) bool {
	switch v := in.text(name); v {
	case "true", "True", "TRUE":
		return true
	case "", "false", "False", "FALSE":
	default:
		in.fail(name, "expected true or false, found %s", quote(v))
	}
	return false
}

// choice reads one of a few words, of which the first is the default.
func choice[T ~string](in *inputs, name string, words ...T) T {
	v := in.text(name)
	if v == "" {
		return words[0]
	}
	var plain []string
	for _, w := range words {
		switch {
		case v == string(w):
			return w
		case w != "":
			plain = append(plain, string(w))
		}
	}
	in.fail(name, "expected one of %s, found %s%s", strings.Join(plain, ", "), quote(v), text.DidYouMean(strings.ToLower(v), plain))
	return words[0]
}

// modesOf names the modes that use an input, for inputs that no mode may ignore silently: somebody
// who gives findings to a mode that does not report them would believe that they were reported.
var modesOf = map[string][]Mode{
	"changes":       {ModeApply, ModeAll},
	"changes-base":  {ModeApply, ModeAll},
	"findings":      {ModeApply, ModeLoop, ModeAll},
	"loop-dispatch": {ModeLoop},
	"loop-limits":   {ModeLoop},
	"request":       {ModeVerify},
	"verdict":       {ModeApply, ModeLoop, ModeAll},
}

// checkModes refuses the given inputs that a mode would ignore.
func (in *inputs) checkModes(mode Mode) {
	if given := in.text("mode"); given != "" && given != string(mode) {
		return // an unknown mode, which choice has refused
	}
	for _, name := range slices.Sorted(maps.Keys(modesOf)) {
		if modes := modesOf[name]; in.text(name) != "" && !slices.Contains(modes, mode) {
			in.fail(name, "mode %s does not use it; use it with mode %s", mode, modes[0])
		}
	}
}

// proxy reads a proxy's URL. It is not shown when it is wrong, because it may contain
// a password.
func (in *inputs) proxy(name string) *url.URL {
	v := in.text(name)
	if v == "" {
		return nil
	}
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Opaque != "" {
		in.fail(name, "expected the URL of a proxy, such as http://proxy.example.com:3128")
		return nil
	}
	return u
}
