//go:build multitool

package sarif

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/agent-airlock/airlock/internal/finding"
)

// multitoolVariable is the environment variable with the path of the SARIF multitool's program,
// from the npm package @microsoft/sarif-multitool-linux.
const multitoolVariable = "AIRLOCK_SARIF_MULTITOOL"

// TestMultitool checks every variant of a delivered log by the multitool's rules for
// SARIF and for GitHub's ingestion.
func TestMultitool(t *testing.T) {
	program := os.Getenv(multitoolVariable)
	if program == "" {
		t.Fatalf("set %s to the path of Sarif.Multitool (npm @microsoft/sarif-multitool-linux 5.7.0, executable)", multitoolVariable)
	}
	built, err := Build(Tool{Name: "airlock", Version: "1.2.3", InformationURI: "https://github.com/agent-airlock/airlock"}, "checks", sampleFindings(), sampleRules)
	if err != nil {
		t.Fatal(err)
	}
	empty, err := Build(Tool{Name: "airlock", Version: "1.2.3"}, "", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	agent, err := Build(Tool{Name: "agent", Version: "1"}, "agent", []finding.Finding{
		AgentFinding("agent", "README.md", 1, 0, "note", "This is a test security finding.", "test-custom-engine-notice"),
		AgentFinding("agent", "naïve/文件 #1.go", 1, 3, "error", "Bad", ""),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	clean, _, err := cleanLog(rich(t), fakeCleaner{})
	if err != nil {
		t.Fatal(err)
	}
	least := json.RawMessage(`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":[{"message":{"markdown":"**x**","text":"x"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"src\\a.go"}}}]}]},{"tool":{"driver":{"name":"u"}}}]}`)
	for name, sources := range map[string][]Source{
		"built":       {{SARIF: built}},
		"empty":       {{SARIF: empty}},
		"agent":       {{SARIF: agent}},
		"rich":        {{SARIF: clean}},
		"categorised": {{SARIF: clean, Category: "nightly"}},
		"least":       {{SARIF: least}},
		"merged":      {{SARIF: built}, {SARIF: clean}, {SARIF: rich(t)}, {SARIF: agent}, {SARIF: least}, {SARIF: built}},
		"many":        {{SARIF: simple("t", 1000, func(i int) string { return []string{"note", "error", "warning"}[i%3] })}},
	} {
		t.Run(name, func(t *testing.T) {
			u := prepare(t, Options{ReadFile: files}, sources...)
			for _, problem := range multitool(t, program, u.SARIF) {
				t.Error(problem)
			}
		})
	}
	t.Run("it finds errors", func(t *testing.T) {
		if len(multitool(t, program, rich(t))) == 0 {
			t.Error("the multitool finds nothing in a log that GitHub would not take")
		}
	})
}

// multitool returns the errors that the multitool finds in a log. They are read from
// the log that it writes, because its exit status is often 0.
func multitool(t *testing.T, program string, log []byte) (found []string) {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.sarif"), filepath.Join(dir, "out.sarif")
	if err := os.WriteFile(in, log, 0o600); err != nil {
		t.Fatal(err)
	}
	output, err := exec.CommandContext(t.Context(), program, "validate", in,
		"--rule-kind", "Sarif;Ghas", "--level", "Error;Warning;Note", "--log", "ForceOverwrite", "-o", out).CombinedOutput()
	raw, readErr := os.ReadFile(out)
	if readErr != nil {
		t.Fatalf("%v, %v\n%s", err, readErr, output)
	}
	type location struct {
		PhysicalLocation struct {
			Region struct{ StartLine, StartColumn int }
		}
		LogicalLocations []struct{ FullyQualifiedName string }
	}
	var answer struct {
		Runs []struct {
			Results []struct {
				RuleID, Level string
				Message       json.RawMessage
				Locations     []location
			}
			Invocations []struct {
				ExecutionSuccessful        *bool
				ToolExecutionNotifications []struct {
					Level   string
					Message json.RawMessage
				}
				ToolConfigurationNotifications []struct {
					Level   string
					Message json.RawMessage
				}
			}
		}
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		t.Fatal(err)
	}
	if len(answer.Runs) != 1 {
		t.Fatalf("the multitool did not run: %s\n%s", output, raw)
	}
	for _, r := range answer.Runs[0].Results {
		what := fmt.Sprintf("%s %s: %s %+v", r.Level, r.RuleID, r.Message, r.Locations)
		if r.Level == "error" {
			found = append(found, what)
		} else {
			t.Log(what[:min(len(what), 300)])
		}
	}
	for _, i := range answer.Runs[0].Invocations {
		for _, n := range append(i.ToolExecutionNotifications, i.ToolConfigurationNotifications...) {
			if n.Level == "error" {
				found = append(found, fmt.Sprintf("the multitool failed: %s", n.Message))
			}
		}
	}
	return found
}
