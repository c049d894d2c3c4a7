package gitrepo

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/encoding/htmlindex"
)

// Commit is a commit that was read.
type Commit struct {
	Message string // in UTF-8, as it was written
	Author  Person
	When    time.Time // when it was committed, in UTC
	Parents []string  // all of them, also where a shallow history ends
	Tree    string
}

// Commit reads a commit and checks it against its id.
func (r *Repo) Commit(ctx context.Context, oid string) (Commit, error) {
	data, err := r.object(ctx, oid, "commit", maxObjects)
	if err != nil {
		return Commit{}, err
	}
	c, err := parseCommit(string(data))
	if err != nil {
		return Commit{}, fmt.Errorf("commit %s: %w", oid, err)
	}
	return c, nil
}

// Blob reads a file's content of at most limit bytes by its id, and checks it
// against it. Longer content is ErrTooLarge.
func (r *Repo) Blob(ctx context.Context, oid string, limit int64) ([]byte, error) {
	return r.object(ctx, oid, "blob", limit)
}

// object reads one object of the kind.
func (r *Repo) object(ctx context.Context, oid, kind string, limit int64) ([]byte, error) {
	if !IsObjectID(oid) {
		return nil, fmt.Errorf("%q is not a whole object id", oid)
	}
	if _, ok := r.known.get(oid); !ok && kind == "commit" {
		if err := r.Require(ctx, oid); err != nil {
			return nil, err
		}
	}
	objects, err := r.read(ctx, []string{oid}, limit)
	if err != nil {
		return nil, err
	}
	switch o := objects[oid]; {
	case o.err != nil:
		return nil, o.err
	case o.kind != kind:
		return nil, fmt.Errorf("the object %s is no %s", oid, kind)
	default:
		return o.data, nil
	}
}

// parseCommit reads what git cat-file prints of a commit: headers, an empty
// line, the message. Headers that it does not know (signatures) are left out.
func parseCommit(text string) (Commit, error) {
	head, message, _ := strings.Cut(text, "\n\n")
	var c Commit
	var charset string
	for line := range strings.SplitSeq(head, "\n") {
		name, value, _ := strings.Cut(line, " ")
		switch {
		case name == "tree" && c.Tree == "" && IsObjectID(value):
			c.Tree = value
		case name == "parent" && IsObjectID(value):
			c.Parents = append(c.Parents, value)
		case name == "author" && c.Author == (Person{}):
			c.Author, _ = parsePerson(value)
		case name == "committer" && c.When.IsZero():
			_, c.When = parsePerson(value)
		case name == "encoding":
			charset = value
		}
	}
	if c.Tree == "" {
		return c, fmt.Errorf("it cannot be read: it names no tree")
	}
	c.Message = decode(message, charset)
	c.Author = Person{decode(c.Author.Name, charset), decode(c.Author.Email, charset)}
	return c, nil
}

// parsePerson reads "name <email> seconds zone".
func parsePerson(text string) (Person, time.Time) {
	name, rest, _ := strings.Cut(text, "<")
	email, rest, _ := strings.Cut(rest, ">")
	var when time.Time
	if fields := strings.Fields(rest); len(fields) > 0 {
		if seconds, err := strconv.ParseInt(fields[0], 10, 64); err == nil {
			when = time.Unix(seconds, 0).UTC()
		}
	}
	return Person{strings.TrimSpace(name), strings.TrimSpace(email)}, when
}

// decode turns text of a named character set into UTF-8. What is not known
// and what is not valid becomes U+FFFD.
func decode(text, charset string) string {
	if charset != "" {
		if enc, err := htmlindex.Get(charset); err == nil {
			if utf8, err := enc.NewDecoder().String(text); err == nil {
				text = utf8
			}
		}
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
