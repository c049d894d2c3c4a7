package phase

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/toolreport"
)

// flaky says what failed and passed when it was repeated: the tests by name, as far as
// they are known.
func flaky(failures []toolreport.Failure) string {
	const most = 5
	var names []string
	for _, f := range failures[:min(len(failures), most)] {
		name := strings.Join(strings.Fields(cmp.Or(f.Name, f.Unit)), " ")
		if f.Path != "" && f.Line > 0 {
			name += fmt.Sprintf(" (%s:%d)", f.Path, f.Line)
		}
		names = append(names, name)
	}
	if more := len(failures) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	if len(names) == 0 {
		names = []string{"it"}
	}
	return "flaky: " + strings.Join(names, ", ") + " failed, and passed when it was repeated unchanged"
}
