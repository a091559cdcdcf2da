//go:build !linux

package sessions

import "os"

// datasync writes the contents of f to the disk.
func datasync(f *os.File) error { return f.Sync() }
