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

// programs watches what decides which hooks and servers the session has: the files of plugins, and
// what the person trusts.
type programs struct {
	p     *Program
	dirs  []string    // of plugins, and where new ones may come
	began time.Time   // when these were found
	quiet *time.Timer // runs for a moment after a change, and never when idle
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

// places are the folders to watch, with that of the file of what is trusted.
func (w *programs) places() []string { return append(slices.Clone(w.dirs), filepath.Dir(trustFile())) }

// trustFile returns the file that notes what the person trusts.
func trustFile() string { return project.TrustStore().File() }

// concern notes an event that may change which programs there are.
func (w *programs) concern(e fsnotify.Event) {
	of := func(dir string) bool { return filepath.Dir(e.Name) == dir || texts.Below(dir, e.Name) }
	if texts.Below(trustFile(), e.Name) || slices.ContainsFunc(w.dirs, of) {
		w.quiet.Reset(settle)
	}
}

// reload lets the session have the hooks and servers that there are and that the person trusts now.
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
	said := p.ofProject
	p.ofProject = p.Project().Notices()
	for _, e := range p.ofProject {
		if !slices.Contains(said, e) {
			p.Live.Publish(e)
		}
	}
}

// watch watches new places, and looks once more if something came into one before it was watched.
func (w *programs) watch(watcher *fswatch.Watcher, watched map[string]bool) {
	if added := watchNew(watcher, watched, w.places()); changedSince(added, w.began) {
		w.quiet.Reset(settle)
	}
}

// RereadExtensions returns a function that does once what [Program.WatchExtensions] does at a change. Files of plugins that
// were written in place it does not notice.
func (p *Program) RereadExtensions() func() {
	programs := newPrograms(p)
	return func() {
		p.refreshExtensions()
		if changedSince(programs.places(), programs.began) {
			programs.reload()
		}
	}
}

// WatchExtensions lets the session read its skills and commands again after each change of their
// files on this machine, and have other hooks and servers after each change of plugins and of what the
// person trusts, until ctx ends. It costs nothing while nothing changes.
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
				p.refreshExtensions() // something may have come before it was watched
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
