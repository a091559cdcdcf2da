package target

import (
	iofs "io/fs"
	"os"
	"path/filepath"
	"time"
)

// Limits of counting the files that a command would delete.
const (
	maxCounted = 50_000
	countTime  = 200 * time.Millisecond
)

// countFiles counts the files at a path of this machine and below it; folder reports whether the path is a folder. ok
// is false when nothing is there, or when counting would keep the user waiting.
func countFiles(path string) (files int, folder, ok bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, false, false
	}
	end, entries := time.Now().Add(countTime), 0
	err = filepath.WalkDir(path, func(_ string, e iofs.DirEntry, err error) error {
		switch entries++; {
		case err != nil:
			return err
		case entries > maxCounted || entries%256 == 0 && time.Now().After(end):
			return errMany
		case !e.IsDir():
			files++
		}
		return nil
	})
	return files, info.IsDir(), err == nil
}
