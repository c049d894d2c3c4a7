package agents

import "errors"

// IsRefusal reports whether an error is about what was asked for, so that whoever asked can mend
// it.
func IsRefusal(err error) bool {
	for _, target := range []any{new(*InvalidError), new(*NotFoundError), new(*ExistsError), new(*ReadOnlyError), new(*ParameterError)} {
		if errors.As(err, target) {
			return true
		}
	}
	return false
}
