package loopref

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/githubapi"
)

// GitHub is what the store needs of GitHub; *githubapi.Client has it.
type GitHub interface {
	FilesOnRefs(ctx context.Context, r githubapi.Repo, q githubapi.RefQuery) (githubapi.FilesOnRefs, error)
	GetFile(ctx context.Context, r githubapi.Repo, name, ref string) ([]byte, error)
	CommitFiles(ctx context.Context, r githubapi.Repo, files []githubapi.Addition, message, parent string) (string, error)
	MoveRef(ctx context.Context, r githubapi.Repo, repository, ref, before, after string) error
}

// Store reads and writes the logs of a repository's loops.
type Store struct {
	GitHub GitHub         // required
	Repo   githubapi.Repo // required
	// Secret signs the logs; "" leaves them unsigned. A log is read only with the secret that
	// signed it.
	Secret string

	repository string // its node id, as Load and Open read it
	ahead      *githubapi.FilesOnRefs
	aheadOf    int // the pull request that ahead is about, 0 for all open loops
}

const (
	refPrefix = "refs/airlock/loops/"
	fileName  = "log.jsonl"
)

// ErrMoved is the error about a log that another job has continued at the same moment. Load it
// again, and decide again.
var ErrMoved = errors.New("another job has continued the loop at the same moment")

// ReadAhead reads a file together with what the next Load of a pull request needs, or the next Open
// if number is 0. That saves a request. It returns the file's content, or nil if GitHub does not
// include it, so that the file has to be read by itself.
func (s *Store) ReadAhead(ctx context.Context, number int, file githubapi.FileAt) (*string, error) {
	found, err := s.GitHub.FilesOnRefs(ctx, s.Repo, query(number, file))
	if err != nil {
		return nil, err
	}
	s.ahead, s.aheadOf = &found, number
	return found.Also, nil
}

// read returns what ReadAhead has read, but only once. Otherwise it reads from GitHub.
func (s *Store) read(ctx context.Context, number int) (githubapi.FilesOnRefs, error) {
	if found := s.ahead; found != nil && s.aheadOf == number {
		s.ahead = nil
		return *found, nil
	}
	return s.GitHub.FilesOnRefs(ctx, s.Repo, query(number, githubapi.FileAt{}))
}

// query asks for a file, and for the logs of a pull request's loops and the pull request itself or,
// if number is 0, for the refs of all loops.
func query(number int, also githubapi.FileAt) githubapi.RefQuery {
	if number == 0 {
		return githubapi.RefQuery{Prefix: refPrefix, Containing: "-", Also: also}
	}
	return githubapi.RefQuery{Prefix: refPrefix, Containing: strconv.Itoa(number) + "-", File: fileName, Pull: number, Also: also}
}

// Load returns the newest loop of a pull request, nil if it never had one, and how the pull
// request stands.
func (s *Store) Load(ctx context.Context, number int) (*Log, *githubapi.PullNow, error) {
	found, err := s.read(ctx, number)
	if err != nil {
		return nil, nil, err
	}
	s.repository = found.Repository
	var newest githubapi.FileOnRef
	ordinal := 0
	for _, f := range found.Files {
		if n, o, ok := parseRef(f.Ref); ok && n == number && o > ordinal {
			newest, ordinal = f, o
		}
	}
	if ordinal == 0 {
		return nil, found.Pull, nil
	}
	l, err := s.readLog(ctx, newest)
	if err != nil {
		return nil, nil, err
	}
	if loop := l.State.Loop(); loop.Issue != number || loop.Ordinal != ordinal || !strings.EqualFold(loop.Repository, s.Repo.String()) {
		return nil, nil, fmt.Errorf("%s: it has the log of another loop: %s#%d, loop %d", newest.Ref, loop.Repository, loop.Issue, loop.Ordinal)
	}
	return l, found.Pull, nil
}

// readLog reads a log, with its snapshot if that is needed.
func (s *Store) readLog(ctx context.Context, f githubapi.FileOnRef) (*Log, error) {
	if f.Commit == "" {
		return nil, fmt.Errorf("%s is not a commit, so that it has no log: somebody has replaced it; push the loop's own commit there again, or remove it with 'git push origin :%s' and the comment that shows the loop", f.Ref, f.Ref)
	}
	text := []byte(f.Text)
	if f.Truncated {
		var err error
		if text, err = s.GitHub.GetFile(ctx, s.Repo, fileName, f.Commit); err != nil {
			return nil, err
		}
	}
	l, err := decode(text, f.Ref, s.chain(f.Ref))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Ref, err)
	}
	l.Commit = f.Commit
	if l.diverged == 0 {
		return l, nil
	}
	if text, err = s.GitHub.GetFile(ctx, s.Repo, snapshotFile, f.Commit); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Ref, l.otherRules(err))
	}
	if err := l.restore(text); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Ref, err)
	}
	return l, nil
}

// Begin returns the log of a new loop, which is written by its first Save. before is the
// pull request's last loop, nil if it has none.
func (s *Store) Begin(before *Log, loop fixloop.Loop, at time.Time) (*Log, error) {
	loop.Repository, loop.Ordinal = s.Repo.String(), 1
	l := &Log{Commit: githubapi.NoCommit}
	if before != nil {
		loop.Ordinal = before.State.Loop().Ordinal + 1
	}
	l.Ref = refPrefix + Name(loop.Issue, loop.Ordinal)
	l.chain = s.chain(l.Ref)
	if err := l.add(Record{Loop: &loop, At: at}); err != nil {
		return nil, err
	}
	return l, nil
}

// chain returns the chain that computes the sums of a ref's log. They depend on the repository and
// the ref, so that one log cannot be used in place of another.
func (s *Store) chain(ref string) chain {
	return chain{s.Secret, strings.ToLower(s.Repo.String()) + " " + ref}
}

// Save writes a log that was begun or continued after Load. After ErrMoved it was not written.
func (s *Store) Save(ctx context.Context, l *Log, now time.Time) error {
	text, err := l.encode()
	if err != nil {
		return err
	}
	parent := l.Commit
	if parent == githubapi.NoCommit {
		parent = ""
	}
	state, err := l.snapshot()
	if err != nil {
		return err
	}
	files := []githubapi.Addition{{Path: fileName, Data: text}, {Path: snapshotFile, Data: state}, {Path: "log.md", Data: []byte(fixloop.NewLog(l.State, l.Messages, now).Page())}}
	commit, err := s.GitHub.CommitFiles(ctx, s.Repo, files, l.headline(), parent)
	if err != nil {
		return err
	}
	moveErr := s.GitHub.MoveRef(ctx, s.Repo, s.repository, l.Ref, l.Commit, commit)
	if moveErr == nil {
		l.Commit = commit
		return nil
	}
	// GitHub's words for a ref that has moved are not documented, and an answer may be lost: the ref
	// itself shows what happened.
	found, err := s.GitHub.FilesOnRefs(ctx, s.Repo, githubapi.RefQuery{Prefix: refPrefix, Containing: l.Name()})
	if err != nil {
		return moveErr
	}
	current := githubapi.NoCommit
	for _, f := range found.Files {
		if f.Ref == l.Ref {
			current = f.Commit
		}
	}
	switch current {
	case commit:
		l.Commit = commit
		return nil
	case l.Commit:
		return moveErr
	}
	return ErrMoved
}

// The words for a loop's state in the headline of its commit. Open looks for headlineEnded.
const (
	headlineOpen  = "open"
	headlineEnded = "ended"
)

func (l *Log) headline() string {
	state := headlineOpen
	if l.State.Status().Final() {
		state = headlineEnded
	}
	return fmt.Sprintf("Loop %s %s: %s, iteration %d of %d", l.Name(), state, l.State.Status(), l.State.Iteration(), l.State.MaxIterations())
}

// Open returns the numbers of the pull requests whose newest loop has not ended according to the
// message of its commit. Load finds out whether that is true.
func (s *Store) Open(ctx context.Context) ([]int, error) {
	found, err := s.read(ctx, 0)
	if err != nil {
		return nil, err
	}
	s.repository = found.Repository
	newest, open := map[int]int{}, map[int]bool{}
	var numbers []int
	for _, f := range found.Files {
		n, o, ok := parseRef(f.Ref)
		if !ok || o < newest[n] {
			continue
		}
		if newest[n] == 0 {
			numbers = append(numbers, n)
		}
		newest[n], open[n] = o, !strings.Contains(f.Headline, " "+headlineEnded+": ")
	}
	var out []int
	for _, n := range numbers {
		if open[n] {
			out = append(out, n)
		}
	}
	return out, nil
}

// parseRef reads the number and the ordinal of a loop's ref.
func parseRef(ref string) (number, ordinal int, ok bool) {
	n, o, found := strings.Cut(strings.TrimPrefix(ref, refPrefix), "-")
	number, errN := strconv.Atoi(n)
	ordinal, errO := strconv.Atoi(o)
	return number, ordinal, found && errN == nil && errO == nil && number > 0 && ordinal > 0 && ref == refPrefix+Name(number, ordinal)
}
