package compose

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"buddy/app/fswatch"
	"buddy/texts"
)

// maxWatches limits the number of watched folders.
const maxWatches = 512

// changedSince reports whether an entry was added to or removed from one of the folders since about a time.
func changedSince(dirs []string, when time.Time) bool {
	const coarse = 20 * time.Millisecond // the clock resolution of some file systems
	return slices.ContainsFunc(dirs, func(dir string) bool {
		info, err := os.Stat(dir)
		return err == nil && info.ModTime().After(when.Add(-coarse))
	})
}

// watchNew watches the folders that are not watched yet, or the nearest existing parent of a missing folder, and
// returns the newly watched folders.
func watchNew(watcher *fswatch.Watcher, watched map[string]bool, dirs []string) (added []string) {
	for _, dir := range dirs {
		at := dir
		for !isDir(at) && at != filepath.Dir(at) {
			at = filepath.Dir(at)
		}
		large := at != dir && runtime.GOOS != "linux" // kqueue opens every file of a folder
		if watched[at] || large || len(watched) == maxWatches {
			continue
		}
		if watcher.Add(at) == nil {
			watched[at], added = true, append(added, at)
		}
	}
	return added
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// concernsExtensions reports whether an event may change the extensions in dirs. Such an event is about a Markdown or
// YAML file or a folder in one of dirs, or about a parent of one of dirs.
func concernsExtensions(e fsnotify.Event, dirs []string) bool {
	if e.Op == fsnotify.Chmod {
		return false
	}
	file := filepath.Ext(e.Name)
	return slices.ContainsFunc(dirs, func(dir string) bool {
		return texts.Below(dir, e.Name) || filepath.Dir(e.Name) == dir && (file == ".md" || file == ".yaml" || file == "")
	})
}
