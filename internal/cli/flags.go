package cli

import (
	"encoding/csv"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/doors"
)

// Texts that explain flags which several commands have.
const (
	configUsage = "the safe-outputs configuration, YAML or JSON (default: GH_AW_SAFE_OUTPUTS_CONFIG, a path or the text)"
	storeUsage  = "the store: a SQLite file, or the URL of a PostgreSQL database (default: airlock/airlock.db in the state directory)"
	agentsUsage = "a directory of agents' blueprints, one in each YAML or JSON file"
)

// addEventFlags registers the flags of commands that act for a workflow run's event. Without a
// flag, the value of the environment counts.
func addEventFlags(flags *pflag.FlagSet, named *action.Named) {
	flags.StringVar(&named.Payload, "event", "", "the webhook payload of the event (default: GITHUB_EVENT_PATH)")
	flags.StringVar(&named.Event, "event-name", "", "the event's name (default: GITHUB_EVENT_NAME, otherwise inferred from the payload)")
}

// addRepoFlag registers the flag that names the repository of the event.
func addRepoFlag(flags *pflag.FlagSet, named *action.Named) {
	flags.StringVar(&named.Repository, "repo", "", "the repository as owner/name (default: GITHUB_REPOSITORY, otherwise the payload's)")
}

// addRouteFlags registers the flags of every command that asks GitHub.
func addRouteFlags(flags *pflag.FlagSet, route *doors.Route) {
	flags.StringVar(&route.Proxy, "proxy", "", "the proxy for requests to the API")
	flags.StringVar(&route.CAFile, "ca-file", "", "PEM certificates to trust in addition to the system's")
	flags.BoolVar(&route.TrustEnv, "trust-env", false, "take proxy and certificates from the environment")
}

// optional registers a flag that leaves *setting nil unless the flag is given. register is one of the
// methods of flags that register a flag, such as flags.StringVar; it is called with name, value and
// usage.
func optional[T any](flags *pflag.FlagSet, register func(p *T, name string, value T, usage string), setting **T, name string, value T, usage string) {
	given := new(T)
	register(given, name, value, usage)
	f := flags.Lookup(name)
	if f.DefValue == "[]" { // pflag leaves it out of the help for its own types alone
		f.DefValue = ""
	}
	f.Value = optionalValue[T]{f.Value, given, setting}
}

type optionalValue[T any] struct {
	pflag.Value
	given   *T
	setting **T
}

// Set implements pflag.Value.
func (v optionalValue[T]) Set(text string) error {
	*v.setting = v.given
	return v.Value.Set(text)
}

// takeLines lets each flag that is a list also take one name a line. It changes the flags of a
// command and of its subcommands.
func takeLines(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() != "stringSlice" {
			return
		}
		if f.DefValue == "[]" { // as in optional
			f.DefValue = ""
		}
		f.Value = lines{f.Value}
	})
	for _, child := range cmd.Commands() {
		takeLines(child)
	}
}

// lines is a list that takes names with commas between them or a line each, as "$(git diff
// --name-only)" has them. Of several lines, pflag's own list would read the first alone.
type lines struct{ pflag.Value }

// Set implements pflag.Value.
func (v lines) Set(text string) error {
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord = -1 // any number
	records, err := r.ReadAll()
	if err != nil {
		return err
	}
	if len(records) < 2 {
		return v.Value.Set(text)
	}
	var line strings.Builder
	w := csv.NewWriter(&line)
	if err := w.Write(slices.Concat(records...)); err != nil {
		return err
	}
	w.Flush()
	return v.Value.Set(line.String())
}
