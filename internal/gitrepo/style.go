package gitrepo

import (
	"strings"
	"time"
	"unicode"
)

// Style says how commits are made. The same series, base and Style give the same
// commit ids.
type Style struct {
	Committer Person
	Author    Person    // of changes without one; zero: Committer
	When      time.Time // of author and committer, in UTC; zero: the time of the commit that the series is put on
	// Message returns the whole message of a commit, clean already; nil: the
	// change's own. An empty one is replaced.
	Message func(index int, c Change) string
	// AuthorOf returns a commit's author; nil: the change's own, or Author.
	AuthorOf func(c Change) Person
}

// What stands where a commit has nothing of its own.
const (
	noMessage = "Change files"
	noName    = "unknown"
	noEmail   = "unknown@example.invalid" // git am needs one with an @
)

func (s Style) message(index int, c Change) string {
	text := c.Message
	if s.Message != nil {
		text = s.Message(index, c)
	}
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
	if strings.TrimSpace(text) == "" {
		text = noMessage
	}
	return strings.Trim(text, "\n") + "\n"
}

func (s Style) author(c Change) Person {
	author := c.Author
	if s.AuthorOf != nil {
		author = s.AuthorOf(c)
	}
	for _, other := range []Person{s.Author, s.Committer} {
		if author == (Person{}) {
			author = other
		}
	}
	return author
}

// harmless returns the person as git can write it: no character ends the name or
// the address early, and neither is empty.
func (p Person) harmless() Person {
	name := strings.Trim(strings.Join(strings.FieldsFunc(strings.ToValidUTF8(p.Name, "\uFFFD"), notInName), " "), crud)
	email := strings.Trim(strings.Join(strings.FieldsFunc(strings.ToValidUTF8(p.Email, "\uFFFD"), notInEmail), ""), crud)
	if name == "" {
		name = noName
	}
	if !strings.Contains(email, "@") {
		email = noEmail
	}
	return Person{name, email}
}

// crud is what git takes off both ends of a name.
const crud = " .,:;<>\"\\'"

func notInName(c rune) bool {
	return c == '<' || c == '>' || unicode.IsSpace(c) || unicode.IsControl(c)
}

func notInEmail(c rune) bool { return notInName(c) || c == '(' || c == ')' }
