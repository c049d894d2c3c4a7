package httpapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// Listener returns a listener for the http.Server that Server.HTTP returns. There are requests that
// net/http answers by itself, in plain text and before any handler sees them. The listener's
// connections send such an answer as JSON, like every other error. Under TLS the answer is encrypted
// already, and stays as it is.
func Listener(l net.Listener) net.Listener { return jsonListener{l} }

type jsonListener struct{ net.Listener }

// Accept implements net.Listener.
func (l jsonListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok && err == nil {
		return jsonConn{tcp}, nil
	}
	return c, err
}

// jsonConn is a connection that sends the answers of net/http itself as JSON.
type jsonConn struct{ *net.TCPConn }

// Write implements net.Conn.
func (c jsonConn) Write(p []byte) (int, error) {
	own := jsonAnswer(p)
	if own == nil {
		return c.TCPConn.Write(p)
	}
	if _, err := c.TCPConn.Write(own); err != nil {
		return 0, err
	}
	return len(p), nil
}

// net/http writes each of its own answers in one piece. Most have a status line, ownHeaders and a
// short text. The refusal of an expectation has no text, and there is one answer to a client that
// speaks HTTP where TLS is spoken. Nothing that a handler writes looks like them: the first piece
// of its answer has other headers, and each later piece ends with the end of a chunk.
const (
	maxOwnAnswer    = 512
	ownHeaders      = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
	ownExpectation  = "HTTP/1.1 417 Expectation Failed\r\nConnection: close\r\n"
	ownHTTPWhereTLS = "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"
)

// ownErrors are the answers to requests that no handler sees, by their status.
var ownErrors = map[int]ErrorBody{
	http.StatusBadRequest:                  {Error: "invalid_request", Message: "this is not a request of HTTP/1.1"},
	http.StatusRequestHeaderFieldsTooLarge: {Error: "header_too_large", Message: fmt.Sprintf("the address and the headers are larger than %d KiB together: send what is long in the body", maxHeader>>10)},
	http.StatusExpectationFailed:           {Error: "expectation_failed", Message: "of the header Expect only 100-continue is understood: leave it out"},
	http.StatusNotImplemented:              {Error: "not_implemented", Message: "of Transfer-Encoding only chunked is understood"},
	http.StatusHTTPVersionNotSupported:     {Error: "version_not_supported", Message: "HTTP/1.1 and HTTP/1.0 are spoken here, and HTTP/2 over TLS"},
}

// jsonAnswer returns the answer as JSON if it is one of net/http's own, or nil.
func jsonAnswer(p []byte) []byte {
	if len(p) > maxOwnAnswer || !bytes.HasPrefix(p, []byte("HTTP/1.")) {
		return nil
	}
	status, message, detail := 0, "", ""
	head, text, found := bytes.Cut(p, []byte(ownHeaders))
	switch {
	case found && !bytes.ContainsAny(head, "\r\n"):
		_, line, _ := strings.Cut(string(head), " ")
		code, _, _ := strings.Cut(line, " ")
		status, _ = strconv.Atoi(code) // what is not a number gives 0, which is not a status
		if _, more, ok := bytes.Cut(text, []byte(": ")); ok && status == http.StatusBadRequest {
			detail = ": " + string(more)
		}
	case bytes.HasPrefix(p, []byte(ownExpectation)) && bytes.HasSuffix(p, []byte("\r\n\r\n")):
		status = http.StatusExpectationFailed
	case string(p) == ownHTTPWhereTLS:
		status, message = http.StatusBadRequest, "this port speaks TLS, so use an address that begins with https"
	}
	e, known := ownErrors[status]
	if !known {
		return nil
	}
	e.Message = cmp.Or(message, e.Message+detail)
	body, _ := json.Marshal(e) // texts can be written
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n%s\n",
		status, http.StatusText(status), len(body)+1, body)
}
