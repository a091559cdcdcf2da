package tools

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
)

// Before is a file as it was before a call changed it, and what the call makes of it.
type Before struct {
	Path    string // absolute, symbolic links resolved
	Existed bool
	Data    []byte      // the content, unless Lost
	Lost    bool        // the content was too large to keep: it can't be put back
	Perm    fs.FileMode // of a file that existed
	After   string      // what SumOf says of the new content; "" when the call deletes the file
}

// SumOf tells one content of a file from another.
func SumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// KeepBefore hands over what a call is about to change. It must be kept before anything is
// written, or nothing is.
func (c Call) KeepBefore(files ...Before) error {
	if c.Keep == nil {
		return nil
	}
	if err := c.Keep(files); err != nil {
		return fmt.Errorf("nothing was written, because the content before it could not be kept for /undo: %w", err)
	}
	return nil
}
