// Package fswatch watches folders for changes. The watchers of a process share one inotify instance, because the
// system limits their number per user.
//
//	w, err := fswatch.New()
//	defer w.Close()
//	err = w.Add(folder)
//	for e := range w.Events {…}
package fswatch

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// room is the number of events that can wait for a watcher's reader. Further events are lost.
const room = 256

// Watcher reports changes in the folders added to it.
type Watcher struct {
	Events <-chan fsnotify.Event // with the folder named as in Add; never closed
	Lost   <-chan struct{}       // receives a value when events were lost; never closed

	events chan fsnotify.Event
	lost   chan struct{}
}

// place is a folder that a watcher watches, with the name that was passed to Add.
type place struct {
	watcher *Watcher
	name    string
}

// all holds the watchers of this process.
var all struct {
	mu     sync.Mutex // guards all below
	system *fsnotify.Watcher
	count  int
	places map[string][]place // by the folder without links
}

// New returns a watcher without folders. The caller closes the watcher.
func New() (*Watcher, error) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.system == nil {
		system, err := fsnotify.NewWatcher()
		if errors.Is(err, syscall.EMFILE) {
			return nil, fmt.Errorf("inotify limit reached: fs.inotify.max_user_instances (%w)", err)
		}
		if err != nil {
			return nil, err
		}
		all.system, all.places = system, make(map[string][]place)
		go forward(system)
	}
	all.count++
	w := &Watcher{events: make(chan fsnotify.Event, room), lost: make(chan struct{}, 1)}
	w.Events, w.Lost = w.events, w.lost
	return w, nil
}

// Add watches a folder, or the folder to which a link leads now. A folder that was removed and made again has to be
// added again.
func (w *Watcher) Add(name string) error {
	name = filepath.Clean(name)
	folder, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	if err := all.system.Add(folder); err != nil {
		return err
	}
	if slices.Contains(all.places[folder], place{w, name}) {
		return nil
	}
	all.places[folder] = append(all.places[folder], place{w, name})
	return nil
}

// Close ends the watcher. Call it once.
func (w *Watcher) Close() {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.count--; all.count == 0 {
		_ = all.system.Close() // nothing is written
		all.system, all.places = nil, nil
		return
	}
	for folder, places := range all.places {
		var others []place
		for _, p := range places {
			if p.watcher != w {
				others = append(others, p)
			}
		}
		if all.places[folder] = others; len(others) == 0 {
			delete(all.places, folder)
			_ = all.system.Remove(folder) // it may be gone
		}
	}
}

// forward dispatches the system's events until the channel closes.
func forward(system *fsnotify.Watcher) {
	for {
		select {
		case e, ok := <-system.Events:
			if !ok {
				return
			}
			dispatch(system, e)
		case _, ok := <-system.Errors:
			if !ok {
				return
			}
			lose(system)
		}
	}
}

// dispatch passes an event about a path to the watchers of the path and to the watchers of its parent folder.
func dispatch(system *fsnotify.Watcher, e fsnotify.Event) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.system != system {
		return
	}
	for _, p := range all.places[e.Name] {
		p.watcher.put(fsnotify.Event{Name: p.name, Op: e.Op})
	}
	for _, p := range all.places[filepath.Dir(e.Name)] {
		p.watcher.put(fsnotify.Event{Name: filepath.Join(p.name, filepath.Base(e.Name)), Op: e.Op})
	}
}

// lose tells all watchers that events were lost.
func lose(system *fsnotify.Watcher) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.system != system {
		return
	}
	for _, places := range all.places {
		for _, p := range places {
			p.watcher.lose()
		}
	}
}

func (w *Watcher) put(e fsnotify.Event) {
	select {
	case w.events <- e:
	default:
		w.lose()
	}
}

func (w *Watcher) lose() {
	select {
	case w.lost <- struct{}{}:
	default: // already signalled
	}
}
