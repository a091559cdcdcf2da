package owners

import (
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// windows reports whether this is the Windows Subsystem for Linux.
var windows = sync.OnceValue(func() bool {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	return err == nil && strings.Contains(strings.ToLower(string(release)), "microsoft")
})

// withoutRights reports whether a path is on a Windows drive. There every file seems to be writable by everybody, but
// Windows decides who may write.
func withoutRights(path string) bool {
	var st unix.Statfs_t
	return windows() && unix.Statfs(path, &st) == nil && (st.Type == unix.V9FS_MAGIC || int64(st.Type) == drvfs)
}

// drvfs is the file system type of Windows drives in version 1 of the subsystem.
const drvfs = 0x53464846
