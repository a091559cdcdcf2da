package install

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"buddy/texts"
)

// indexFile is the file in which a repository lists plugins, in the form of other agents.
const indexFile = ".claude-plugin/marketplace.json"

// Index is a list of plugins in a repository. All texts are untrusted.
type Index struct {
	Name    string
	Entries []Entry
}

// Entry is a plugin in an index.
type Entry struct {
	Name    string
	About   string // its description
	Version string
	Problem string // why it can't be added; "" if it can

	text  json.RawMessage // the whole entry
	place place
}

// place holds the location of a plugin's files.
type place struct {
	from Source // empty: the repository of the index
	dir  string // in the repository; "" is all of it
}

// index reads the repository's index; nil if it has none.
func (r *repository) index(ctx context.Context) (*Index, error) {
	data, found, err := r.file(ctx, indexFile)
	if err != nil || !found {
		return nil, err
	}
	var file struct {
		Name     string `json:"name"`
		Metadata struct {
			Root string `json:"pluginRoot"`
		} `json:"metadata"`
		Plugins []json.RawMessage `json:"plugins"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("%s of %s: %w", indexFile, r.from, err)
	}
	index := &Index{Name: file.Name}
	for n, text := range file.Plugins {
		var one struct {
			Name, Description, Version string
			Source                     json.RawMessage
		}
		if err := json.Unmarshal(text, &one); err != nil || one.Name == "" {
			return nil, fmt.Errorf("%s of %s: plugin %d has no valid name, description or version", indexFile, r.from, n+1)
		}
		e := Entry{Name: one.Name, About: texts.Clip(texts.OneLine(one.Description), 200), Version: one.Version, text: text}
		if e.place, err = readPlace(one.Source, file.Metadata.Root); err != nil {
			e.Problem = err.Error()
		}
		index.Entries = append(index.Entries, e)
	}
	return index, nil
}

// find returns the entry with a name.
func (x *Index) find(name string) (Entry, error) {
	var have []string
	for _, e := range x.Entries {
		if e.Name == name {
			return e, nil
		}
		have = append(have, e.Name)
	}
	return Entry{}, fmt.Errorf("the index %q has no plugin %q (have: %s)", x.Name, name, texts.Some(have))
}

// readPlace reads the source of an entry. root is the folder of paths that do not start with "./".
func readPlace(source json.RawMessage, root string) (p place, err error) {
	var dir string
	if json.Unmarshal(source, &dir) == nil {
		if !strings.HasPrefix(dir, ".") {
			dir = path.Join(root, dir)
		}
		p.dir, err = cleanDir(dir)
		return p, err
	}
	var s struct {
		Source, Repo, URL, Path, Ref, SHA string
	}
	if err := json.Unmarshal(source, &s); err != nil {
		return p, fmt.Errorf("its source has an unknown form: %s", texts.Clip(texts.OneLine(string(source)), 100))
	}
	switch s.Source {
	case "github":
		s.URL = s.Repo
	case "url", "git-subdir":
	case "npm", "pip":
		return p, fmt.Errorf("it is a package of %s, which buddy doesn't support; install the package and name its folder in [plugins] dirs", s.Source)
	default:
		return p, fmt.Errorf("buddy doesn't support sources of the kind %q", texts.Clip(s.Source, 50))
	}
	if s.SHA != "" {
		s.Ref = s.SHA
	}
	if p.from, err = remote(s.URL, s.Ref); err == nil {
		p.dir, err = cleanDir(s.Path)
	}
	return p, err
}

// cleanDir returns a folder of a repository without ./, "" for the whole repository.
func cleanDir(dir string) (string, error) {
	clean := path.Clean("./" + dir)
	switch {
	case clean == ".":
		return "", nil
	case path.IsAbs(dir) || !filepath.IsLocal(clean):
		return "", fmt.Errorf("its folder %q leads out of the repository", texts.Clip(dir, 200))
	}
	return clean, nil
}
