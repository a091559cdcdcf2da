package sessions

import (
	"errors"
	"os"
	"syscall"
)

// datasync writes the contents of f to the disk. It ignores file systems without support, because nothing better is
// possible.
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
