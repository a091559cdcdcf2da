package tools

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
)

// Before holds a file's state before a call changed it, and the checksum of its new content.
type Before struct {
	Path    string // absolute, symbolic links resolved
	Existed bool
	Data    []byte      // the content, unless Lost
	Lost    bool        // the content was too large to keep and can't be restored
	Perm    fs.FileMode // of a file that existed
	After   string      // SumOf the new content; "" when the call deletes the file
}

// Sum returns [SumOf] the earlier content, "" when there was no file.
func (b Before) Sum() string {
	if !b.Existed {
		return ""
	}
	return SumOf(b.Data)
}

// SumOf returns a checksum that distinguishes two contents of a file.
func SumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// KeepBefore stores the files that a call is about to change. Call it before any write; on an
// error nothing may be written.
func (c Call) KeepBefore(files ...Before) error {
	if c.Keep == nil {
		return nil
	}
	if err := c.Keep(files); err != nil {
		return fmt.Errorf("nothing was written, because the earlier content could not be saved for an undo: %w", err)
	}
	return nil
}
