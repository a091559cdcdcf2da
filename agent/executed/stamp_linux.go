package executed

import (
	"os"
	"syscall"
)

// stampOf returns the stamp of a file or folder.
func stampOf(info os.FileInfo) stamp {
	s := stamp{size: info.Size(), mode: info.Mode(), mod: info.ModTime().UnixNano()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.inode, s.changed = sys.Ino, sys.Ctim.Nano()
	}
	return s
}
