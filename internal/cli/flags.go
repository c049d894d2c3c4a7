package cli

import (
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
	flags.StringVar(&named.Event, "event-name", "", "the event's name (default: GITHUB_EVENT_NAME, else inferred from the payload)")
}

// addRepoFlag registers the flag that names the repository of the event.
func addRepoFlag(flags *pflag.FlagSet, named *action.Named) {
	flags.StringVar(&named.Repository, "repo", "", "the repository as owner/name (default: GITHUB_REPOSITORY, else the payload's)")
}

// addRouteFlags registers the flags of every command that asks GitHub.
func addRouteFlags(flags *pflag.FlagSet, route *doors.Route) {
	flags.StringVar(&route.Proxy, "proxy", "", "the proxy for requests to the API")
	flags.StringVar(&route.CAFile, "ca-file", "", "PEM certificates to trust besides the system's")
	flags.BoolVar(&route.TrustEnv, "trust-env", false, "take proxy and certificates from the environment")
}

// optional registers a flag that leaves its setting nil unless it is given. register is one of the
// methods of flags that register a flag, such as flags.StringVar; the rest is what that takes.
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
