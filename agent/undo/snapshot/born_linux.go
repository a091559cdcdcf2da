package snapshot

import (
	"time"

	"golang.org/x/sys/unix"
)

// born returns when a file was created or, if the file system does not record that, when it was last changed.
func born(e *entry) time.Time {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, e.path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &st)
	if err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return time.Unix(0, e.stamp.ctime)
	}
	return time.Unix(st.Btime.Sec, int64(st.Btime.Nsec))
}
