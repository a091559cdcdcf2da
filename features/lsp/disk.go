package lsp

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// maxEntries limits the files and folders of a project that are scanned for changes by others. In a larger project
// servers notice only changes of open files.
const maxEntries = 20_000

// disk remembers the state of files in a server's language, to report changes that others make, for example commands.
// It is used by one goroutine.
type disk struct {
	root string
	def  Server
	was  map[string]stamp // nil: not scanned yet, or too many
}

// stamp identifies a state of a file.
type stamp struct {
	modified time.Time
	size     int64
}

func newDisk(root string, def Server) *disk { return &disk{root: root, def: def} }

// read stores the present state of the files.
func (d *disk) read() { d.was = d.scan() }

// scan returns the files of the language and the root marks, or nil if there are too many.
func (d *disk) scan() map[string]stamp {
	now, entries := make(map[string]stamp), 0
	_ = filepath.WalkDir(d.root, func(path string, e fs.DirEntry, err error) error {
		if entries++; entries > maxEntries {
			now = nil
			return filepath.SkipAll
		}
		name := filepath.Base(path)
		switch {
		case err != nil:
			return nil // the server can't read it either
		case e.IsDir() && path != d.root && (strings.HasPrefix(name, ".") || name == "node_modules"):
			return filepath.SkipDir
		case !e.Type().IsRegular() || d.def.Languages[filepath.Ext(name)] == "" && !slices.Contains(d.def.Roots, name):
			return nil
		}
		if info, err := e.Info(); err == nil {
			now[path] = stamp{info.ModTime(), info.Size()}
		}
		return nil
	})
	return now
}

// changes returns the changes since the last scan.
func (d *disk) changes() []fileEvent {
	if d.was == nil {
		return nil
	}
	now := d.scan()
	if now == nil {
		d.was = nil
		return nil
	}
	var all []fileEvent
	for path, s := range now {
		switch was, there := d.was[path]; {
		case !there:
			all = append(all, fileEvent{URI: uriOf(path), Type: 1})
		case was != s:
			all = append(all, fileEvent{URI: uriOf(path), Type: 2})
		}
	}
	for path := range d.was {
		if _, there := now[path]; !there {
			all = append(all, fileEvent{URI: uriOf(path), Type: 3})
		}
	}
	slices.SortFunc(all, func(a, b fileEvent) int { return strings.Compare(a.URI, b.URI) })
	d.was = now
	return all
}
