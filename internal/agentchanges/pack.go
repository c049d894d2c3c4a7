package agentchanges

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/text"
)

// Limits of what a pack contains when it is unpacked, in bytes.
const (
	maxPackObject = 100 << 20 // each object; GitHub accepts no larger file
	maxUnpacked   = 1 << 30   // all objects together
)

// The types of deltas: objects that a pack stores as the difference from another one.
const (
	offsetDelta = 6
	refDelta    = 7
)

var errPack = errors.New("its pack of objects cannot be read: the file is cut off or damaged, write it again")

// checkPack returns gitrepo.ErrTooLarge if the objects of a pack exceed the limits, and errPack if
// the pack cannot be read. A few megabytes can unpack to many gigabytes. checkPack reads the pack
// like git index-pack, without resolving deltas: see gitformat-pack(5). idLen is the length of an
// object id in bytes.
func checkPack(pack []byte, idLen int) error {
	if len(pack) < 12+idLen || string(pack[:4]) != "PACK" {
		return errPack
	}
	count := binary.BigEndian.Uint32(pack[8:])
	r := bytes.NewReader(pack[12:])
	var inflate io.ReadCloser
	content := bufio.NewReader(nil)
	left := int64(maxUnpacked)
	for range count {
		kind, size, err := objectHeader(r)
		if err != nil {
			return errPack
		}
		switch kind {
		case offsetDelta:
			err = skipOffset(r)
		case refDelta:
			_, err = r.Seek(int64(idLen), io.SeekCurrent)
		}
		if err != nil {
			return errPack
		}
		if err := takeSize(&left, size); err != nil {
			return err
		}
		if inflate == nil {
			inflate, err = zlib.NewReader(r)
		} else {
			err = inflate.(zlib.Resetter).Reset(r, nil)
		}
		if err != nil {
			return errPack
		}
		content.Reset(inflate)
		if kind == offsetDelta || kind == refDelta { // begins with the sizes before and after
			if _, err := binary.ReadUvarint(content); err != nil {
				return errPack
			}
			after, err := binary.ReadUvarint(content)
			if err != nil {
				return errPack
			}
			if err := takeSize(&left, after); err != nil {
				return err
			}
		}
		// git refuses content that is longer than its size. Reading one byte more makes zlib look for the end.
		if _, err := io.Copy(io.Discard, io.LimitReader(content, int64(size)+1)); err != nil {
			return errPack
		}
	}
	return nil
}

// takeSize subtracts the size of an object from the bytes left. The error is gitrepo.ErrTooLarge if
// it exceeds them, or maxPackObject.
func takeSize(left *int64, size uint64) error {
	if size > maxPackObject {
		return fmt.Errorf("%w: it contains an object of %s, and at most %s are accepted", gitrepo.ErrTooLarge, text.Bytes(int64(min(size, 1<<60))), text.Bytes(maxPackObject))
	}
	if *left -= int64(size); *left < 0 {
		return fmt.Errorf("%w: its objects have more than %s together", gitrepo.ErrTooLarge, text.Bytes(maxUnpacked))
	}
	return nil
}

// objectHeader reads the type and the size of an object. The first byte has three bits of
// type and four of size, each further byte seven bits of size.
func objectHeader(r io.ByteReader) (kind byte, size uint64, err error) {
	b, err := r.ReadByte()
	kind, size = b>>4&7, uint64(b&15)
	for shift := 4; err == nil && b&0x80 != 0; shift += 7 {
		if shift > 56 {
			return 0, 0, errPack
		}
		b, err = r.ReadByte()
		size |= uint64(b&0x7f) << shift
	}
	return kind, size, err
}

// skipOffset skips the number that locates the object from which a delta differs.
func skipOffset(r io.ByteReader) error {
	for {
		if b, err := r.ReadByte(); err != nil || b&0x80 == 0 {
			return err
		}
	}
}
