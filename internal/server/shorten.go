package server

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/agent-airlock/airlock/internal/text"
)

// maxError is how long the message of an error may be, in characters. The SDK quotes the request in
// it, which can be of any length.
const maxError = 1000

// shorten returns a message that the SDK has written. If the message is a long error, its text is
// cut, and long data is left out.
func shorten(written []byte) []byte {
	begin := bytes.IndexByte(written, '{') // after the name of a server-sent event
	if len(written) <= maxError || begin < 0 {
		return written
	}
	var answer struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *struct {
			Code    int64           `json:"code"`
			Message string          `json:"message"`
			Data    json.RawMessage `json:"data,omitempty"`
		} `json:"error"`
	}
	if json.Unmarshal(written[begin:], &answer) != nil || answer.Error == nil {
		return written
	}
	answer.Error.Message = text.Truncate(answer.Error.Message, maxError)
	if len(answer.Error.Data) > maxError {
		answer.Error.Data = nil
	}
	message, err := json.Marshal(answer)
	if err != nil {
		return written
	}
	end := bytes.TrimRight(written, "\n")
	return bytes.Join([][]byte{written[:begin], message, written[len(end):]}, nil)
}

// shortening is a response in which errors are cut.
type shortening struct{ http.ResponseWriter }

// Write implements io.Writer. The SDK writes a message with each call.
func (w shortening) Write(p []byte) (int, error) {
	if _, err := w.ResponseWriter.Write(shorten(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Unwrap is for http.ResponseController.
func (w shortening) Unwrap() http.ResponseWriter { return w.ResponseWriter }
