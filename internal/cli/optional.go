package cli

import "github.com/spf13/pflag"

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

// optionalValue is the value of an optional flag.
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
