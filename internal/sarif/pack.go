package sarif

import (
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

// MaxPacked is the most that code scanning takes, in bytes of gzip.
const MaxPacked = 10_000_000

// Pack returns a log as code scanning takes it: the base64 of its gzip. The
// same log packs the same every time.
func Pack(log []byte) (string, error) {
	packed, _, err := pack(log)
	return packed, err
}

// Unpack undoes Pack, for tests and for showing what was sent; it reads at most
// limit bytes.
func Unpack(packed string, limit int64) ([]byte, error) {
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed)))
	if err != nil {
		return nil, fmt.Errorf("the packed SARIF log is no gzip in base64: %w", err)
	}
	log, err := io.ReadAll(io.LimitReader(z, limit+1))
	if err != nil {
		return nil, fmt.Errorf("the packed SARIF log is damaged: %w", err)
	}
	if int64(len(log)) > limit {
		return nil, fmt.Errorf("the packed SARIF log is longer than %s", text.Bytes(limit))
	}
	return log, nil
}

func pack(log []byte) (packed string, size int, err error) {
	var b strings.Builder
	encoder := base64.NewEncoder(base64.StdEncoding, &b)
	counted := &counter{Writer: encoder}
	z := gzip.NewWriter(counted)
	_, err = z.Write(log)
	for _, closer := range []io.Closer{z, encoder} {
		if e := closer.Close(); err == nil {
			err = e
		}
	}
	if err != nil {
		return "", 0, fmt.Errorf("packing the SARIF log: %w", err)
	}
	return b.String(), counted.n, nil
}

// counter counts what is written through it.
type counter struct {
	io.Writer
	n int
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n += n
	return n, err
}
