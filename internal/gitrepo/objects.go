package gitrepo

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/agent-airlock/airlock/internal/text"
)

// ErrForged is returned if an object of the clone does not have the content that its id
// stands for.
var ErrForged = errors.New("an object of the clone was changed: its content is not the one its id stands for")

// Limits of what is read, in bytes.
const (
	maxObjects = 256 << 20 // objects that are read at once; more are ErrTooLarge
	maxKnown   = 64 << 20  // commits and trees that are kept
	maxBatch   = 16 << 20  // files that Blobs reads at once, unless one alone has more
)

// Commit is a commit that was read.
type Commit struct {
	Message string // in UTF-8, as it was written
	Author  Person
	When    time.Time // when it was committed, in UTC
	Parents []string  // all of them, also where a shallow history ends
	Tree    string
}

// Person is an author or a committer. The zero Person is an unknown one.
type Person struct{ Name, Email string }

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

// Blob reads the content of a file by its id, and checks it against the id. Content of more
// than limit bytes is ErrTooLarge.
func (r *Repo) Blob(ctx context.Context, oid string, limit int64) ([]byte, error) {
	return r.object(ctx, oid, "blob", limit)
}

// Blobs returns the contents of files by their ids, in their order, each as Blob returns it. It
// asks git for many of them at once. After an error that does not concern one file alone, it ends.
func (r *Repo) Blobs(ctx context.Context, oids []string, limit int64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, oid := range oids {
			if !IsObjectID(oid) {
				yield(nil, fmt.Errorf("%q is not a full object id", oid))
				return
			}
		}
		failed, sizes, err := r.checkSizes(ctx, unique(oids), limit)
		if err != nil {
			yield(nil, err)
			return
		}
		var batch map[string]object
		for i, oid := range oids {
			o, found := failed[oid]
			if !found {
				o, found = batch[oid]
			}
			if !found {
				if batch, err = r.load(ctx, nextBatch(oids[i:], sizes)); err != nil {
					yield(nil, err)
					return
				}
				o = batch[oid]
			}
			if o.err == nil && o.kind != "blob" {
				o = object{err: fmt.Errorf("the object %s is not a blob", oid)}
			}
			if !yield(o.data, o.err) {
				return
			}
		}
	}
}

// nextBatch returns the objects at the beginning of a list that are read at once: the first one,
// whatever its size, and the next ones while all together have at most maxBatch bytes. It skips
// objects without a size.
func nextBatch(oids []string, sizes map[string]int64) (batch []string) {
	left := int64(maxBatch)
	seen := map[string]bool{}
	for _, oid := range oids {
		size, ok := sizes[oid]
		if !ok || seen[oid] {
			continue
		}
		if left -= size; left < 0 && len(batch) > 0 {
			break
		}
		seen[oid] = true
		batch = append(batch, oid)
	}
	return batch
}

// object reads one object of a kind.
func (r *Repo) object(ctx context.Context, oid, kind string, limit int64) ([]byte, error) {
	if !IsObjectID(oid) {
		return nil, fmt.Errorf("%q is not a full object id", oid)
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
		return nil, fmt.Errorf("the object %s is not a %s", oid, kind)
	default:
		return o.data, nil
	}
}

// parseCommit reads what git cat-file prints of a commit: headers, an empty line, the
// message. It ignores headers that it does not know, such as signatures.
func parseCommit(content string) (Commit, error) {
	head, message, _ := strings.Cut(content, "\n\n")
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
		return c, errors.New("it cannot be read: it names no tree")
	}
	c.Message = decode(message, charset)
	c.Author = Person{decode(c.Author.Name, charset), decode(c.Author.Email, charset)}
	return c, nil
}

// parsePerson reads "name <email> seconds zone".
func parsePerson(line string) (Person, time.Time) {
	name, rest, _ := strings.Cut(line, "<")
	email, rest, _ := strings.Cut(rest, ">")
	var when time.Time
	if fields := strings.Fields(rest); len(fields) > 0 {
		if seconds, err := strconv.ParseInt(fields[0], 10, 64); err == nil {
			when = time.Unix(seconds, 0).UTC()
		}
	}
	return Person{strings.TrimSpace(name), strings.TrimSpace(email)}, when
}

// decode turns text of a named character set into UTF-8. If the set is unknown, the text
// counts as UTF-8. What is invalid becomes U+FFFD.
func decode(text, charset string) string {
	if enc, err := htmlindex.Get(charset); err == nil {
		if utf8, err := enc.NewDecoder().String(text); err == nil {
			text = utf8
		}
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// object is an object that was read, or why it was not.
type object struct {
	kind string
	data []byte
	err  error
}

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

// add keeps a commit or a tree, as long as all together have at most maxKnown bytes.
func (c *cache) add(oid string, o object) {
	if o.kind == "blob" || o.err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.objects[oid]; known || c.size+len(o.data) > maxKnown {
		return
	}
	if c.objects == nil {
		c.objects = map[string]object{}
	}
	c.objects[oid] = o
	c.size += len(o.data)
}

// read reads objects and checks each against its id. Files over the limit, and objects that
// are missing, have an error of their own.
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
	failed, sizes, err := r.checkSizes(ctx, unknown, limit)
	if err != nil {
		return nil, err
	}
	maps.Copy(objects, failed)
	loaded, err := r.load(ctx, slices.Collect(maps.Keys(sizes)))
	if err != nil {
		return nil, err
	}
	maps.Copy(objects, loaded)
	return objects, nil
}

// checkSizes returns the sizes of the objects that can be read. The result failed says why the
// others cannot be read: they are files over the limit, or missing.
func (r *Repo) checkSizes(ctx context.Context, oids []string, limit int64) (failed map[string]object, sizes map[string]int64, err error) {
	failed, sizes = map[string]object{}, make(map[string]int64, len(oids))
	err = r.inspect(ctx, oids, func(h header) {
		switch {
		case h.kind == "":
			failed[h.oid] = r.missing()
		case h.kind == "blob" && h.size > limit:
			failed[h.oid] = object{err: fmt.Errorf("%w: %s, at most %s are read", ErrTooLarge, text.Bytes(h.size), text.Bytes(limit))}
		default:
			sizes[h.oid] = h.size
		}
	})
	return failed, sizes, err
}

// missing returns the entry for an object that the clone does not have.
func (r *Repo) missing() object {
	return object{err: fmt.Errorf("the file's object is not in the clone%s: %s", r.WhyMissing(), deepen)}
}

// load reads objects whose sizes have been checked, and checks each against its id.
func (r *Repo) load(ctx context.Context, oids []string) (map[string]object, error) {
	objects := make(map[string]object, len(oids))
	err := r.contents(ctx, oids, func(h header, data []byte) error {
		o := object{kind: h.kind, data: data}
		switch {
		case h.kind == "":
			o = r.missing()
		case !hasID(o, h.oid):
			return fmt.Errorf("%w (%s)", ErrForged, h.oid)
		}
		objects[h.oid] = o
		r.known.add(h.oid, o)
		return nil
	})
	return objects, err
}

// IsBlob reports whether an id is that of a file with this content.
func IsBlob(oid string, content []byte) bool {
	return hasID(object{kind: "blob", data: content}, oid)
}

// hasID reports whether an id is the hash of an object.
func hasID(o object, oid string) bool { return o.id(len(oid)) == oid }

// id returns the object's id in a repository whose ids have that many hex digits, 40 or 64.
func (o object) id(digits int) string {
	var h hash.Hash
	if digits == 64 {
		h = sha256.New()
	} else {
		h = sha1.New()
	}
	_, _ = h.Write(o.header())
	_, _ = h.Write(o.data)
	return hex.EncodeToString(h.Sum(nil))
}

// header returns the bytes that git puts before the content of an object, when it stores or hashes
// it.
func (o object) header() []byte { return fmt.Appendf(nil, "%s %d\x00", o.kind, len(o.data)) }

// writeObject writes an object as a file of its own, and returns its id.
func (r *Repo) writeObject(o object) (string, error) {
	oid := o.id(r.IDLen())
	dir := filepath.Join(r.gitDir(), "objects", oid[:2])
	path := filepath.Join(dir, oid[2:])
	if _, err := os.Stat(path); err == nil {
		return oid, nil
	}
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, _ = z.Write(o.header()) // a buffer takes everything
	_, _ = z.Write(o.data)
	_ = z.Close()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	// git must not read a part of it.
	f, err := os.CreateTemp(dir, "tmp_obj_")
	if err != nil {
		return "", err
	}
	_, err = f.Write(packed.Bytes())
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	return oid, os.Rename(f.Name(), path)
}
