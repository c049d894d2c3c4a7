package sarif

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// oneResult returns a log with one rule and one result. run and result are JSON members to add to
// the log's run and to its result, each after a comma, or "".
func oneResult(run, result string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t","rules":[{"id":"R"}]}}%s,"results":[{"ruleId":"R","message":{"text":"m"}%s}]}]}`, run, result))
}

// located returns a member, after a comma, that places a result at the first line of a file.
func located(uri string) string {
	quoted, _ := json.Marshal(uri)
	return fmt.Sprintf(`,"locations":[{"physicalLocation":{"artifactLocation":{"uri":%s},"region":{"startLine":1}}}]`, quoted)
}

func TestPlacesOfResults(t *testing.T) {
	for uri, want := range map[string]string{ // "" if the result is left out
		"src/a.go":                          "src/a.go",
		`src\a.go`:                          "src/a.go",
		"src/%61.go":                        "src/a.go",
		"file:///srv/repo/src/a.go":         "src/a.go",
		"/github/workspace/src/a.go":        "src/a.go",
		"naïve/文件 #1.go":                    "na%C3%AFve/%E6%96%87%E4%BB%B6%20%231.go",
		"https://evil.example/a.go":         "",
		"../a.go":                           "",
		"%2e%2e/a.go":                       "",
		"file:///etc/passwd":                "",
		"/etc/passwd":                       "",
		"javascript:alert(1)":               "",
		"":                                  "",
		"a\u0000b":                          "",
		strings.Repeat("x/", maxPath):       "",
		"file:///srv/repo/../../etc/passwd": "",
		"src/a.go#L3":                       "src/a.go",
		"file://evil.example/srv/repo/a.go": "",
		"//evil.example/a.go":               "",
		`\\evil.example\a.go`:               "",
		"data:text/html,<script>alert(1)</script>":     "",
		"FILE:///github/workspace/src/%2e%2e/src/a.go": "src/a.go",
	} {
		first := oneResult("", located("good.go"))
		u := prepare(t, Options{Roots: []string{"/srv/repo"}, ReadFile: files}, Source{SARIF: first}, Source{SARIF: oneResult("", located(uri))})
		switch {
		case want == "" && (u.Results != 1 || noted(u.Notes, RulePaths) != 1):
			t.Errorf("%.40q: %d results, %v", uri, u.Results, u.Notes)
		case want != "" && u.Results != 2:
			t.Errorf("%.40q: left out: %v", uri, u.Notes)
		case want != "":
			wantAt(t, tree(t, u.SARIF), "runs/0/results/1/locations/0/physicalLocation/artifactLocation/uri", want)
		}
	}
}

// TestBaseIDs asserts what a base id adds to a path. An id whose name contains "root" and whose URI
// is outside of the repository means the repository's root. Circular ids add nothing.
func TestBaseIDs(t *testing.T) {
	for base, want := range map[string]string{ // "" if Prepare refuses the log
		`{}`:                                  "a.go",
		`{"SRC":{"uri":"file:///srv/repo/"}}`: "a.go",
		`{"SRC":{"uri":"file:///srv/repo/sub/"}}`: "sub/a.go",
		`{"SRC":{"uri":"sub"}}`:                   "sub/a.go",
		`{"SRC":{"uri":"sub/","uriBaseId":"TOP"},"TOP":{"uri":"file:///srv/repo/top/"}}`:           "top/sub/a.go",
		`{"SRC":{"uri":"file:///elsewhere/"}}`:                                                     "",
		`{"SRC":{"uri":"sub/","uriBaseId":"PROJECTROOT"},"PROJECTROOT":{"uri":"file:///home/u/"}}`: "sub/a.go",
		`{"SRC":{"uri":"x/","uriBaseId":"SRC"}}`:                                                   "a.go",
		`{"SRC":{"uri":"x/","uriBaseId":"B"},"B":{"uriBaseId":"SRC"}}`:                             "a.go",
		`{"SRC":{"uri":"../"}}`: "",
	} {
		log := oneResult(`,"originalUriBaseIds":`+base, `,"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.go","uriBaseId":"SRC"},"region":{"startLine":1}}}]`)
		if want == "" {
			_, err := Prepare([]Source{{SARIF: log}}, Options{Roots: []string{"/srv/repo"}})
			if err == nil || !strings.Contains(err.Error(), "relative to the repository's root") {
				t.Errorf("%s: %v", base, err)
			}
			continue
		}
		u := prepare(t, Options{Roots: []string{"/srv/repo"}}, Source{SARIF: log})
		wantAt(t, tree(t, u.SARIF), "runs/0/results/0/locations/0/physicalLocation/artifactLocation/uri", want)
	}
}

// TestBaseIDsOfAbsolutePaths asserts that a base id adds nothing to an absolute path, however the path
// is written.
func TestBaseIDsOfAbsolutePaths(t *testing.T) {
	for _, uri := range []string{"/srv/repo/a.go", " /srv/repo/a.go", `\srv\repo\a.go`, "%2Fsrv/repo/a.go", "file:/srv/repo/a.go", " FILE:///srv/repo/a.go", `C:\repo\a.go`, "c:/repo/a.go", "file:///C:/repo/a.go"} {
		quoted, err := json.Marshal(uri)
		if err != nil {
			t.Fatal(err)
		}
		log := oneResult(`,"originalUriBaseIds":{"SRC":{"uri":"sub"}}`, `,"locations":[{"physicalLocation":{"artifactLocation":{"uri":`+string(quoted)+`,"uriBaseId":"SRC"},"region":{"startLine":1}}}]`)
		u := prepare(t, Options{Roots: []string{"/srv/repo", `C:\repo`}}, Source{SARIF: log})
		wantAt(t, tree(t, u.SARIF), "runs/0/results/0/locations/0/physicalLocation/artifactLocation/uri", "a.go")
	}
}

// TestLostRunsAreNotDelivered asserts that a run is left out if it reports problems and none of them
// is in a file of the repository, because a run without results would close its tool's alerts.
func TestLostRunsAreNotDelivered(t *testing.T) {
	lost := json.RawMessage(strings.Replace(string(oneResult("", located("/etc/passwd"))), `"name":"t"`, `"name":"lost"`, 1))
	u := prepare(t, Options{}, Source{SARIF: lost}, Source{SARIF: oneResult("", located("a.go"))})
	if diff := cmp.Diff([]string{"t"}, u.Tools); diff != "" {
		t.Error(diff)
	}
	if noted(u.Notes, RuleRuns) != 1 || noted(u.Notes, RulePaths) != 1 {
		t.Errorf("%v", u.Notes)
	}
	if _, err := Prepare([]Source{{SARIF: lost}}, Options{}); err == nil || !strings.Contains(err.Error(), `"lost"`) {
		t.Errorf("%v", err)
	}
	mute := json.RawMessage(`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":[{"ruleId":"R"` + located("a.go") + `}]}]}`)
	if _, err := Prepare([]Source{{SARIF: mute}}, Options{}); err == nil || !strings.Contains(err.Error(), "it has no message") {
		t.Errorf("%v", err)
	}
}

func TestRuleReferences(t *testing.T) {
	rules := `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t","rules":[{"id":"A"},{"id":"B"},{"id":"A","name":"Again"}]},"extensions":[{"name":"x","guid":"22222222-2222-4222-8222-222222222222","rules":[{"id":"X"}]}]},"results":[{%s,"message":{"text":"m"}%s}]}]}`
	for reference, want := range map[string][2]any{
		`"ruleIndex":1`:                  {"B", 1.0},
		`"ruleIndex":2`:                  {"A", 0.0},
		`"ruleId":"B"`:                   {"B", 1.0},
		`"ruleId":"B","ruleIndex":-1`:    {"B", 1.0},
		`"ruleId":"B","ruleIndex":0`:     {"B", 1.0}, // the id counts
		`"ruleId":"B/sub","ruleIndex":1`: {"B/sub", 1.0},
		`"ruleId":"B/sub/deep"`:          {"B/sub/deep", 1.0},
		`"ruleId":"New"`:                 {"New", 2.0},
		`"ruleIndex":7`:                  {unnamedRule, 2.0},
		`"ruleIndex":-1`:                 {unnamedRule, 2.0},
		`"kind":"fail"`:                  {unnamedRule, 2.0},
		`"rule":{"id":"A"}`:              {"A", 0.0},
		`"rule":{"index":1}`:             {"B", 1.0},
		`"rule":{"index":0,"toolComponent":{"index":5}}`:                                                 {"A", 0.0},
		`"rule":{"index":0,"toolComponent":{"index":0}}`:                                                 {"X", nil},
		`"rule":{"id":"X","toolComponent":{"name":"x"}}`:                                                 {"X", nil},
		`"ruleId":"X","rule":{"id":"X","toolComponent":{"guid":"22222222-2222-4222-8222-222222222222"}}`: {"X", nil},
		`"rule":{"index":9,"toolComponent":{"index":0}}`:                                                 {unnamedRule, 2.0},
	} {
		u := prepare(t, Options{}, Source{SARIF: json.RawMessage(fmt.Sprintf(rules, reference, located("a.go")))})
		result, _ := lookup(t, tree(t, u.SARIF), "runs/0/results/0").(object)
		if diff := cmp.Diff(want, [2]any{result["ruleId"], result["ruleIndex"]}); diff != "" {
			t.Errorf("%s: %s", reference, diff)
		}
	}
}

// TestReferencesByIndex asserts which list the index of a reference refers to. The member that
// contains the reference decides whether that is the notifications, the rules or the taxa. The index
// of a tool component refers to the taxonomies in a reference to a taxon, and to the extensions in
// the other references.
func TestReferencesByIndex(t *testing.T) {
	log := `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t","rules":[{"id":"R"}],"notifications":[{"id":"N"}]},"extensions":[{"name":"x","rules":[{"id":"X"}]}]},
		"taxonomies":[{"name":"CWE","taxa":[{"id":"T"}]}],
		"invocations":[{"executionSuccessful":true,
			"toolExecutionNotifications":[{"message":{"text":"m"},"descriptor":{"index":0},"associatedRule":{"index":0}},{"message":{"text":"n"},"descriptor":{"id":"M","toolComponent":{"index":0}},"associatedRule":{"index":0,"toolComponent":{"index":0}}}],
			"ruleConfigurationOverrides":[{"configuration":{"enabled":false},"descriptor":{"index":0}}],
			"notificationConfigurationOverrides":[{"configuration":{"enabled":false},"descriptor":{"index":0}}]}],
		"results":[{"ruleId":"R","message":{"text":"m"},"taxa":[{"index":0,"toolComponent":{"index":0}}]` + located("a.go") + `}]}]}`
	u := prepare(t, Options{}, Source{SARIF: json.RawMessage(log)})
	got := tree(t, u.SARIF)
	invocation := "runs/0/invocations/0/"
	wantAt(t, got, invocation+"toolExecutionNotifications/0/descriptor", object{"id": "N"})
	wantAt(t, got, invocation+"toolExecutionNotifications/0/associatedRule", object{"id": "R"})
	wantAt(t, got, invocation+"toolExecutionNotifications/1/associatedRule", object{"id": "X", "toolComponent": object{"name": "x"}})
	wantAt(t, got, invocation+"toolExecutionNotifications/1/descriptor", object{"id": "M", "toolComponent": object{"name": "x"}})
	wantAt(t, got, invocation+"ruleConfigurationOverrides/0/descriptor", object{"id": "R"})
	wantAt(t, got, invocation+"notificationConfigurationOverrides/0/descriptor", object{"id": "N"})
	wantAt(t, got, "runs/0/results/0/taxa/0", object{"id": "T", "toolComponent": object{"name": "CWE"}})
}

func TestMessages(t *testing.T) {
	log := `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t","globalMessageStrings":{"g":{"text":"global"}},"rules":[{"id":"R","shortDescription":{"text":"Short."},"messageStrings":{"m":{"text":"a {0} b {1}","markdown":"**{0}**"},"p":{"text":"plain","markdown":"**p**"}}}]}},"results":[{"ruleId":"R","message":%s%s}]}]}`
	for message, want := range map[string]object{
		`{"text":"x"}`:                                     {"text": "x"},
		`{"text":"x {0}","arguments":["y"]}`:               {"text": "x y"},
		`{"text":"{{0}} {0} {7} {x} {","arguments":["y"]}`: {"text": "{0} y {7} {x} {"},
		`{"id":"m","arguments":["1","2"]}`:                 {"text": "a 1 b 2"},
		`{"id":"m","arguments":["1"]}`:                     {"text": "a 1 b {1}"},
		`{"id":"p"}`:                                       {"text": "plain", "markdown": "**p**"},
		`{"id":"g"}`:                                       {"text": "global"},
		`{"id":"unknown"}`:                                 {"text": "unknown"},
		`{"text":" "}`:                                     {"text": "Short."},
		`{"text":"{0}","arguments":[""]}`:                  {"text": "Short."},
		`{"text":"x {0}","markdown":"[{0}](https://x)","arguments":["y"]}`: {"text": "x y"},
	} {
		u := prepare(t, Options{}, Source{SARIF: json.RawMessage(fmt.Sprintf(log, message, located("a.go")))})
		wantAt(t, tree(t, u.SARIF), "runs/0/results/0/message", want)
	}
}

func TestSeverities(t *testing.T) {
	for given, want := range map[string]any{`"7.5"`: "7.5", `7.5`: "7.5", `"10.0"`: "10.0", `"11"`: nil, `"high"`: nil, `-1`: nil, `true`: nil, `"1e1"`: nil, `"NaN"`: nil, `" 4 "`: "4"} {
		log := json.RawMessage(`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t","rules":[{"id":"R","properties":{"security-severity":` + given + `}}]}}}]}`)
		u := prepare(t, Options{}, Source{SARIF: log})
		properties, _ := lookup(t, tree(t, u.SARIF), "runs/0/tool/driver/rules/0/properties").(object)
		if diff := cmp.Diff(want, properties["security-severity"]); diff != "" {
			t.Errorf("%s: %s", given, diff)
		}
		if dropped := noted(u.Notes, RuleSeverity) == 1; dropped != (want == nil) {
			t.Errorf("%s: %v", given, u.Notes)
		}
	}
}

func TestTextsOfRulesAreCut(t *testing.T) {
	long := strings.Repeat("ü", 2000)
	log := json.RawMessage(`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t","rules":[{"id":"R","name":"` + long + `","shortDescription":{"text":"` + long + `","markdown":"x"},"fullDescription":{"text":"ok"},"help":{"text":"` + long + `"}}]}}}]}`)
	u := prepare(t, Options{}, Source{SARIF: log})
	rule := lookup(t, tree(t, u.SARIF), "runs/0/tool/driver/rules/0")
	wantAt(t, rule, "name", strings.Repeat("ü", maxRuleName-1)+"…")
	wantAt(t, rule, "shortDescription", object{"text": strings.Repeat("ü", maxDescription-1) + "…"})
	wantAt(t, rule, "help/text", long)
	if noted(u.Notes, RuleLengths) != 2 {
		t.Errorf("%v", u.Notes)
	}
}

// referring returns logs, by name, in which many results refer to one large part.
func referring(many int) map[string]json.RawMessage {
	big := strings.Repeat("x", 1<<18)
	blank := strings.Repeat(" ", 1<<18)
	results := func(result string) string {
		return strings.TrimSuffix(strings.Repeat("{"+result+"},", many), ",")
	}
	log := func(tool, run, result string) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"%s}}%s,"results":[%s]}]}`, tool, run, results(result)))
	}
	place := `"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a"}}}]`
	return map[string]json.RawMessage{
		"rule id":            log(`,"rules":[{"id":"`+big+`"}]`, ``, `"ruleIndex":0,"message":{"text":"m"},`+place),
		"message string":     log(`,"globalMessageStrings":{"g":{"text":"`+big+`"}}`, ``, `"message":{"id":"g"},`+place),
		"blank string":       log(`,"globalMessageStrings":{"g":{"text":"`+blank+`"}}`, ``, `"message":{"id":"g"},`+place),
		"Markdown string":    log(`,"globalMessageStrings":{"g":{"text":"t","markdown":"`+big+`"}}`, ``, `"message":{"id":"g"},`+place),
		"arguments":          log(`,"globalMessageStrings":{"g":{"text":"`+strings.Repeat("{0}", 1000)+`"}}`, ``, `"message":{"id":"g","arguments":["`+strings.Repeat("y", 1000)+`"]},`+place),
		"rule description":   log(`,"rules":[{"id":"r","shortDescription":{"text":"`+big+`"}}]`, ``, `"ruleIndex":0,"message":{"text":" "},`+place),
		"blank description":  log(`,"rules":[{"id":"r","shortDescription":{"text":"`+blank+`"}}]`, ``, `"ruleIndex":0,"message":{"text":" "},`+place),
		"thread flow":        log(``, `,"threadFlowLocations":[{"location":{"physicalLocation":{"artifactLocation":{"uri":"a"}},"message":{"text":"`+big+`"}}}]`, `"message":{"text":"m"},"codeFlows":[{"threadFlows":[{"locations":[{"index":0}]}]}],`+place),
		"logical location":   log(``, `,"logicalLocations":[{"name":"`+big+`"}]`, `"message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a"}},"logicalLocations":[{"index":0}]}]`),
		"artifact":           log(``, `,"artifacts":[{"location":{"uri":"`+strings.Repeat("a", maxPath)+`"}}]`, `"message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{"index":0}}}]`),
		"base id":            log(``, `,"originalUriBaseIds":{"B":{"uri":"`+strings.Repeat("a/", maxPath/2-9)+`"}}`, `"message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a","uriBaseId":"B"}}}]`),
		"extensions by name": json.RawMessage(fmt.Sprintf(`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"},"extensions":[%s]},"results":[%s]}]}`, strings.TrimSuffix(strings.Repeat(`{"name":"x","rules":[{"id":"r"}]},`, many), ","), results(`"rule":{"id":"q","toolComponent":{"name":"y"}},"message":{"text":"m"},`+place))),
	}
}

// TestCostIsBounded asserts that Prepare ends if very many results refer to one large
// part, and that its output does not grow with the product of both.
// BenchmarkPrepareReferring measures the time.
func TestCostIsBounded(t *testing.T) {
	const many = 1500
	for name, raw := range referring(many) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, err := Prepare([]Source{{SARIF: raw}, {SARIF: oneResult("", located("a.go"))}}, Options{MaxPacked: 1 << 30})
			if err != nil {
				t.Fatal(err)
			}
			if most := 3*inlineBudget + 2*len(raw); len(u.SARIF) > most {
				t.Errorf("%d bytes became %d", len(raw), len(u.SARIF))
			}
			if u.Results+noted(u.Notes, RulePaths) != many+1 {
				t.Errorf("%d results, %v", u.Results, u.Notes)
			}
		})
	}
}

// BenchmarkPrepareReferring measures each log at two numbers of results. The second number is four
// times the first, and the large part stays the same, so the second time must be less than four
// times the first. For "extensions by name" the large part grows with the number, so there it must
// be less than sixteen times.
func BenchmarkPrepareReferring(b *testing.B) {
	for _, many := range []int{375, 1500} {
		for name, raw := range referring(many) {
			b.Run(fmt.Sprintf("%s/%d", name, many), func(b *testing.B) {
				for b.Loop() {
					if _, err := Prepare([]Source{{SARIF: raw}, {SARIF: oneResult("", located("a.go"))}}, Options{MaxPacked: 1 << 30}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// TestPrepareLeavesOutTheMachine asserts that the log does not say with which arguments,
// where and by whom a tool was called, which may be secret.
func TestPrepareLeavesOutTheMachine(t *testing.T) {
	invocation := `{"executionSuccessful":false,"exitCode":1,"commandLine":"scan --token=SECRET","arguments":["--token=SECRET"],"machine":"SECRET","account":"SECRET",
		"processId":7,"environmentVariables":{"TOKEN":"SECRET"},"executableLocation":{"uri":"SECRET"},"workingDirectory":{"uri":"SECRET"},"responseFiles":[{"uri":"SECRET"}],
		"stdin":{"uri":"SECRET"},"stdout":{"uri":"SECRET"},"stderr":{"uri":"SECRET"},"stdoutStderr":{"uri":"SECRET"},"properties":{"x":"SECRET"},
		"toolExecutionNotifications":[{"level":"error","message":{"text":"out of memory"}}]}`
	log := `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"invocations":[` + invocation + `],"conversion":{"tool":{"driver":{"name":"c"}},"invocation":` + invocation + `},
		"artifacts":[{"location":{"uri":"a.go"},"contents":{"text":"SECRET"}}],"webRequests":[{"headers":{"Authorization":"SECRET"}}],
		"results":[{"message":{"text":"m"},"webRequest":{"headers":{"Cookie":"SECRET"}},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.go"}}}]}]}]}`
	if found, err := Validate([]byte(log)); err != nil || len(found) > 0 {
		t.Fatal(found, err)
	}
	u := prepare(t, Options{}, Source{SARIF: json.RawMessage(log)})
	if strings.Contains(string(u.SARIF), "SECRET") {
		t.Errorf("a secret is in %s", u.SARIF)
	}
	wantAt(t, tree(t, u.SARIF), "runs/0/invocations/0", object{"executionSuccessful": false, "exitCode": 1.0,
		"toolExecutionNotifications": []any{object{"level": "error", "message": object{"text": "out of memory"}}}})
	for _, want := range []Note{{RuleMachine, "environmentVariables", 2}, {RuleMachine, "account", 2}, {RuleMachine, "commandLine", 2}, {RuleUnused, "contents", 1}} {
		if !slices.Contains(u.Notes, want) {
			t.Errorf("notes lack %+v: %+v", want, u.Notes)
		}
	}
}

// TestPrepareDeliversProblemsOnly asserts that results of passed checks are left out, and
// that a run that has no others is delivered, because it closes the earlier alerts.
func TestPrepareDeliversProblemsOnly(t *testing.T) {
	place := `"message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.go"}}}]`
	log := `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":[{"kind":"pass",` + place + `},{"kind":"notApplicable",` + place + `}]},
		{"tool":{"driver":{"name":"u"}},"results":[{"kind":"review",` + place + `},{` + place + `}]}]}`
	u := prepare(t, Options{}, Source{SARIF: json.RawMessage(log)})
	wantAt(t, tree(t, u.SARIF), "runs/0/results", []any{})
	if u.Results != 2 || !slices.Contains(u.Notes, Note{RuleKinds, "pass", 1}) {
		t.Errorf("%d results, notes %+v", u.Results, u.Notes)
	}
}
