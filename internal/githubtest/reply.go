package githubtest

import (
	"net/http"
	"strconv"
)

// reply is what a handler answers.
type reply struct {
	status int
	header http.Header
	body   any    // marshalled; nil for no body
	raw    []byte // sent as it is, instead of body
}

// fail is GitHub's basic error.
func fail(status int, message string) reply {
	return reply{status: status, body: map[string]any{"message": message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(status)}}
}

// fieldError is an entry of a validation error.
type fieldError struct {
	Resource string `json:"resource"`
	Field    string `json:"field,omitempty"`
	Code     string `json:"code"`
	Message  string `json:"message,omitempty"`
}

// invalid is GitHub's validation error.
func invalid(errs ...fieldError) reply {
	return reply{status: http.StatusUnprocessableEntity, body: map[string]any{"message": "Validation Failed", "errors": errs,
		"documentation_url": "https://docs.github.com/rest", "status": "422"}}
}

// invalidSimple is the validation error of the endpoints that give plain strings.
func invalidSimple(errs ...string) reply {
	return reply{status: http.StatusUnprocessableEntity, body: map[string]any{"message": "Unprocessable Entity", "errors": errs,
		"documentation_url": "https://docs.github.com/rest", "status": "422"}}
}

func okay(body any) reply { return reply{status: http.StatusOK, body: body} }

func created(body any) reply { return reply{status: http.StatusCreated, body: body} }
