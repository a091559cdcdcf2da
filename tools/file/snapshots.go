package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"buddy/texts"
	"buddy/tools/fs"
)

// Limits of a Snapshot and of the text about its changes.
const (
	maxShotFiles   = 500
	maxShotFile    = 64 << 10 // bytes of a stored text
	maxShotBytes   = 2 << 20  // of all stored texts
	maxChangesText = 1500     // bytes
)

// errMany ends the walk through a workspace that has too many files.
var errMany = errors.New("too many files")

// passedOver lists folders with generated files, which are skipped.
var passedOver = []string{".buddyx", "node_modules", "__pycache__", ".venv"}

// Names returns the paths of the first n files of a workspace, and whether there are more. It leaves out files that
// .gitignore files exclude.
func Names(ctx context.Context, w *Workspace, n int) (names []string, more bool, err error) {
	err = w.WalkFiles(ctx, func(name string) bool { return slices.Contains(passedOver, name) }, func(rel string) error {
		if more = len(names) == n; more {
			return errMany
		}
		names = append(names, rel)
		return ctx.Err()
	})
	if errors.Is(err, errMany) {
		err = nil
	}
	return names, more, err
}

// Snapshot holds the files of a workspace at one moment.
type Snapshot struct {
	files map[string]shot // by path
	whole bool            // files is complete
}

// shot is a file in a Snapshot. Large files and files with secrets have no text.
type shot struct {
	info fs.Info
	text []byte
	kept bool
}

// Shoot returns a snapshot of a workspace. Files unchanged since the earlier snapshot, which may be nil, are not read
// again.
func Shoot(ctx context.Context, w *Workspace, earlier *Snapshot) *Snapshot {
	names, more, err := Names(ctx, w, maxShotFiles)
	s := &Snapshot{files: make(map[string]shot), whole: err == nil && !more}
	left := maxShotBytes
	for _, name := range names {
		path := fs.Join(w.Root(), name)
		info, err := w.files.Lstat(ctx, path)
		if err != nil {
			continue
		}
		one := shot{info: info}
		switch {
		case earlier != nil && earlier.files[name].same(info):
			one = earlier.files[name]
		case info.Mode.IsRegular() && info.Size <= maxShotFile && int(info.Size) <= left && w.Secret(path) == "":
			if now, err := w.snap(ctx, path); err == nil && isText(string(now.data)) {
				one.text, one.kept = now.data, true
			}
		}
		left -= len(one.text)
		s.files[name] = one
	}
	return s
}

// same reports whether a file's metadata is unchanged.
func (s shot) same(now fs.Info) bool {
	return s.info.Size == now.Size && s.info.Mode == now.Mode && s.info.Modified.Equal(now.Modified)
}

// Changes describes the differences to a later snapshot in a few lines.
func (s *Snapshot) Changes(now *Snapshot) string {
	var all []string
	names := maps.Clone(s.files)
	maps.Copy(names, now.files)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if text := changeOf(name, s.files, now.files); text != "" {
			all = append(all, text)
		}
	}
	switch text := strings.Join(all, "\n"); {
	case text != "":
		return "[what changed]\n" + texts.ClipBytes(text, maxChangesText)
	case s.whole && now.whole:
		return "[no file was changed]"
	}
	return ""
}

// changeOf describes how a file has changed, "" if it has not.
func changeOf(name string, before, after map[string]shot) string {
	was, existed := before[name]
	now, exists := after[name]
	switch {
	case existed && exists && was.same(now.info), was.kept && now.kept && bytes.Equal(was.text, now.text):
		return ""
	case !exists:
		return name + " was deleted"
	case !existed && !now.kept:
		return name + " is new"
	case !existed:
		return name + " is new:\n" + differing("", string(now.text))
	case !was.kept || !now.kept:
		return fmt.Sprintf("%s changed, from %d bytes to %d", name, was.info.Size, now.info.Size)
	}
	return name + " changed:\n" + differing(string(was.text), string(now.text))
}

// differing returns the lines in which two texts differ, with - and + before them.
func differing(before, after string) string {
	var lines []string
	for line := range strings.Lines(udiff.Unified("a", "b", before, after)) {
		if head := strings.HasPrefix(line, "---") || strings.HasPrefix(line, "+++"); len(lines) > 0 || !head {
			if line[0] == '-' || line[0] == '+' {
				lines = append(lines, strings.TrimRight(line, "\n"))
			}
		}
	}
	if len(lines) == 0 {
		return fmt.Sprintf("(%d bytes)", len(after))
	}
	return strings.Join(lines, "\n")
}
