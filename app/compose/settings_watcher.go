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

// settle says how long files have to be quiet before they are read: editors write, rename
// and remove in several steps. The timer runs once after a change and never when idle.
const settle = 100 * time.Millisecond

// watched are the files whose changes are of interest.
type watched struct {
	files  []string // absolute, those behind symbolic links too
	themes string   // the folder of the person's own themes; "" for none
}

// WatchSettings calls changed after each change of the files that settings come from, and of the
// themes in a folder, "" for none, until ctx ends; and once at the beginning for what changed
// before. It costs nothing while nothing changes.
func WatchSettings(ctx context.Context, f *Options, themes string, changed func()) error {
	return watchFiles(ctx, func() watched { return watchedFiles(f, themes) }, changed)
}

// watchedFiles returns the files that settings come from now. They need not exist.
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

// places returns what to watch: folders, because editors replace files. Where watching a
// folder opens every file in it (kqueue), that of the working directory is left out, which
// may be large, and its settings are watched alone.
func (w watched) places() []string {
	places := []string{w.themes}
	cwd, _ := os.Getwd() // unknown: no file is in it
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

// watchFiles is WatchSettings for files that may become others.
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
				_ = watcher.Add(place) // what is not there is looked for again after the next change
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
