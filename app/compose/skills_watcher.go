package compose

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/fsnotify/fsnotify"

	"buddy/texts"
)

// maxWatches limits the folders that are watched.
const maxWatches = 512

// WatchExtensions lets the session read its skills and commands again after each change of their
// files on this machine, until ctx ends. It costs nothing while nothing changes.
func (p *Program) WatchExtensions(ctx context.Context) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer watcher.Close() //nolint:errcheck // nothing is written
	watched := make(map[string]bool)
	var dirs []string
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-p.files.read:
			first := dirs == nil
			dirs = p.files.watchedDirs()
			if watchNew(watcher, watched, dirs) && !first {
				p.Live.RefreshSkills() // something may have come before it was watched
			}
		case e, ok := <-watcher.Events:
			switch {
			case !ok:
				return nil
			case e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename):
				delete(watched, e.Name)
				fallthrough
			default:
				if concernsExtensions(e, dirs) {
					p.Live.RefreshSkills()
				}
			}
		case _, ok := <-watcher.Errors: // events were lost
			if !ok {
				return nil
			}
			p.Live.RefreshSkills()
		}
	}
}

// watchedDirs returns the folders whose changes matter.
func (x *extensionFiles) watchedDirs() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Clone(x.dirs)
}

// watchNew watches folders that are not watched yet, or where one is missing the nearest that is
// there, and reports whether there was any.
func watchNew(watcher *fsnotify.Watcher, watched map[string]bool, dirs []string) (added bool) {
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
			watched[at], added = true, true
		}
	}
	return added
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// concernsExtensions reports whether an event may change what is in folders: it is about a
// Markdown file or a folder in one of them, or about a folder that leads to one.
func concernsExtensions(e fsnotify.Event, dirs []string) bool {
	if e.Op == fsnotify.Chmod {
		return false
	}
	file := filepath.Ext(e.Name)
	return slices.ContainsFunc(dirs, func(dir string) bool {
		return texts.Below(dir, e.Name) || filepath.Dir(e.Name) == dir && (file == ".md" || file == "")
	})
}
