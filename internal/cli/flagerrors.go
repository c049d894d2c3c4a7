package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// flagError says what is wrong with a flag in words, not in those of the functions that
// read it, and where to look.
func flagError(cmd *cobra.Command, err error) error {
	text := err.Error()
	for _, read := range []struct{ by, instead string }{
		{": strconv.ParseInt: ", "give a whole number"}, {": strconv.ParseBool: ", "give true or false, or the flag alone"},
		{": time: ", "give a time with its unit, such as 300s or 5m"},
	} {
		if head, _, ok := strings.Cut(text, read.by); ok {
			text = head + ": " + read.instead
		}
	}
	return fmt.Errorf("%s ('%s --help' lists the flags)", text, cmd.CommandPath())
}
