package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/text"
)

// stdio is a client's messages on standard input and output, one on each line. By itself, the SDK
// ends the session at the first line that is not a message, and drops requests without an answer
// when the input ends. stdio answers such a line with an error, and lets the SDK see the end of the
// input only when every request has its answer.
type stdio struct {
	in  *bufio.Reader
	out io.Writer

	mu      sync.Mutex      // guards open and closed, and is held while a line is written
	open    map[string]bool // the ids of requests without an answer, see requestID
	changed *sync.Cond      // open or closed has changed
	closed  bool

	rest []byte // of the current line
}

// serveStdio lets a server answer one client until it goes away or the context ends. The error is
// one of reading or writing, and carries its exit code.
func serveStdio(ctx context.Context, server *mcp.Server, in io.Reader, out io.Writer) error {
	client := newStdio(in, out)
	session, err := server.Connect(ctx, &mcp.IOTransport{Reader: client, Writer: client, MaxLineLength: maxMessage + 1}, nil)
	if err == nil { // not Server.Run, which logs the context's end as an error
		stop := context.AfterFunc(ctx, func() { _ = session.Close() })
		err = session.Wait()
		stop()
	}
	if err == nil || errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return exitcode.FailedError(fmt.Errorf("the client's messages cannot be read or answered: %w", err))
}

func newStdio(in io.Reader, out io.Writer) *stdio {
	s := &stdio{in: bufio.NewReaderSize(in, 64<<10), out: out, open: map[string]bool{}}
	s.changed = sync.NewCond(&s.mu)
	return s
}

// Read implements io.Reader.
func (s *stdio) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		line, err := s.line()
		if err != nil {
			s.waitForAnswers()
			return 0, err
		}
		s.rest = line
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// line returns the next message with its newline, nil for a line that the SDK does not get: a
// response, a blank line, or one that it has refused with an answer.
func (s *stdio) line() ([]byte, error) {
	line, err := s.readLine()
	if errors.Is(err, errLong) {
		return nil, s.refuse(codeParse, fmt.Sprintf("a message is longer than %d MiB; send a shorter one", maxMessage>>20))
	}
	message := bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff"))) // some shells begin what they pipe with it
	if len(message) == 0 {
		return nil, err
	}
	if problem := checkMessage(message); problem != "" {
		return nil, s.refuse(codeParse, problem)
	}
	id, ignored, problem := checkEnvelope(message)
	if problem != "" {
		return nil, s.refuse(codeInvalid, problem)
	}
	if ignored {
		return nil, nil
	}
	if id != "" {
		s.mu.Lock()
		again := s.open[id]
		s.open[id] = true
		s.mu.Unlock()
		if again {
			return nil, s.refuse(codeInvalid, "a request with this id has no answer yet: give each request an id of its own")
		}
	}
	return append(message, '\n'), nil
}

var errLong = errors.New("the message is too long")

// readLine returns a line with its newline; at the end of the input the last one, and then
// io.EOF. The error is errLong for a line of more than maxMessage bytes.
func (s *stdio) readLine() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := s.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxMessage; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long:
			return nil, errLong
		case err != nil && len(line) > 0:
			return line, nil
		}
		return line, err
	}
}

// maxNesting is how deep a message may be nested. At 1,000 the SDK ends the session.
const maxNesting = 512

// checkMessage returns why a line cannot be read as a message; "" if it can.
func checkMessage(message []byte) string {
	dec := jsontext.NewDecoder(bytes.NewReader(message), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if dec.PeekKind() != '{' {
		return "a message must be one JSON object on one line"
	}
	names := map[string]bool{} // of the message
	var inner map[string]bool  // of the member that is being read, such as "params"
	for first := true; first || dec.StackDepth() > 0; first = false {
		token, err := dec.ReadToken()
		if err != nil {
			return "the message is not JSON: " + err.Error()
		}
		depth := dec.StackDepth()
		if kind, n := dec.StackIndex(depth); kind == '{' && depth <= 2 && n%2 == 1 { // a name
			name, known := token.String(), inner
			if depth == 1 {
				known, inner = names, map[string]bool{}
			}
			if known[name] {
				return fmt.Sprintf("the message has %q twice", text.Truncate(name, 100))
			}
			known[name] = true
		}
		if dec.StackDepth() > maxNesting {
			return fmt.Sprintf("the message is nested more than %d deep", maxNesting)
		}
	}
	if rest := bytes.TrimSpace(message[dec.InputOffset():]); len(rest) > 0 {
		return "a message must be one JSON object on one line, and this line has more"
	}
	return ""
}

// checkEnvelope returns the id of a request, "" for a notification, or why an object is not a message
// of JSON-RPC 2.0. A response is to be ignored, because the server asks its client nothing.
func checkEnvelope(message []byte) (id string, ignored bool, problem string) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(message, &members); err != nil {
		return "", false, "the message is not JSON: " + err.Error()
	}
	var version, method string
	if json.Unmarshal(members["jsonrpc"], &version) != nil || version != "2.0" {
		return "", false, `a message must have "jsonrpc": "2.0"`
	}
	if _, ok := members["method"]; !ok {
		if members["result"] != nil || members["error"] != nil {
			return "", true, ""
		}
		return "", false, `a message must have a "method"`
	}
	if json.Unmarshal(members["method"], &method) != nil || method == "" {
		return "", false, `"method" must be a text`
	}
	raw, given := members["id"]
	if !given {
		return "", false, ""
	}
	if id = requestID(raw); id == "" {
		return "", false, `"id" must be a text or a whole number`
	}
	return id, false, ""
}

// maxID is the largest whole number that every client and server reads as it is written.
const maxID = 1<<53 - 1

// requestID returns an id in one form, however it is written in JSON; "" for what is not an id.
func requestID(raw json.RawMessage) string {
	var word string
	if json.Unmarshal(raw, &word) == nil && raw[0] == '"' {
		return "text " + word
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil && n >= -maxID && n <= maxID {
		return strconv.FormatInt(n, 10)
	}
	return ""
}

// The codes of JSON-RPC for a line that is not JSON, and for JSON that is not a message.
const (
	codeParse   = -32700
	codeInvalid = -32600
)

// refuse answers a line with an error of JSON-RPC. The answer has no id: by an id, the client could
// mistake it for the answer to another request.
func (s *stdio) refuse(code int, problem string) error {
	answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": problem}})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err = s.out.Write(append(answer, '\n'))
	return err
}

// Write implements io.Writer. The SDK writes a message with each call.
func (s *stdio) Write(p []byte) (int, error) {
	var answer struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	isAnswer := json.Unmarshal(p, &answer) == nil && answer.ID != nil && answer.Method == ""
	s.mu.Lock()
	defer s.mu.Unlock()
	if isAnswer {
		delete(s.open, requestID(answer.ID))
		s.changed.Broadcast()
	}
	if _, err := s.out.Write(shorten(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close implements io.Closer.
func (s *stdio) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.changed.Broadcast()
	return nil
}

func (s *stdio) waitForAnswers() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.open) > 0 && !s.closed {
		s.changed.Wait()
	}
}
