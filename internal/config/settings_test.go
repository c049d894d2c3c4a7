package config

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/agent-airlock/airlock/internal/text"
)

func TestSettings(t *testing.T) {
	s, err := parseInputs(nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Settings{Mode: ModeAll, FailOn: FailOnError, LogLevel: LogInfo}, s); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	s, err = parseInputs(map[string]string{
		"mode": "apply", "fail-on": " rejected\n", "staged": "True", "strict": "true", "log-level": "debug", "trust-env": "false",
		"proxy": "http://u:p@proxy:3128", "ca-file": "ca.pem", "matrix-index": "3", "check-run-id": "5", "name": " api ", "config": " noop:\n", "output-file": "out.ndjson ", "agent-output": "{}", "checks": "reviews-only",
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.Proxy == nil || s.Proxy.Host != "proxy:3128" {
		t.Errorf("proxy is %v", s.Proxy)
	}
	s.Proxy = nil
	want := Settings{Mode: ModeApply, FailOn: FailOnRejected, Staged: true, Strict: true, LogLevel: LogDebug, CAFile: "ca.pem", MatrixIndex: "3", CheckRunID: "5", Name: "api",
		Config: " noop:\n", OutputFile: "out.ndjson", AgentOutput: "{}", ReviewsOnly: true}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// An input that a mode would ignore is refused, and the error names a mode that uses it.
func TestInputsOfOtherModes(t *testing.T) {
	inputs := map[string]string{"changes": "a.patch", "changes-base": "main", "findings": "f.json", "loop-dispatch": "fix", "loop-limits": "fix=1m", "request": "{}", "verdict": "v.json"}
	for mode, used := range map[Mode]string{
		ModeAll:     "changes changes-base findings verdict",
		ModeApply:   "changes changes-base findings verdict",
		ModeCheck:   "",
		ModeCollect: "",
		ModeVerify:  "request",
		ModeLoop:    "findings loop-dispatch loop-limits verdict",
		"aply":      "changes changes-base findings loop-dispatch loop-limits request verdict", // the mode alone is wrong
	} {
		for name, value := range inputs {
			_, err := parseInputs(map[string]string{"mode": string(mode), name: value})
			refused := strings.Contains(errText(err), "input "+name+": mode "+string(mode)+" does not use it; use it with mode ")
			if refused == slices.Contains(strings.Fields(used), name) {
				t.Errorf("mode %s, input %s: %v", mode, name, err)
			}
		}
	}
}

func TestBadSettings(t *testing.T) {
	_, err := parseInputs(map[string]string{
		"mode": "aply", "fail-on": "errors", "staged": "yes", "log-level": "quiet", "matrix-index": "-1", "check-run-id": "x", "config": "noop:", "config-file": "a.yml",
		"proxy": "socks5://user:hunter2@proxy", "trust-env": "1", "checks": "reviews",
	})
	want := strings.TrimPrefix(`
input mode: expected one of all, check, verify, collect, apply, loop, found "aply"; did you mean "apply"?
input checks: expected one of as-configured, reviews-only, found "reviews"
input fail-on: expected one of error, rejected, never, found "errors"; did you mean "error"?
input staged: expected true or false, found "yes"
input log-level: expected one of info, error, warning, debug, found "quiet"
input proxy: expected the URL of a proxy, such as http://proxy.example.com:3128
input trust-env: expected true or false, found "1"
input matrix-index: expected a whole number, such as ${{ strategy.job-index }}, found "-1"
input check-run-id: expected a whole number, such as ${{ job.check_run_id }}, found "x"
input config-file: both config and config-file are given; give one of the two`, "\n")
	if diff := cmp.Diff(want, errText(err)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, proxy := range []string{"proxy:3128", "http://", "http://[::1", "ftp://p", "http:p", "%zz"} {
		_, err := parseInputs(map[string]string{"proxy": proxy})
		if said := strings.ReplaceAll(errText(err), "http://proxy.example.com:3128", "EXAMPLE"); err == nil || strings.Contains(said, proxy) {
			t.Errorf("proxy %q: %v", proxy, err)
		}
	}
}

// TestSettingsAreTheActionsInputs asserts that the inputs of the action are those that are decoded,
// and that the default that action.yml states for each means the same as leaving it out.
func TestSettingsAreTheActionsInputs(t *testing.T) {
	raw, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Inputs map[string]struct{ Default string }
	}
	if err := yaml.Unmarshal(raw, &action); err != nil {
		t.Fatal(err)
	}
	read := map[string]bool{"token": true, "secrets": true, "loop-secret": true} // package action takes these out of the environment
	defaults, err := ParseSettings(func(name string) string {
		read[name] = true
		if v := action.Inputs[name].Default; !strings.Contains(v, "${{") {
			return v
		}
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	none, _ := parseInputs(nil)
	if diff := cmp.Diff(none, defaults); diff != "" {
		t.Errorf("defaults (-ours +action.yml's):\n%s", diff)
	}
	for name := range action.Inputs {
		if !read[name] {
			t.Errorf("the input %s is not read", name)
		}
	}
	for name := range read {
		if _, ok := action.Inputs[name]; !ok {
			t.Errorf("action.yml has no input %s", name)
		}
	}
}

// TestMissingInputsAreNamedOnce leaves out an input for which ParseSettings asks twice.
func TestMissingInputsAreNamedOnce(t *testing.T) {
	given := slices.DeleteFunc(inputNames(), func(name string) bool { return name == "changes" })
	if err := CheckInputs(given, true); !strings.Contains(errText(err), `could set "changes": use`) {
		t.Error(err)
	}
}

func parseInputs(in map[string]string) (Settings, error) {
	return ParseSettings(func(name string) string { return in[name] })
}

func TestNearest(t *testing.T) {
	words := []string{"title-prefix", "labels", "max", "staged"}
	for in, want := range map[string]string{
		"titel-prefix": "title-prefix", "label": "labels", "mac": "max", "zz": "", "": "", "stagde": "staged", "allowed-title-prefixes": "", "xam": "",
	} {
		if got := text.Nearest(in, words); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", in, got, want)
		}
	}
}
