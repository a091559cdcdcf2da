package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"buddy/agent/action"
	"buddy/texts"
	"buddy/tools"
	"buddy/tools/fs"
)

// maxAlike limits the suggestions for a name that does not exist.
const maxAlike = 5

// alike is a file or folder with a path that is easily mistaken for another path.
type alike struct {
	path string // real
	how  string // how the path differs: "differs in case"
}

// lineSuffix matches the line, or line and column, after a file name.
var lineSuffix = texts.Regexp(`(:\d+(-\d+)?(:\d+)?:?|#L\d+(-L?\d+)?)$`)

func withoutLine(suffix string) string {
	return fmt.Sprintf("has no %q in its name; offset takes a line", suffix)
}

// meant returns the path that the argument arg of a reading call means: the resolved path or, if nothing is there, the
// only similar path that exists. note explains the difference. If several paths are similar, the error names them.
func meant(ctx context.Context, w *Workspace, arg, path string) (real, note string, err error) {
	if _, err := w.files.Lstat(ctx, path); !errors.Is(err, os.ErrNotExist) {
		return path, "", nil // reading path returns the right error
	}
	all := alikes(ctx, w, arg, path)
	switch len(all) {
	case 0:
		return path, "", nil
	case 1:
		named := texts.ClipBytes(arg, 200)
		if quoted := spelled(named); quoted != `"`+named+`"` {
			named = quoted
		}
		return all[0].path, fmt.Sprintf("%s does not exist: this is %s, which %s", named, spell(w, all[0].path), all[0].how), nil
	}
	return "", "", tools.Failed(fmt.Errorf("%q: %w; %s", texts.ClipBytes(arg, 200), os.ErrNotExist, didYouMean(w, all)))
}

// spell returns a path for the model as a JSON string without two spaces in a row, because remarks would collapse them.
func spell(w *Workspace, path string) string {
	return strings.ReplaceAll(spelled(w.show(path)), "  ", ` \u0020`)
}

// insteadOf returns the note of the function meant from the time when the call was planned.
func insteadOf(call tools.Call) string {
	if call.Planned.Kind != action.FileRead {
		return ""
	}
	return call.Planned.Op
}

// noted returns the failure of a call, with a note after the reason.
func noted(err error, note string) tools.Result {
	if note != "" {
		err = fmt.Errorf("%w (%s)", err, note)
	}
	return tools.Failure(err)
}

// didYouMean returns a question that suggests similar paths, "" if there are none.
func didYouMean(w *Workspace, all []alike) string {
	var names []string
	for _, a := range all {
		names = append(names, fmt.Sprintf("%s, which %s", spell(w, a.path), a.how))
	}
	if len(names) == 0 {
		return ""
	}
	return "did you mean " + strings.Join(names, "; or ") + "?"
}

// alikes returns existing paths that are similar to arg, which stands for the missing path. Outside the workspace, only
// names that look identical count, because listing a folder there may need approval.
func alikes(ctx context.Context, w *Workspace, arg, path string) []alike {
	var found []alike
	if at := lineSuffix().FindStringIndex(path); at != nil && exists(ctx, w, path[:at[0]]) {
		found = append(found, alike{path[:at[0]], withoutLine(path[at[0]:])})
	}
	if there := inShell(ctx, w, arg, path); there != "" {
		found = append(found, alike{there, "is where the shell is; relative paths start in the first folder"})
	}
	dir, rest := existing(ctx, w, path)
	for _, there := range sameNames(ctx, w, dir, rest) {
		found = append(found, alike{fs.Join(dir, there), differences(there, strings.Join(rest, "/"))})
	}
	if len(found) == 0 && len(rest) == 1 && texts.Below(dir, w.Root()) {
		found = otherEndings(ctx, w, dir, rest[0])
	}
	var all []alike
	for _, a := range found {
		real, err := w.files.RealPath(ctx, a.path)
		if err != nil || strings.ContainsFunc(real, unicode.IsControl) || slices.ContainsFunc(all, func(one alike) bool { return one.path == real }) {
			continue
		}
		if all = append(all, alike{real, a.how}); len(all) == maxAlike {
			break
		}
	}
	return all
}

// otherEndings returns the files of a folder with the same name and another ending.
func otherEndings(ctx context.Context, w *Workspace, dir, name string) (found []alike) {
	stem := stemOf(name)
	for _, e := range entriesOf(ctx, w, dir) {
		if !e.IsDir() && stem != "" && stemOf(e.Name()) == stem {
			found = append(found, alike{fs.Join(dir, e.Name()), "has another ending"})
		}
	}
	return found
}

func exists(ctx context.Context, w *Workspace, path string) bool {
	_, err := w.files.Lstat(ctx, path)
	return err == nil
}

// stemOf returns a name without its ending.
func stemOf(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) }

// existing returns the longest part of a path that exists, and the missing names below it.
func existing(ctx context.Context, w *Workspace, path string) (dir string, rest []string) {
	for dir = path; dir != "/"; dir = filepath.Dir(dir) {
		rest = slices.Insert(rest, 0, filepath.Base(dir))
		if parent := filepath.Dir(dir); exists(ctx, w, parent) {
			return parent, rest
		}
	}
	return dir, rest
}

// sameNames returns the paths that lead from dir through names that look the same as the given ones.
func sameNames(ctx context.Context, w *Workspace, dir string, names []string) []string {
	found := []string{""}
	for _, name := range names {
		want := fold(name, everyTrait)
		var next []string
		for _, at := range found {
			var same []string
			for _, e := range entriesOf(ctx, w, fs.Join(dir, at)) {
				if e.Name() == name {
					same = []string{name}
					break
				}
				if fold(e.Name(), everyTrait) == want {
					same = append(same, e.Name())
				}
			}
			for _, name := range same {
				next = append(next, fs.Join(at, name))
			}
		}
		found = next[:min(len(next), maxAlike)]
	}
	return found
}

// entriesOf returns the entries of a folder, nil if it can't be listed.
func entriesOf(ctx context.Context, w *Workspace, dir string) []os.DirEntry {
	folder, err := w.files.OpenDir(ctx, dir)
	if err != nil {
		return nil
	}
	defer fs.Release(folder)
	entries, _ := folder.ReadDir(maxNames) // those read so far
	slices.SortFunc(entries, fs.ByName)
	return entries
}

// ofNew returns remarks on new files whose names are similar to other names in their folders.
func ofNew(ctx context.Context, w *Workspace, paths ...string) []string {
	var remarks []string
	entries := make(map[string][]os.DirEntry) // by folder
	for _, path := range paths {
		dir, name := filepath.Split(path)
		if _, ok := entries[dir]; !ok {
			entries[dir] = entriesOf(ctx, w, filepath.Clean(dir))
		}
		want := fold(name, everyTrait)
		for _, e := range entries[dir] {
			how := ""
			switch {
			case e.Name() == name || len(remarks) == maxAlike:
			case fold(e.Name(), everyTrait) == want:
				how = differences(e.Name(), name)
			case strings.HasPrefix(name, e.Name()) && lineSuffix().FindString(name) == name[len(e.Name()):]:
				how = withoutLine(name[len(e.Name()):])
			}
			if how != "" {
				remarks = append(remarks, fmt.Sprintf("there is also %s, which %s", spell(w, fs.Join(dir, e.Name())), how))
			}
		}
	}
	return remarks
}
