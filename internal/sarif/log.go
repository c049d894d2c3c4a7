package sarif

import "encoding/json"

// Log is a SARIF log that was read.
type Log struct {
	raw   json.RawMessage
	root  object
	nulls int // how many members of raw are null; root is without them
}

// Read reads a log. The error is about the log: it is not a JSON object, or nested too deeply.
func Read(raw json.RawMessage) (*Log, error) {
	root, nulls, err := decode(raw)
	if err != nil {
		return nil, err
	}
	return &Log{raw, root, nulls}, nil
}

// JSON returns the log as JSON.
func (l *Log) JSON() json.RawMessage { return l.raw }
