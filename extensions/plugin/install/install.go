// Package install fetches plugins from git repositories into one folder, and updates and removes them there.
//
//	store := install.Store{Dir: "/home/ann/.local/share/buddy/plugins"}
//	from, err := install.ParseSource("https://git.example.org/tidy.git@v1")
//	got, err := store.Add(ctx, from, "")
//	fmt.Println(got.Name, got.Commit)
//
// Each plugin has a subfolder, NAME, with a record of its source (source.json) and its files (files/, without .git). An
// update replaces the record and the files together, by a rename. The package runs nothing from a repository, and does
// not mark a plugin as trusted.
package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"buddy/extensions/plugin"
	"buddy/texts"
)

const (
	recordFile = "source.json"
	filesDir   = "files"
	newPrefix  = ".new-" // unfinished folders
	oldPrefix  = ".old-" // a plugin while another version takes its place
	lockPause  = 50 * time.Millisecond
)

// Store is the folder of the installed plugins. Several processes may use it at once; they change it one by one.
type Store struct{ Dir string }

// Record says where an installed plugin comes from.
type Record struct {
	Name       string            `json:"name"`
	Version    string            `json:"version,omitempty"`
	URL        string            `json:"url"`
	Ref        string            `json:"ref,omitempty"`
	Entry      string            `json:"entry,omitempty"` // its name in the index of the repository
	From       string            `json:"from,omitempty"`  // the repository with its files, if the index names another one
	Commit     string            `json:"commit"`          // of the repository with its files
	Files      map[string]string `json:"files"`           // their hashes
	Submodules []string          `json:"submodules,omitempty"`
}

// Source returns the repository that the person named.
func (r Record) Source() Source { return Source{r.URL, r.Ref} }

// Files returns the folder of a plugin's files.
func (s Store) Files(name string) string { return filepath.Join(s.Dir, name, filesDir) }

// Names returns the installed plugins in order.
func (s Store) Names() (names []string, err error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// Record returns the record of an installed plugin.
func (s Store) Record(name string) (r Record, err error) {
	names, err := s.Names()
	if err != nil {
		return r, err
	}
	if !slices.Contains(names, name) {
		have := "none"
		if len(names) > 0 {
			have = texts.Some(names)
		}
		return r, fmt.Errorf("no plugin %q was added from a git repository (have: %s)", texts.Clip(name, 100), have)
	}
	file := filepath.Join(s.Dir, name, recordFile)
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err == nil && r.Name != name {
		err = fmt.Errorf("it is the record of %q", texts.Clip(r.Name, 100))
	}
	if err != nil {
		err = fmt.Errorf("%s: %w (to repair it, remove this folder and add the plugin again)", file, err)
	}
	return r, err
}

// IndexError is returned by [Store.Add] for a repository that is no plugin but lists plugins.
type IndexError struct {
	From  Source
	Index Index
}

// Error returns one line, without the list.
func (e *IndexError) Error() string {
	return fmt.Sprintf("%s is an index of plugins: name the plugin to add", e.From)
}

// EditedError is returned when the files of a plugin were changed after they were fetched.
type EditedError struct {
	Name  string
	Files []Change
}

// Error names the plugin and its files.
func (e *EditedError) Error() string {
	var names []string
	for _, c := range e.Files {
		names = append(names, c.String())
	}
	return fmt.Sprintf("files of the plugin %s were changed after buddy fetched them: %s", e.Name, texts.Some(names))
}

// Add fetches a plugin. entry is its name in the repository's index; "" means that the repository is the plugin.
func (s Store) Add(ctx context.Context, from Source, entry string) (Record, error) {
	var r Record
	err := s.change(ctx, func(work string) (err error) {
		if r, err = fetchPlugin(ctx, work, from, entry); err != nil {
			return err
		}
		if old, err := s.Record(r.Name); err == nil {
			return fmt.Errorf("the plugin %s is already there, from %s at commit %.12s; use buddy plugin update %[1]s, or remove it first", r.Name, old.Source(), old.Commit)
		}
		return s.replace(work, r.Name)
	})
	return r, err
}

// Update fetches the present version of an installed plugin. force replaces files that were changed by hand.
func (s Store) Update(ctx context.Context, name string, force bool) (old, fresh Record, err error) {
	err = s.change(ctx, func(work string) (err error) {
		if old, err = s.Record(name); err != nil {
			return err
		}
		edited, err := s.edited(old)
		if err != nil && !force {
			return err
		}
		if fresh, err = fetchPlugin(ctx, work, old.Source(), old.Entry); err != nil {
			return err
		}
		if fresh.Name != name {
			return fmt.Errorf("the plugin %s is now called %s; remove %[1]s and add it again", name, fresh.Name)
		}
		if !edited && fresh.Commit == old.Commit && len(Compare(old.Files, fresh.Files)) == 0 {
			return nil
		}
		return s.replace(work, name)
	})
	return old, fresh, err
}

// Remove removes an installed plugin. before runs first, for what has to be undone while the plugin still exists. force
// removes files that were changed by hand.
func (s Store) Remove(ctx context.Context, name string, force bool, before func() error) error {
	return s.change(ctx, func(work string) error {
		r, err := s.Record(name)
		if err != nil {
			return err
		}
		if _, err := s.edited(r); err != nil && !force {
			return err
		}
		if err := before(); err != nil {
			return err
		}
		return os.Rename(filepath.Join(s.Dir, name), filepath.Join(work, name))
	})
}

// edited returns an [EditedError] if files were changed after they were fetched.
func (s Store) edited(r Record) (bool, error) {
	now, err := hashes(s.Files(r.Name))
	if err != nil {
		return false, err
	}
	if changes := Compare(r.Files, now); len(changes) > 0 {
		return true, &EditedError{r.Name, changes}
	}
	return false, nil
}

// change calls do with an empty folder for its work while no other process changes the store. It first restores what an
// interrupted process left.
func (s Store) change(ctx context.Context, do func(work string) error) error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return fmt.Errorf("another buddy changes plugins in %s: %w", s.Dir, err)
	}
	defer unlock()
	if err := s.restore(); err != nil {
		return err
	}
	work, err := os.MkdirTemp(s.Dir, newPrefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(work) //nolint:errcheck // the next change removes what is left
	return do(work)
}

func (s Store) lock(ctx context.Context) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(s.Dir, ".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil // closing unlocks
		}
		if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
			select {
			case <-ctx.Done():
				err = context.Cause(ctx)
			case <-time.After(lockPause):
				continue
			}
		}
		_ = f.Close()
		return nil, err
	}
}

// restore removes unfinished folders, and puts back a plugin whose new version did not take its place.
func (s Store) restore() error {
	entries, err := os.ReadDir(s.Dir)
	for _, e := range entries {
		at := filepath.Join(s.Dir, e.Name())
		name, old := strings.CutPrefix(e.Name(), oldPrefix)
		if old && os.Rename(at, filepath.Join(s.Dir, name)) != nil { // the new version is there
			err = errors.Join(err, os.RemoveAll(at))
		}
		if strings.HasPrefix(e.Name(), newPrefix) {
			_ = os.RemoveAll(at) // a git that outlived a killed buddy may still write to it
		}
	}
	return err
}

// replace puts the plugin in a folder for work in the place of the one with the same name, if any.
func (s Store) replace(work, name string) error {
	at, old := filepath.Join(s.Dir, name), filepath.Join(s.Dir, oldPrefix+name)
	err := os.Rename(at, old)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(filepath.Join(work, "plugin"), at); err != nil {
		return errors.Join(err, os.Rename(old, at))
	}
	return os.RemoveAll(old)
}

// fetchPlugin fetches a plugin into the folder "plugin" of work.
func fetchPlugin(ctx context.Context, work string, from Source, entry string) (Record, error) {
	r := Record{URL: from.URL, Ref: from.Ref, Entry: entry}
	repo, err := fetch(ctx, filepath.Join(work, "repository"), from)
	if err != nil {
		return r, err
	}
	var chosen Entry
	if entry != "" {
		if chosen, err = repo.entry(ctx, entry); err != nil {
			return r, err
		}
		if other := chosen.place.from; other.URL != "" {
			r.From = other.String()
			if repo, err = fetch(ctx, filepath.Join(work, "other"), other); err != nil {
				return r, fmt.Errorf("the plugin %q of %s: %w", entry, from, err)
			}
		}
	} else if err := repo.mustBePlugin(ctx); err != nil {
		return r, err
	}
	r.Commit = repo.commit
	var files []entryFile
	if files, r.Submodules, err = repo.list(ctx, chosen.place.dir); err != nil {
		return r, err
	}
	at := filepath.Join(work, "plugin", filesDir)
	if err := repo.write(ctx, files, at); err != nil {
		return r, fmt.Errorf("%s: %w", repo.from, err)
	}
	if err := chosen.writeManifest(at); err != nil {
		return r, err
	}
	p, err := plugin.Read(at)
	if err != nil {
		return r, fmt.Errorf("%s at %.12s: %w", repo.from, r.Commit, errors.Unwrap(err))
	}
	r.Name, r.Version = p.Name, p.Version
	if r.Files, err = hashes(at); err != nil {
		return r, err
	}
	data, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return r, err
	}
	return r, os.WriteFile(filepath.Join(work, "plugin", recordFile), data, 0o600)
}

// entry returns a plugin of the repository's index.
func (r *repository) entry(ctx context.Context, name string) (Entry, error) {
	index, err := r.index(ctx)
	if err != nil {
		return Entry{}, err
	}
	if index == nil {
		return Entry{}, fmt.Errorf("%s has no %s, so it lists no plugin %q; without a name, buddy adds the repository itself", r.from, indexFile, texts.Clip(name, 100))
	}
	e, err := index.find(name)
	if err == nil && e.Problem != "" {
		err = fmt.Errorf("the plugin %q of the index %q: %s", e.Name, index.Name, e.Problem)
	}
	return e, err
}

// mustBePlugin returns an [IndexError] if the repository is only an index.
func (r *repository) mustBePlugin(ctx context.Context) error {
	_, found, err := r.file(ctx, plugin.Manifest)
	if err != nil || found {
		return err
	}
	index, err := r.index(ctx)
	switch {
	case err != nil:
		return err
	case index == nil:
		return fmt.Errorf("%s is not a plugin: at commit %.12s it has neither %s nor %s", r.from, r.commit, plugin.Manifest, indexFile)
	}
	return &IndexError{r.from, *index}
}

// writeManifest writes the entry as the manifest of a plugin that has none of its own.
func (e Entry) writeManifest(dir string) error {
	at := filepath.Join(dir, plugin.Manifest)
	if _, err := os.Lstat(at); err == nil || len(e.text) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	return os.WriteFile(at, e.text, 0o644)
}
