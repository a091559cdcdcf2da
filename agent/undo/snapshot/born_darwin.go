package snapshot

import (
	"time"

	"golang.org/x/sys/unix"
)

// born returns when a file was created or, if that is unknown, when it was last changed.
func born(e *entry) time.Time {
	var st unix.Stat_t
	if err := unix.Lstat(e.path, &st); err != nil {
		return time.Unix(0, e.stamp.ctime)
	}
	return time.Unix(0, unix.TimespecToNsec(st.Btim))
}
