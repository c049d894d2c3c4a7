package reviewer

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// This file reads which functions answer requests, and which of their parameters have a
// stranger's text.

// route returns the text before the name or the keyword at index i, where a function begins, if the
// text shows that the function answers requests: `@app.route("/a/<b>")`, `@GetMapping("/a")`.
func (s *scopes) route(i int) string {
	const longest = 120 // tokens
	if s.routes == nil {
		return ""
	}
	begin := i
	for j := i - 1; j >= 0 && j > i-longest; j-- {
		t := s.tokens[j]
		if t.kind == closing && !s.is(j, "}") && int(t.pair) >= 0 {
			j = int(t.pair)
			t = s.tokens[j]
		}
		if s.isOneOf(j, "{", "}", ";") {
			break
		}
		if s.lang.indented && t.first && s.written(j)[0] != '@' && !s.is(j, "async") {
			break
		}
		begin = j
	}
	before := s.sourceText(extent{begin, i})
	if !s.routes.MatchString(before) {
		return ""
	}
	return before
}

var (
	// notText are words in the types of parameters that contain no text of a stranger.
	notText = lazyregexp.New(`^\s*(int|float|bool|complex|UUID|uuid|date|datetime|Request|Response|Session|AsyncSession|WebSocket|BackgroundTasks)\b|\bDepends\b|\bSecurity\b`)
	// numberPlace matches a place in a route that takes only a number or a UUID: <int:a>.
	numberPlace = lazyregexp.New(`<(?:int|float|uuid)(?:\([^)>]*\))?:(\w+)>`)
	// ownParameters are names of parameters that the program fills.
	ownParameters = wordSetOf("self cls request req response db session context")
)

// readRoute marks the parameters of a function that answers requests as sent by a request, except
// those whose names or types show that they are not. Where blocks are in braces, it marks none:
// there the parameters themselves show it, see pack.Parameters. open is the index of the bracket
// before the parameters.
func (s *scopes) readRoute(route string, open int) {
	if route == "" || !s.lang.indented {
		return
	}
	numbers := wordSet{}
	for _, m := range numberPlace.FindAllStringSubmatch(route, -1) {
		numbers[m[1]] = true
	}
	for _, a := range s.arguments(open) {
		name, from := a.name, a.from
		if name == "" && s.isWord(from) {
			name = s.written(from)
		}
		isTyped := a.name != "" && s.is(from-1, ":")
		if name == "" || ownParameters[name] || numbers[name] || isTyped && notText.MatchString(s.sourceText(a.extent)) {
			continue
		}
		s.params = append(s.params, parameter{name: name, origin: requestMark + strings.TrimSpace(route)})
	}
}

// takesEvent reports whether the parameters that were read are those of a function that a cloud
// calls for a request: f(event, context), where one more may follow.
func (s *scopes) takesEvent() bool {
	return len(s.params) > 1 && len(s.params) < 4 && s.params[0].name == "event" && s.params[1].name == "context"
}
