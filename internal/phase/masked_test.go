package phase_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/secrets"
	"github.com/agent-airlock/airlock/internal/token"
)

// TestASecretInWhatACommandPrintsIsMasked asserts that a report that is masked again contains no
// part of a secret, even if the rest of the secret is in lines of the output that are not kept.
func TestASecretInWhatACommandPrintsIsMasked(t *testing.T) {
	t.Parallel()
	key := "-----BEGIN EC PRIVATE KEY-----\n" + strings.Repeat("Q7fGh2kLm9Np4rStUv6WxYz1AbC3dEf5Gh7iJk9LmN2oPq4RsT6uVw8XyZ0aBcDe\n", 50) + "-----END EC PRIVATE KEY-----\n"
	const value = "s3cr3t-Val_0123456789abcdefghijKLMNOPQRS"
	scanner := secrets.New([]secrets.Known{{Name: "the password", Value: token.New(value, "")}})
	for name, printed := range map[string]string{
		"a key, cut at its end":       "error: no\n" + key + strings.Repeat("and more\n", 50),
		"a key, cut at its beginning": strings.Repeat("some\n", 50) + key + "the end\n",
		"a key that ends the output":  key,
		"a value, cut at each place":  cutAtEachPlace(value, 300),
	} {
		job, dir := goJob(t)
		job.Input.MaxRetries = 0
		s := newStage(t, dir, goSteps(map[string][]step{vetLine: {{code: 1, stderr: printed}}, testLine: {{code: 1, stdout: printed}}}))
		deps := s.deps()
		deps.Mask = scanner.Mask
		raw, err := json.Marshal(validate(t, job, phase.Config{}, deps))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{value[:6], value[len(value)-6:], "Q7fGh2kLm9", "LmN2oPq4Rs"} {
			if strings.Contains(scanner.Mask(string(raw)), part) {
				t.Errorf("%s: %q is in %s", name, part, raw)
			}
		}
	}
}

// cutAtEachPlace returns lines that contain the value, each at another distance from the line's
// start. If each line is cut after limit bytes, the value is cut at each place once.
func cutAtEachPlace(value string, limit int) string {
	var lines strings.Builder
	for n := range len(value) + 4 {
		lines.WriteString("FAIL: " + strings.Repeat("x", limit-len("FAIL: ")-n) + value + " and more\n")
	}
	return lines.String()
}
