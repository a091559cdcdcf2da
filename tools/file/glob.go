package file

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"buddy/agent/action"
	"buddy/texts"
	"buddy/tools"
	"buddy/tools/fs"
)

const (
	globLimit = 200     // files in a result
	globMatch = 100_000 // files compared by age
)

//go:embed glob.md
var globText string

type globArgs struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path,omitempty"`
	Why     string `json:"why,omitempty" schema:"-"`
}

type glob struct {
	ws *Workspace
	tools.Typed[globArgs]
}

// newGlob returns the tool glob, which lists the files whose names match a pattern, newest
// first.
func newGlob(ws *Workspace) tools.Tool {
	return tools.New(&glob{ws: ws}, "glob", globText)
}

func (*glob) Parallel(tools.Call) bool { return true }

func (t *glob) PlanArgs(args globArgs) (action.Action, error) {
	if _, err := compileGlob("pattern", args.Pattern); err != nil {
		return action.Action{}, err
	}
	act, err := t.ws.planRead(t.Name(), args.Path, args.Why)
	act.Preview = args.Pattern
	return act, err
}

func (t *glob) RunArgs(ctx context.Context, call tools.Call, args globArgs) tools.Result {
	path, err := plannedPath(call)
	if err != nil {
		return tools.Failure(err)
	}
	match, err := compileGlob("pattern", args.Pattern)
	if err != nil {
		return tools.Failure(err)
	}
	res, err := t.find(ctx, path, match, insteadOf(call))
	if err != nil {
		return tools.Failure(err)
	}
	return res
}

// aged is a file with its modification time.
type aged struct {
	path string
	time int64 // nanoseconds since 1970
}

// find returns the files below path that match, one path per line, as other tools take it.
func (t *glob) find(ctx context.Context, path string, match func(string) bool, remark string) (tools.Result, error) {
	rules := fs.RulesAbove(ctx, t.ws.files, path)
	dir, err := t.ws.files.OpenTree(ctx, path, rules, nil)
	if err != nil {
		return tools.Result{}, err
	}
	var found []aged
	count := 0
	w := fs.Walker{Stop: ctx.Err, Visit: func(dir fs.Folder, rel string, e os.DirEntry) error {
		if !match(rel) {
			return nil
		}
		if count++; count > globMatch {
			return nil
		}
		if info, err := dir.Lstat(e.Name()); err == nil {
			found = append(found, aged{fs.Join(path, rel), info.Modified.UnixNano()})
		}
		return nil
	}}
	if err := w.Walk(dir, "", rules, 1); err != nil {
		return tools.Result{}, err
	}
	slices.SortStableFunc(found, func(a, b aged) int { return cmp.Compare(b.time, a.time) })
	var list strings.Builder
	shown := 0
	for _, f := range found[:min(len(found), globLimit)] {
		line := quoteName(t.ws.show(f.path)) + "\n"
		if list.Len()+len(line) > tools.OutputBytes {
			break
		}
		list.WriteString(line)
		shown++
	}
	res := tools.Success(list.String(), globNote(shown, count), unread(w.Failed), remark)
	res.Outcome = texts.Plural(count, "file")
	return res, nil
}

func globNote(shown, count int) string {
	switch {
	case count == 0:
		return "no file matches"
	case count > globMatch:
		return fmt.Sprintf("the newest %d of the first %d matches; narrow the pattern", shown, globMatch)
	case count > shown:
		return fmt.Sprintf("the newest %d of %d; narrow the pattern to see others", shown, count)
	default:
		return ""
	}
}

// maxBraces bounds the alternatives in a pattern, whose combinations are tried one by one.
const maxBraces = 4

// compileGlob returns a function that matches paths relative to the start of the search. A
// pattern without a slash matches names at any depth.
func compileGlob(arg, pattern string) (func(rel string) bool, error) {
	pattern = strings.TrimPrefix(pattern, "./")
	switch {
	case len(pattern) > 1000:
		return nil, tools.Invalid("%s: longer than 1000 bytes", arg)
	case strings.Count(pattern, "{") > maxBraces:
		return nil, tools.Invalid("%s: more than %d groups of alternatives", arg, maxBraces)
	case !doublestar.ValidatePattern(pattern):
		return nil, tools.Invalid("%s: %q is not a valid glob pattern", arg, texts.ClipBytes(pattern, 200))
	case strings.HasPrefix(pattern, "/") || strings.HasPrefix(pattern, "../"):
		return nil, tools.Invalid("%s: %q must be relative; give the folder as path", arg, texts.ClipBytes(pattern, 200))
	case strings.Contains(pattern, "/"):
		return func(rel string) bool { return doublestar.MatchUnvalidated(pattern, rel) }, nil
	default:
		return func(rel string) bool {
			return doublestar.MatchUnvalidated(pattern, rel[strings.LastIndexByte(rel, '/')+1:])
		}, nil
	}
}
