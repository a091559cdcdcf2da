//go:build !linux

package executed

import "os"

// stampOf returns the stamp of a file or folder.
func stampOf(info os.FileInfo) stamp {
	return stamp{size: info.Size(), mode: info.Mode(), mod: info.ModTime().UnixNano()}
}
