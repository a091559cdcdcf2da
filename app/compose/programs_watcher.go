package compose

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"buddy/agent/event"
	"buddy/app/fswatch"
	"buddy/app/project"
	"buddy/texts"
)

// programs watches the files that decide which hooks and servers a session has: plugins, and the record of trust.
type programs struct {
	p     *Program
	dirs  []string    // of plugins, existing and possible
	began time.Time   // when dirs were found
	quiet *time.Timer // debounces changes; never runs when idle
}

func newPrograms(p *Program) *programs {
	w := &programs{p: p, quiet: time.NewTimer(0)}
	w.quiet.Stop()
	w.look()
	return w
}

// look finds the folders to watch.
func (w *programs) look() {
	w.began = time.Now()
	w.dirs = w.p.Project().PluginFolders()
}

// places returns the folders to watch, including that of the trust file.
func (w *programs) places() []string { return append(slices.Clone(w.dirs), filepath.Dir(trustFile())) }

// trustFile returns the file that records what the user trusts.
func trustFile() string { return project.TrustStore().File() }

// concern schedules a reload for an event that may change hooks or servers.
func (w *programs) concern(e fsnotify.Event) {
	of := func(dir string) bool { return filepath.Dir(e.Name) == dir || texts.Below(dir, e.Name) }
	if texts.Below(trustFile(), e.Name) || slices.ContainsFunc(w.dirs, of) {
		w.quiet.Reset(settle)
	}
}

// reload replaces the session's hooks and servers with the ones that exist and are trusted now.
func (w *programs) reload() {
	p := w.p
	w.look()
	fail := func(what string, err error) {
		p.Live.Publish(event.Warning{Text: fmt.Sprintf("The %s were not reloaded: %v", what, err), Code: "trust"})
	}
	if p.Options.Programs != nil {
		if found := p.Project().Hooks(); len(found.Failed) == 0 {
			p.Options.Programs.Replace(found.Set, found.Trusted)
		} else {
			p.Live.Publish(event.Warning{Text: "The hooks were not reloaded: " + strings.Join(found.Failed, "; "), Code: "trust"})
		}
	}
	if all, err := p.Project().Servers(); err == nil {
		p.Servers.Replace(all, serverClient(all))
	} else {
		fail("MCP servers", err)
	}
	p.refreshExtensions()
	before := p.ofProject
	p.ofProject = p.Project().Notices()
	for _, e := range p.ofProject {
		if !slices.Contains(before, e) {
			p.Live.Publish(e)
		}
	}
}

// watch watches new folders, and schedules a reload if a folder changed before it was watched.
func (w *programs) watch(watcher *fswatch.Watcher, watched map[string]bool) {
	if added := watchNew(watcher, watched, w.places()); changedSince(added, w.began) {
		w.quiet.Reset(settle)
	}
}

// RereadExtensions returns a function that reloads extensions once, like [Program.WatchExtensions] after a change, for
// programs that don't watch. It does not notice plugin files that were written in place.
func (p *Program) RereadExtensions() func() {
	programs := newPrograms(p)
	return func() {
		p.refreshExtensions()
		if changedSince(programs.places(), programs.began) {
			programs.reload()
		}
	}
}

// WatchExtensions reloads skills and commands after each change of their files on this machine, and hooks and servers
// after each change of plugins or trust, until ctx ends. It costs nothing while nothing changes.
func (p *Program) WatchExtensions(ctx context.Context) error {
	watcher, err := fswatch.New()
	if err != nil {
		return err
	}
	defer watcher.Close()
	watched := make(map[string]bool)
	programs := newPrograms(p)
	programs.watch(watcher, watched)
	var dirs []string
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-p.files.Read:
			first := dirs == nil
			var began time.Time
			dirs, began = p.files.WatchedDirs()
			if added := watchNew(watcher, watched, dirs); len(added) > 0 && !first || changedSince(added, began) {
				p.refreshExtensions() // a file may have been added before the folder was watched
			}
		case <-programs.quiet.C:
			programs.reload()
			programs.watch(watcher, watched)
		case e := <-watcher.Events:
			if e.Op&(fsnotify.Remove|fsnotify.Rename) != 0 {
				delete(watched, e.Name)
			}
			if concernsExtensions(e, dirs) {
				p.refreshExtensions()
			}
			programs.concern(e)
		case <-watcher.Lost:
			p.refreshExtensions()
			programs.quiet.Reset(settle)
		}
	}
}
