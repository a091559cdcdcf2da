//go:build !linux

package sessions

import "os"

// datasync brings f to the disk.
func datasync(f *os.File) error { return f.Sync() }
