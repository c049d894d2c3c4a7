//go:build unix

package agentchanges_test

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/agentchanges"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

// packObject returns an object of a pack: its header, then the bytes between, then the content,
// compressed.
func packObject(kind byte, size int, between, content []byte) []byte {
	first := kind<<4 | byte(size&15)
	if size >>= 4; size > 0 {
		first |= 0x80
	}
	out := []byte{first}
	for ; size > 0; size >>= 7 {
		b := byte(size & 0x7f)
		if size >= 0x80 {
			b |= 0x80
		}
		out = append(out, b)
	}
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	_, _ = w.Write(content)
	_ = w.Close()
	return append(append(out, between...), z.Bytes()...)
}

// TestBundleOfManyGigabytes asserts that a small bundle that unpacks to more than a gigabyte is
// refused before git unpacks it, as is one that is cut off. Only with the build tag limits is the
// blob as large as it says; without it, and in the other cases, little has to be unpacked.
func TestBundleOfManyGigabytes(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.Write("a", "a\n")
	base := c.Commit("base")
	id, err := hex.DecodeString(c.Git("rev-parse", "HEAD:a"))
	if err != nil {
		t.Fatal(err)
	}
	const large = 90 << 20
	zeros := make([]byte, 1000)
	if shorttest.AtLimits() {
		zeros = make([]byte, large)
	}
	blob := packObject(3, large, nil, zeros)
	delta := binary.AppendUvarint(binary.AppendUvarint(nil, 2), 95<<20)
	grown := packObject(7, len(delta), id, delta)
	for name, x := range map[string]struct {
		object []byte
		count  int
		want   string
	}{
		"files":       {blob, 12, "its objects have more than 1 GiB together"},
		"differences": {grown, 12, "its objects have more than 1 GiB together"},
		"one file":    {packObject(3, 1<<40, nil, nil), 1, "it contains an object of 1 TiB"},
		"cut off":     {blob[:len(blob)-9], 1, "the file is cut off"},
	} {
		pack := []byte("PACK\x00\x00\x00\x02")
		pack = binary.BigEndian.AppendUint32(pack, uint32(x.count))
		pack = append(pack, bytes.Repeat(x.object, x.count)...)
		sum := sha1.Sum(pack)
		data := "# v2 git bundle\n-" + base + "\n" + strings.Repeat("1", 40) + " refs/heads/x\n\n" + string(pack) + string(sum[:])
		_, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: c.Open(), Name: "agent.bundle", Data: []byte(data), Bases: []string{base}})
		if err == nil || !strings.Contains(err.Error(), x.want) || errors.Is(err, gitrepo.ErrTooLarge) == (name == "cut off") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
