package checkreport

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

// names returns, for each finding, the name by which later workflow runs find its
// comment: what is said of which code. Its fingerprint alone would do while there is one
// such finding in a file; of several, the first that is mended would leave its comment
// to the next and settle that of the last.
func (d *Document) names() []string {
	seen := map[string]int{}
	names := make([]string, len(d.Findings))
	for i, f := range d.Findings {
		name := string(f.Check) + "/" + f.Fingerprint
		if f.Code != "" {
			name = string(f.Check) + "/" + finding.Named(finding.Finding{Tool: f.Tool, Rule: f.Rule, Path: f.Path, Message: f.Message, Suggestion: f.Suggestion}, f.Code)
			if seen[name]++; seen[name] > 1 {
				name += "-" + strconv.Itoa(seen[name])
			}
		}
		names[i] = name
	}
	return names
}

// codeDigest is the digest of lines of code, wherever they are indented; "" of none.
func codeDigest(code string) string {
	var lines []string
	for line := range strings.Lines(code) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:16])
}
