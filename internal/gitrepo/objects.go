package gitrepo

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/agent-airlock/airlock/internal/text"
)

// ErrForged is returned when an object of the clone does not have the content
// that its id stands for.
var ErrForged = errors.New("an object of the clone was changed: its content is not the one its id stands for")

// Limits of what is read, in bytes.
const (
	maxObjects = 256 << 20 // a commit's trees or files at once
	maxKnown   = 64 << 20  // trees that are kept
)

// cache keeps commits and trees, which never change under their ids.
type cache struct {
	mu      sync.Mutex
	objects map[string]object
	size    int
}

func (c *cache) get(oid string) (object, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o, ok := c.objects[oid]
	return o, ok
}

// put keeps a commit or a tree while there is room.
func (c *cache) put(oid string, o object) {
	if o.kind == "blob" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size += len(o.data); c.size > maxKnown {
		return
	}
	if c.objects == nil {
		c.objects = map[string]object{}
	}
	c.objects[oid] = object{kind: o.kind, data: bytes.Clone(o.data)} // not the whole answer of git
}

// object is an object that was read, or why it was not.
type object struct {
	kind string
	data []byte
	err  error
}

// read reads objects and checks each against its id. Files over the limit, and
// objects that are not there, come with an error of their own.
func (r *Repo) read(ctx context.Context, oids []string, limit int64) (map[string]object, error) {
	objects := make(map[string]object, len(oids))
	var unknown []string
	for _, oid := range oids {
		if o, ok := r.known.get(oid); ok {
			objects[oid] = o
		} else {
			unknown = append(unknown, oid)
		}
	}
	if len(unknown) == 0 {
		return objects, nil
	}
	out, _, err := r.git(ctx, maxObjects, strings.NewReader(strings.Join(unknown, "\n")+"\n"), "cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)")
	if err != nil {
		return nil, err
	}
	var want []string
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 2 && fields[1] == "missing":
			objects[fields[0]] = object{err: fmt.Errorf("the file's object is not in the clone%s: %s", r.WhyMissing(), deeper)}
		case len(fields) != 3:
			return nil, fmt.Errorf("git cat-file answered %q", strings.TrimSpace(line))
		default:
			size, err := strconv.ParseInt(fields[2], 10, 64)
			if err != nil || fields[1] == "blob" && size > limit {
				objects[fields[0]] = object{err: fmt.Errorf("%w: %s, at most %s are read", ErrTooLarge, text.Bytes(size), text.Bytes(limit))}
				continue
			}
			want = append(want, fields[0])
		}
	}
	if len(want) == 0 {
		return objects, nil
	}
	out, _, err = r.git(ctx, maxObjects, strings.NewReader(strings.Join(want, "\n")+"\n"), "cat-file", "--batch=%(objectname) %(objecttype) %(objectsize)")
	if err != nil {
		return nil, err
	}
	for len(out) > 0 {
		head, rest, _ := bytes.Cut(out, []byte{'\n'})
		fields := strings.Fields(string(head))
		if len(fields) != 3 {
			return nil, fmt.Errorf("git cat-file answered %q", head)
		}
		size, err := strconv.Atoi(fields[2])
		if err != nil || size < 0 || size >= len(rest) {
			return nil, fmt.Errorf("git cat-file answered %q and too little after it", head)
		}
		o := object{kind: fields[1], data: rest[:size:size]}
		if !matches(fields[0], o) {
			return nil, fmt.Errorf("%w (%s)", ErrForged, fields[0])
		}
		objects[fields[0]] = o
		r.known.put(fields[0], o)
		out = rest[size+1:]
	}
	return objects, nil
}

// IsBlob reports whether an id is that of a file with this content.
func IsBlob(oid string, content []byte) bool {
	return matches(oid, object{kind: "blob", data: content})
}

// matches reports whether the id is the hash of the object.
func matches(oid string, o object) bool {
	var h hash.Hash
	if len(oid) == 64 {
		h = sha256.New()
	} else {
		h = sha1.New()
	}
	fmt.Fprintf(h, "%s %d\x00", o.kind, len(o.data))
	h.Write(o.data)
	return hex.EncodeToString(h.Sum(nil)) == oid
}

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
