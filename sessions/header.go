package sessions

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"buddy/texts/quickjson"
)

// Format is the newest version of the file format that this program reads. A file has the oldest version whose programs
// understand it.
const Format = 2

// formatPlain is the version of files without a rewind. Programs that know only this version would skip a rewind and
// continue a conversation that the person has abandoned.
const formatPlain = 1

// Exec is the value of Header.By for a session that buddy exec or another non-interactive command started.
const Exec = "exec"

var (
	// ErrFormat means that a newer program wrote the session, in another format.
	ErrFormat = errors.New("unknown session format")
	// ErrHeader means that line 1 of the file is damaged. Store.Repair rebuilds it.
	ErrHeader = errors.New("line 1 is not a session header")

	errEmpty = errors.New("line 1 is missing: the file is empty")
)

const maxHeader = 64 << 10 // bytes

// Header is the first line of a session file. MAC proves that it was written on this machine: it is a hash of the rest
// with a key that never leaves the user's state directory.
type Header struct {
	Format  int    `json:"format"`
	ID      string `json:"id"`
	Created int64  `json:"created"` // Unix milliseconds
	Cwd     string `json:"cwd"`
	Target  string `json:"target"`
	Model   string `json:"model"`
	// ForkedFrom is the id of the session that this one was copied from.
	ForkedFrom string `json:"forked_from,omitempty"`
	// By is [Exec], or "" for a session that a person started.
	By  string `json:"by,omitempty"`
	MAC string `json:"mac,omitempty"` // hexadecimal; empty if there was no key
}

// line encodes h, with a MAC if there is a key.
func (h Header) line(key []byte) ([]byte, error) {
	// Invalid UTF-8 would be read back as other bytes and invalidate the MAC.
	for _, s := range []*string{&h.Cwd, &h.Target, &h.Model, &h.ForkedFrom, &h.By} {
		*s = strings.ToValidUTF8(*s, "\ufffd")
	}
	h.MAC = h.mac(key)
	line, err := json.Marshal(h)
	if err == nil && len(line) >= maxHeader {
		err = fmt.Errorf("session header has %d bytes (at most %d)", len(line), maxHeader)
	}
	return append(line, '\n'), err
}

func (h Header) mac(key []byte) string {
	if len(key) == 0 {
		return ""
	}
	h.MAC = ""
	text, err := json.Marshal(h)
	if err != nil {
		return "" // cannot happen: strings and numbers only
	}
	return keyedHash(key, "header", text)
}

// madeWith reports whether h has the MAC of key.
func (h Header) madeWith(key []byte) bool {
	return len(key) > 0 && hmac.Equal([]byte(h.MAC), []byte(h.mac(key)))
}

// trustMark returns the contents of the file that records a person's trust in session id with this header.
func (h Header) trustMark(id string, key []byte) string {
	text, err := json.Marshal(h)
	if err != nil {
		return "" // cannot happen: strings and numbers only
	}
	return keyedHash(key, "trust "+id, text)
}

// keyedHash hashes text for one use, so that a hash for one use is invalid for another.
func keyedHash(key []byte, use string, text []byte) string {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(use + "\x00"))
	m.Write(text)
	return hex.EncodeToString(m.Sum(nil))
}

// readHeader reads the first line of r and returns it with its length.
func readHeader(r io.ReaderAt) (Header, int64, error) {
	buf := make([]byte, 4096)
	var n int
	for {
		var err error
		n, err = r.ReadAt(buf, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return Header{}, 0, err
		}
		if n < len(buf) || len(buf) >= maxHeader || bytes.IndexByte(buf, '\n') >= 0 {
			break
		}
		buf = make([]byte, maxHeader)
	}
	h, rest, err := splitHeader(buf[:n])
	return h, int64(n - len(rest)), err
}

// splitHeader returns the header at the beginning of text, and the rest of text.
func splitHeader(text []byte) (h Header, rest []byte, err error) {
	line, rest, whole := bytes.Cut(text, []byte{'\n'})
	switch {
	case len(text) == 0:
		return Header{}, nil, errEmpty
	case !whole || len(line) >= maxHeader:
		return Header{}, rest, fmt.Errorf("%w: it is incomplete", ErrHeader)
	}
	h, err = parseHeader(line)
	return h, rest, err
}

func parseHeader(line []byte) (Header, error) {
	var h Header
	if err := quickjson.Unmarshal(line, &h); err != nil {
		return Header{}, fmt.Errorf("%w: %w", ErrHeader, err)
	}
	if h.Format == 0 {
		return Header{}, fmt.Errorf("%w: format is missing", ErrHeader)
	}
	if h.Format < formatPlain || h.Format > Format {
		return Header{}, fmt.Errorf("format %d, this program reads up to %d: %w; a newer buddy can resume it", h.Format, Format, ErrFormat)
	}
	return h, nil
}
