package fs

import (
	"os"

	"golang.org/x/sys/unix"
)

// Sync waits until the file systems of folders are on the disk.
func Sync(dirs []string) {
	for _, dir := range dirs {
		if f, err := os.Open(dir); err == nil {
			_ = unix.Syncfs(int(f.Fd())) // the files are written, only a power failure could lose them
			Release(f)
		}
	}
}
