package input

import (
	"path/filepath"
	"strings"
)

// maxInside limits the answers that Inside caches.
const maxInside = 256

// Inside returns a function that reports whether a file is in a folder, after resolving symbolic links in both paths.
// For paths that do not start with the folder, it does not access the file system. For the folder "", it always returns
// false. It caches its answers, so only one goroutine may use it.
func Inside(folder string) func(path string) bool {
	real, err := filepath.EvalSymlinks(folder)
	if folder == "" || err != nil {
		return func(string) bool { return false }
	}
	known := make(map[string]bool)
	return func(path string) bool {
		path = filepath.Clean(path)
		if !below(path, folder) && !below(path, real) {
			return false
		}
		in, ok := known[path]
		if !ok {
			if len(known) == maxInside {
				clear(known)
			}
			to, err := filepath.EvalSymlinks(path)
			in = err == nil && below(to, real)
			known[path] = in
		}
		return in
	}
}

// below reports whether a clean path is folder or below it.
func below(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}
