package sessions

import (
	"errors"
	"os"
	"syscall"
)

// datasync brings the contents of f to the disk. A file system that cannot do that
// is not an error: there is nothing better to do.
func datasync(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var result error
	err = conn.Control(func(fd uintptr) {
		for result = syscall.EINTR; errors.Is(result, syscall.EINTR); {
			result = syscall.Fdatasync(int(fd))
		}
	})
	if errors.Is(result, syscall.EINVAL) {
		result = nil
	}
	return errors.Join(err, result)
}
