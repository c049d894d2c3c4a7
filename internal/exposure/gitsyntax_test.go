package exposure

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

// TestParseGitConfig asserts that git lists the same entries for each text, and that a
// text that git refuses is reported. Git before 2.45 replaces other blanks within values by
// spaces, so all blanks count as the same.
func TestParseGitConfig(t *testing.T) {
	t.Parallel()
	texts := []string{
		"", "\n", "# comment\n; another", "[a]\n", "[a]b", "[a]b=c", "[a] b = c # d", "[a]\n\tb = c\n[d \"e\"]\n\tf=g\n", "\ufeff[a]\nb=c\n", "[a]\r\nb=c\r\n",
		"[A]\nB=C\n", "[A.B]\nC=d\n", "[A \"B\"]\nC=d\n", "[A.B \"C\"]\nD=e\n", "[a \"b.c\"]\nd=e\n", `[a "b\"c\\d\x"]` + "\ne=f\n", "[a\t \"b\"]c=d", "[ a]b=c", "[a ]b=c", "[a \"b\" ]c=d", "[a \"b\nc\"]d=e",
		"[a \"\"]b=c\n", "[]\na=b\n", "[a]\nb = \"c # d\" ; e\n", "[a]\nb = c\\\nd\n", "[a]\nb = c \\\n  d\n", "[a]\nb = \"c\\\nd\"\n", "[a]\nb = c # \\\nd = e\n", "[a]\nb = \\t\\b\\n\\\\\\\"\n", "[a]\nb = \\x\n",
		"[a]\nb = \"c\nd = e\n", "[a]\nb = c\"d\"e\n", "[a]\nb =   c   d   \n", "[a]\nb = \" c \" \n", "[a]\nb = c\"\" \n", "[a]\nb = \"\" c\n", "[a]\nb =\n", "[a]\nb=\n[c]d\n", "[a]b=c [d]e=f\n", "[a]\n1b=c\n", "[a]\nb_c=d\n", "[a]\nb c=d\n",
		"[a]\nb-1=d\n", "[a]\nb == c\n", "[a]\nb=c#d\n", "[a]\nb=c;d\n", "[a]\nb = c\rd\n", "[a]\nb = c\\", "[a", "[a \"", "[a]\nb = é\xff\n", "[a]\nb \t= c\n", "[a] [b] c = d\n", "[a]]b=c\n", "[a]\\b=c\n",
		"[http \"https://github.com/\"]\n\textraheader = AUTHORIZATION: basic eA==\n[includeIf \"gitdir:/a/.git\"]\n\tpath = /b\n",
	}
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	parts := []string{"[a]", "[", "]", "a", "B", " ", "\t", "\n", "\n", "\r\n", "\\", "\\\n", "\"", "\"b c\"", "=", " = ", "#", ";", ".", "-", "1", "é", "[c \"D.e\"]\n", "key = value\n"}
	for range shorttest.Count(300, 10) {
		text := "[s]\n"
		for range random.IntN(12) {
			text += parts[random.IntN(len(parts))]
		}
		texts = append(texts, text)
	}
	file := filepath.Join(t.TempDir(), "config")
	for _, text := range texts {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		want, gitErr := exec.CommandContext(t.Context(), "git", "config", "--file", file, "--no-includes", "--list", "-z").Output()
		entries, bad := parseGitConfig(text)
		if (bad > 0) != (gitErr != nil) {
			t.Errorf("seed %d, %q: line %d is bad; git says %v", seed, text, bad, gitErr)
		}
		if gitErr != nil {
			continue
		}
		var got strings.Builder
		for _, e := range entries {
			key := e.name
			for _, s := range []string{e.subsection, e.section} {
				if s != "" {
					key = s + "." + key
				}
			}
			fmt.Fprintf(&got, "%s\n%s\x00", key, e.value)
		}
		// Of a variable without "=" git prints no value at all; of an empty section or
		// subsection it prints the dot.
		same := strings.NewReplacer("\t", " ", "\r", " ", "..", ".")
		var lines []string
		for line := range strings.SplitSeq(strings.TrimSuffix(same.Replace(string(want)), "\x00"), "\x00") {
			if line != "" && !strings.Contains(line, "\n") {
				line += "\n"
			}
			lines = append(lines, strings.TrimPrefix(line, "."))
		}
		if diff := cmp.Diff(lines, strings.Split(strings.TrimSuffix(same.Replace(got.String()), "\x00"), "\x00")); diff != "" {
			t.Errorf("seed %d, %q (-git +ours)\n%s", seed, text, diff)
		}
	}
}

// TestParseGitConfigGoesOn asserts that parseGitConfig reads on after a line that git refuses, because
// another program may accept the file. A value of the map is the number of the first such line, or 0,
// and the entries: section, subsection, name, value and line.
func TestParseGitConfigGoesOn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[a]\n!\nb=c\n":                "2 [{a  b c 3}]",
		"[a \"x\nb=c\n":                "1 [{a x b c 2}]",
		"[a]\nb=\"c\nd=e\n":            "2 [{a  b c 2} {a  d e 3}]",
		"[a]\nb=\\q rest\nd=e":         "2 [{a  b  2} {a  d e 3}]",
		"[a] b c=d\ne=f":               "1 [{a  b  1} {a  e f 2}]",
		"a=b\n\n\n[b \"c\"] d = \\\ne": "0 [{  a b 1} {b c d e 4}]",
	} {
		entries, bad := parseGitConfig(text)
		if got := fmt.Sprint(bad, " ", entries); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
