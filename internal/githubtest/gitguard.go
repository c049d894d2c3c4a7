package githubtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// guard refuses a push that writes a branch which only pull requests may change.
// The whole push is refused then, in the protocol's own answer: to git it is no
// error of HTTP.
func (s *Server) guard(body []byte) (answer []byte, refused bool) {
	refs, capabilities := pushed(body)
	var said, report strings.Builder
	report.WriteString(packet("unpack ok\n"))
	for _, name := range refs {
		reason := "pre-receive hook declined"
		branch, _ := strings.CutPrefix(name, "refs/heads/")
		switch {
		case slices.Contains(s.state.Repo.Protected, branch):
			refused, reason = true, "protected branch hook declined"
			fmt.Fprintf(&said, "error: GH006: Protected branch update failed for %s.\n\n- %s\n", name, byPull)
		case slices.Contains(s.state.Repo.Ruled, branch):
			refused, reason = true, "push declined due to repository rule violations"
			fmt.Fprintf(&said, "error: GH013: Repository rule violations found for %s.\nReview all repository rules at %s/rules?ref=%s\n\n- %s\n\n",
				name, s.siteURL(), strings.ReplaceAll(name, "/", "%2F"), byPull)
		}
		fmt.Fprint(&report, packet("ng "+name+" "+reason+"\n"))
	}
	report.WriteString("0000")
	if !slices.Contains(capabilities, "side-band-64k") {
		return []byte(report.String()), refused
	}
	return []byte(packet("\x02"+said.String()) + packet("\x01"+report.String()) + "0000"), refused
}

const byPull = "Changes must be made through a pull request."

// pushed reads the refs that a push is about to write, and what the client can.
func pushed(body []byte) (refs, capabilities []string) {
	text := string(body)
	for len(text) >= 4 {
		n, err := strconv.ParseUint(text[:4], 16, 16)
		if err != nil || n < 4 || int(n) > len(text) {
			break // the end of the commands, or no commands at all
		}
		line, can, _ := strings.Cut(text[4:n], "\x00")
		if f := strings.Fields(line); len(f) == 3 {
			refs = append(refs, f[2])
		}
		capabilities = append(capabilities, strings.Fields(can)...)
		text = text[n:]
	}
	return refs, capabilities
}

// packet is a line of git's protocol.
func packet(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }
