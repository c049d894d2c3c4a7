package gitrepo

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// LimitError is a server's answer that there are too many requests. Nothing was done.
type LimitError struct {
	Status int           // the HTTP status of the answer
	Wait   time.Duration // how long the server asks to wait; 0: it does not say
	Reason string        // one line that the server printed, or else git
}

// Error implements error.
func (e *LimitError) Error() string { return "the server asks to slow down: " + e.Reason }

// Is makes errors.Is(err, ErrUnreachable) true: a later try may succeed.
func (e *LimitError) Is(target error) bool { return target == ErrUnreachable }

// limitWords matches GitHub's words about its limits. GitHub may send them with status 403, which
// alone means something else.
var limitWords = lazyregexp.New(`(?i)rate limit|too many requests|abuse detection`)

// limitOf returns the LimitError of what git printed; nil if it is about something else. Status 503
// counts if the server says how long to wait.
func limitOf(out Output, reason string) *LimitError {
	code := httpStatus.FindStringSubmatch(out.Stderr)
	if code == nil {
		return nil
	}
	status, _ := strconv.Atoi(code[1])
	switch {
	case status == http.StatusTooManyRequests:
	case status == http.StatusServiceUnavailable && out.wait > 0:
	case status == http.StatusForbidden && limitWords.MatchString(reason):
	default:
		return nil
	}
	return &LimitError{Status: status, Wait: out.wait, Reason: reason}
}

// longestLimit bounds LimitError.Wait. No caller waits that long.
const longestLimit = 365 * 24 * time.Hour

// answerTrace reads the headers of the server's answers, which git shows only in its trace. The
// trace also contains the requests, with <redacted> instead of the token. It goes through a pipe to
// this process alone, which keeps only the time to wait.
type answerTrace struct {
	read, write *os.File           // the pipe
	done        chan time.Duration // gets the result of retryAfter
}

// newAnswerTrace returns a trace for a git that inherits it as the descriptor fd, and the
// variables that make git write it.
func newAnswerTrace(fd int) (*answerTrace, []string, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("making a pipe for git's trace: %w", err)
	}
	t := &answerTrace{write: write, read: read, done: make(chan time.Duration, 1)}
	go func() { t.done <- retryAfter(read) }()
	return t, []string{"GIT_TRACE_CURL=" + strconv.Itoa(fd), "GIT_TRACE_CURL_NO_DATA=1", "GIT_TRACE_REDACT=1"}, nil
}

// end returns how long the last answer asks to wait. It is called once git has ended.
func (t *answerTrace) end() time.Duration {
	_ = t.write.Close()
	_ = t.read.SetReadDeadline(time.Now().Add(time.Second)) // a program that git started may keep the pipe open
	wait := <-t.done
	_ = t.read.Close()
	return wait
}

// retryAfter returns the Retry-After of the last answer in a trace, 0 if it has none.
func retryAfter(trace io.Reader) (wait time.Duration) {
	lines := bufio.NewReaderSize(trace, 16<<10)
	date := time.Time{}
	for {
		line, long, err := lines.ReadLine()
		if err != nil {
			return wait
		}
		_, header, ok := strings.Cut(string(line), "<= Recv header: ")
		name, value, _ := strings.Cut(header, ":")
		value = strings.TrimSpace(value)
		switch {
		case long || !ok:
		case strings.HasPrefix(header, "HTTP/"):
			wait, date = 0, time.Time{}
		case strings.EqualFold(name, "Date"):
			date, _ = http.ParseTime(value)
		case strings.EqualFold(name, "Retry-After"):
			if seconds, err := strconv.ParseUint(value, 10, 32); err == nil || errors.Is(err, strconv.ErrRange) {
				wait = min(time.Duration(seconds)*time.Second, longestLimit)
			} else if until, err := http.ParseTime(value); err == nil {
				if date.IsZero() {
					date = time.Now()
				}
				wait = min(max(until.Sub(date), time.Second), longestLimit)
			}
		}
	}
}
