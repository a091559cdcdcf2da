package compose

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"buddy/app/fswatch"
	"buddy/config"
)

// settle is the time without changes after which changed files are read, because editors save a file in several steps.
// The timer runs only after a change.
const settle = 100 * time.Millisecond

// watched holds the files whose changes matter.
type watched struct {
	files  []string // absolute, including the targets of symbolic links
	themes string   // the folder of the user's own themes; "" for none
}

// WatchSettings calls changed once at the start and after each change of the settings files, and of the files in the
// folder themes unless it is "", until ctx ends. It costs nothing while nothing changes.
func WatchSettings(ctx context.Context, f *Options, themes string, changed func()) error {
	return watchFiles(ctx, func() watched { return watchedFiles(f, themes) }, changed)
}

// watchedFiles returns the current settings files. They need not exist.
func watchedFiles(f *Options, themes string) watched {
	w := watched{themes: themes}
	for _, s := range config.Sources(f.Config, nil) {
		path, err := filepath.Abs(s.Path)
		if err != nil {
			continue
		}
		w.files = append(w.files, path)
		if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
			w.files = append(w.files, real)
		}
	}
	return w
}

// places returns the paths to watch. They are folders, because editors replace files. The exception is a settings file
// in the working directory on systems with kqueue, which would open every file of that folder.
func (w watched) places() []string {
	places := []string{w.themes}
	cwd, _ := os.Getwd() // if unknown, no file is in it
	for _, f := range w.files {
		if dir := filepath.Dir(f); dir != cwd || runtime.GOOS == "linux" {
			places = append(places, dir)
		} else {
			places = append(places, f)
		}
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// concerns reports whether an event may change a setting.
func (w watched) concerns(e fsnotify.Event) bool {
	if e.Op == fsnotify.Chmod {
		return false
	}
	own := w.themes != "" && (e.Name == w.themes || filepath.Dir(e.Name) == w.themes && filepath.Ext(e.Name) == ".toml")
	return own || slices.Contains(w.files, e.Name)
}

// watchFiles is WatchSettings for the files that files returns, which may change over time.
func watchFiles(ctx context.Context, files func() watched, changed func()) error {
	watcher, err := fswatch.New()
	if err != nil {
		return err
	}
	defer watcher.Close()
	var now watched
	look := func() {
		now = files()
		for _, place := range now.places() {
			if place != "" {
				_ = watcher.Add(place) // a missing folder is tried again after the next change
			}
		}
		changed()
	}
	look()
	quiet := time.NewTimer(0)
	quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-watcher.Events:
			if now.concerns(e) {
				quiet.Reset(settle)
			}
		case <-watcher.Lost: // read everything
			quiet.Reset(settle)
		case <-quiet.C:
			look()
		}
	}
}
