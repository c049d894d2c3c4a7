package agents

import "errors"

// IsRefusal reports whether an error is about the request itself, which the caller can then mend.
func IsRefusal(err error) bool {
	for _, target := range []any{new(*InvalidError), new(*NotFoundError), new(*ExistsError), new(*ReadOnlyError), new(*ParameterError)} {
		if errors.As(err, target) {
			return true
		}
	}
	return false
}
