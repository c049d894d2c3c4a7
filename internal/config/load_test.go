package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sanitize"
	"github.com/google/go-cmp/cmp"
)

func TestLoad(t *testing.T) {
	files := map[string]string{"a.yml": "create-issue:\n", "b.json": `{"noop": {}}`}
	read := func(name string) ([]byte, error) {
		if name == "secret.yml" {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
		}
		if name == "broken.yml" {
			return nil, errors.New("it is a directory,\nnot a file")
		}
		if name == "base.yml" {
			return nil, fmt.Errorf("%w on the base commit abc", fs.ErrNotExist)
		}
		text, ok := files[name]
		if !ok {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return []byte(text), nil
	}
	for _, tt := range []struct {
		name   string
		src    Sources
		env    map[string]string
		kinds  string
		staged bool
		says   string // the beginning of the error; "" for none
	}{
		{"nothing", Sources{}, nil, "", false, ""},
		{"inline", Sources{Inline: "create-discussion:"}, nil, "create-discussion", false, ""},
		{"file", Sources{File: "a.yml"}, nil, "create-issue", false, ""},
		{"blank inline", Sources{Inline: " \n", File: "a.yml"}, nil, "create-issue", false, ""},
		{"both", Sources{Inline: "noop:", File: "a.yml"}, nil, "", false, `configuration: given twice, as text and as the file "a.yml"; give one of them`},
		{"missing file", Sources{File: "c.yml"}, nil, "", false, "c.yml: there is no such file; check the path of the configuration"},
		{"text as file", Sources{File: "create-issue:\n  max: 2"}, nil, "", false, "configuration: \"create-issue:\\n  max: 2\" is not the path of a file; the text of a configuration belongs in the input config"},
		{"file missing elsewhere", Sources{File: "base.yml"}, nil, "", false, "base.yml: there is no such file on the base commit abc; check the path of the configuration"},
		{"forbidden file", Sources{File: "secret.yml"}, nil, "", false, "secret.yml: the file may not be read by this user; check its permissions"},
		{"other error", Sources{File: "broken.yml"}, nil, "", false, "broken.yml: the configuration cannot be read: it is a directory, not a file"},
		{"environment, text", Sources{}, map[string]string{"GITHUB_AW_SAFE_OUTPUTS_CONFIG": `{"create_issue": {"enabled": true}}`}, "create-issue", false, ""},
		{"environment, lines", Sources{}, map[string]string{"GH_AW_SAFE_OUTPUTS_CONFIG": "create-issue:\nnoop:\n"}, "create-issue,noop", false, ""},
		{"environment, path", Sources{}, map[string]string{"GH_AW_SAFE_OUTPUTS_CONFIG": "b.json"}, "noop", false, ""},
		{"environment, newer name", Sources{}, map[string]string{"GH_AW_SAFE_OUTPUTS_CONFIG": "b.json", "GITHUB_AW_SAFE_OUTPUTS_CONFIG": "a.yml"}, "noop", false, ""},
		{"environment, missing", Sources{}, map[string]string{"GH_AW_SAFE_OUTPUTS_CONFIG": "c.yml"}, "", false, "GH_AW_SAFE_OUTPUTS_CONFIG (c.yml): there is no such file"},
		{"environment, bad", Sources{}, map[string]string{"GH_AW_SAFE_OUTPUTS_CONFIG": `{"create-issue": 1}`}, "", false, "GH_AW_SAFE_OUTPUTS_CONFIG:1:18: create-issue: expected settings"},
		{"input before environment", Sources{File: "a.yml"}, map[string]string{"GH_AW_SAFE_OUTPUTS_CONFIG": "b.json"}, "create-issue", false, ""},
		{"environment stages", Sources{File: "a.yml"}, map[string]string{"GITHUB_AW_SAFE_OUTPUTS_STAGED": "true"}, "create-issue", true, ""},
		{"environment does not unstage", Sources{Inline: "staged: true\nnoop:"}, map[string]string{"GH_AW_SAFE_OUTPUTS_STAGED": "false"}, "noop", true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.src.ReadFile = read
			tt.src.Getenv = func(name string) string { return tt.env[name] }
			cfg, err := Load(tt.src)
			if got := errText(err); tt.says == "" && got != "" || !strings.HasPrefix(got, tt.says) {
				t.Fatalf("error %q, want %q", got, tt.says)
			}
			if _, ok := err.(Problems); err != nil && !ok {
				t.Errorf("the error is a %T", err)
			}
			var kinds []string
			for _, row := range kindTable() {
				if _, ok := cfg.Policy.Kinds[row.kind]; ok {
					kinds = append(kinds, string(row.kind))
				}
			}
			if got := strings.Join(kinds, ","); got != tt.kinds {
				t.Errorf("kinds %q, want %q", got, tt.kinds)
			}
			if cfg.Policy.Staged != tt.staged {
				t.Errorf("staged %t", cfg.Policy.Staged)
			}
		})
	}
	// Without Getenv the environment is not asked.
	cfg, err := Load(Sources{})
	if err != nil || cfg.Policy.Configured() {
		t.Errorf("without an environment: %+v, %v", cfg, err)
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	big := filepath.Join(dir, "big.yml")
	if err := os.WriteFile(big, make([]byte, 3<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := ReadFile(big); err != nil || len(data) != maxBytes+1 {
		t.Errorf("read %d bytes, %v", len(data), err)
	}
	if _, err := ReadFile(dir); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Errorf("a directory: %v", err)
	}
	if _, err := Load(Sources{File: big}); err == nil || !strings.Contains(err.Error(), "larger than 1 MiB") {
		t.Errorf("a large file: %v", err)
	}
}

// TestDoors asserts what packages sanitize and intake get from a configuration, and which kinds it
// enables.
func TestDoors(t *testing.T) {
	cfg, err := Parse("x", []byte("create-issue: {max: 2}\nadd-labels: {max: -1}\nnoop:\nallowed-domains: example.com\nallow-closing-words: true\nallowed-mentions: a\n"))
	if err != nil {
		t.Fatal(err)
	}
	clean := cfg.Sanitize("ghe.example.com", "octo/app")
	want := sanitize.Config{AllowedDomains: []string{"example.com"}, AllowedMentions: []string{"a"}, ClosingWords: true, ServerHost: "ghe.example.com", Repository: "octo/app"}
	if diff := cmp.Diff(want, clean); diff != "" {
		t.Errorf("sanitize (-want +got):\n%s", diff)
	}
	intake := cfg.Intake(clean, true)
	if diff := cmp.Diff(map[policy.Kind]int{safeoutput.KindCreateIssue: 2}, intake.Max); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	if intake.MaxLabels != -1 || !intake.Strict || !cmp.Equal(intake.Sanitize, clean) {
		t.Errorf("intake's settings are %+v", intake)
	}
	if diff := cmp.Diff(map[policy.Kind]bool{"create-issue": true, "add-issue-label": true, "noop": true, "missing-tool": true, "missing-data": true, "report-incomplete": true}, cfg.Enabled()); diff != "" {
		t.Errorf("enabled (-want +got):\n%s", diff)
	}
	if enabled := (SafeOutputs{}).Enabled(); enabled != nil {
		t.Errorf("without configuration %v is enabled", enabled)
	}
}

// TestLabelsAreCountedOnce asserts that package intake does not limit the number of labels if
// package policy removes labels that are not allowed. Package policy then counts the labels that
// are left. MaxLabels is 0 for the default limit, and negative for no limit.
func TestLabelsAreCountedOnce(t *testing.T) {
	for text, want := range map[string]int{
		"add-labels:\n": 0, "add-labels: {max: 2}\n": 2, "add-labels: {max: 2, allowed: [a]}\n": -1, "add-labels: {blocked: [a]}\n": -1, "noop:\n": 0,
	} {
		cfg, err := Parse("x", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := cfg.Intake(sanitize.Config{}, false).MaxLabels; got != want {
			t.Errorf("%q: MaxLabels is %d, want %d", text, got, want)
		}
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
