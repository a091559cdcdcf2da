package sessions

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
)

const maxID = 100 // bytes; leaves room for a suffix in any file system

// NewID returns a new random id, xxxx-xxxx-xxxx-xxxx in hexadecimal.
func NewID() string {
	var raw [8]byte
	rand.Read(raw[:]) // never fails
	h := hex.EncodeToString(raw[:])
	return h[:4] + "-" + h[4:8] + "-" + h[8:12] + "-" + h[12:]
}

// CheckID returns an error unless id is valid for a session. It checks every id from outside, so that none can name a
// file elsewhere.
func CheckID(id string) error {
	if id == "" || len(id) > maxID || id == "." || id == ".." {
		return fmt.Errorf("session id %q: want 1 to %d of the characters A-Z a-z 0-9 . _ -", id, maxID)
	}
	for _, c := range []byte(id) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return fmt.Errorf("session id %q: %q is not allowed (want A-Z a-z 0-9 . _ -)", id, c)
		}
	}
	return nil
}
