package file

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"buddy/agent/action"
	"buddy/texts"
	"buddy/tools"
	"buddy/tools/fs"
)

const (
	listLimit = 500     // entries in a result
	listBytes = 40_000  // of entries in a result
	maxNames  = 100_000 // entries of one folder that are read before sorting
)

//go:embed list_dir.md
var listDirText string

type listArgs struct {
	Path  string `json:"path,omitempty" desc:"default: the workspace"`
	Depth int    `json:"depth,omitempty" desc:"levels, default 1" min:"1" max:"3"`
	Why   string `json:"why,omitempty" schema:"-"`
}

type listDir struct {
	ws *Workspace
	tools.Typed[listArgs]
}

// newListDir returns the tool list_dir, which lists a folder up to three levels deep.
func newListDir(ws *Workspace) tools.Tool {
	return tools.New(&listDir{ws: ws}, "list_dir", listDirText)
}

func (*listDir) Parallel(tools.Call) bool { return true }

func (t *listDir) PlanArgs(args listArgs) (action.Action, error) {
	return t.ws.planRead(t.Name(), args.Path, args.Why)
}

func (t *listDir) RunArgs(ctx context.Context, call tools.Call, args listArgs) tools.Result {
	path, err := plannedPath(call)
	if err != nil {
		return tools.Failure(err)
	}
	return t.ws.list(ctx, path, args.Depth, insteadOf(call))
}

// list lists the folder at path to a depth (0 means 1), and adds a remark to the result.
func (w *Workspace) list(ctx context.Context, path string, depth int, remark string) tools.Result {
	l := listing{files: w.files}
	if err := l.list(ctx, path, max(depth, 1)); err != nil {
		return noted(err, remark)
	}
	text := l.text()
	res := tools.Success(text, l.note(), remark) // note needs the counts of text
	res.Outcome = texts.Plural(strings.Count(text, "\n"), "entry")
	return res
}

// listing collects a folder's content level by level, so that one large folder does not push its siblings out.
type listing struct {
	files   fs.FS
	entries []listed
	bytes   int // of entries
	left    int // entries that did not fit
	failed  int // folders that could not be read
	huge    int // names read from a folder that has more
}

type listed struct {
	rel   string // relative to the listed folder
	shown string
}

func (l *listing) list(ctx context.Context, path string, depth int) error {
	level := []string{""}
	for range depth {
		var next []string
		for _, rel := range level {
			if err := ctx.Err(); err != nil {
				return err
			}
			below, err := l.folder(ctx, path, rel)
			if err != nil && rel == "" {
				return err
			}
			if err != nil {
				l.failed++
			}
			next = append(next, below...)
		}
		level = next
	}
	return nil
}

// folder adds the entries of the folder rel below path, and returns the folders in it.
func (l *listing) folder(ctx context.Context, path, rel string) ([]string, error) {
	dir, err := l.files.OpenDir(ctx, fs.Join(path, rel))
	if err != nil {
		return nil, err
	}
	defer fs.Release(dir)
	entries, err := dir.ReadDir(maxNames)
	if errors.Is(err, fs.ErrMoreNames) || len(entries) == maxNames {
		l.huge = len(entries)
	} else if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	slices.SortFunc(entries, fs.ByName)
	var folders []string
	for _, e := range entries {
		if len(l.entries) == listLimit || l.bytes >= listBytes {
			l.left++
			continue
		}
		at := fs.Join(rel, e.Name())
		shown := quoteName(at) + describe(dir, e)
		l.bytes += len(shown) + 1
		l.entries = append(l.entries, listed{at, shown})
		if e.IsDir() && e.Name() != ".git" {
			folders = append(folders, at)
		}
	}
	return folders, nil
}

// quoteName quotes a name that would break a line or is not valid text.
func quoteName(name string) string {
	if q := strconv.Quote(name); q != `"`+name+`"` {
		return q
	}
	return name
}

// describe returns the annotation shown after the name of e, an entry of dir.
func describe(dir fs.Folder, e os.DirEntry) string {
	if e.IsDir() {
		return "/"
	}
	info, err := dir.Lstat(e.Name())
	if err != nil {
		return " (gone)"
	}
	switch {
	case info.Mode.IsRegular():
		return fmt.Sprintf(" %d", info.Size)
	case info.Mode&os.ModeSymlink != 0:
		target, err := dir.Readlink(e.Name())
		if err != nil {
			return " -> ?"
		}
		return " -> " + quoteName(target)
	default:
		return " (" + fs.FileKind(info.Mode) + ")"
	}
}

// text renders the entries as a tree, with counts of those that do not fit.
func (l *listing) text() string {
	slices.SortFunc(l.entries, func(a, b listed) int {
		return slices.Compare(strings.Split(a.rel, "/"), strings.Split(b.rel, "/"))
	})
	var b strings.Builder
	for i, e := range l.entries {
		if b.Len()+len(e.shown) > tools.OutputBytes {
			l.left += len(l.entries) - i
			break
		}
		b.WriteString(e.shown)
		b.WriteByte('\n')
	}
	return b.String()
}

func (l *listing) note() string {
	var left, failed, huge string
	if l.left > 0 {
		left = fmt.Sprintf("%d more entries are not shown; list a subfolder, or use glob", l.left)
	}
	if l.failed > 0 {
		failed = fmt.Sprintf("%d folders could not be read", l.failed)
	}
	if l.huge > 0 {
		huge = fmt.Sprintf("buddy read only the first %d names in a folder", l.huge)
	}
	if len(l.entries) == 0 {
		return tools.JoinNotes("the folder is empty", failed)
	}
	return tools.JoinNotes(left, huge, failed)
}
