package file

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"

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
	p, err := parsePattern("pattern", args.Pattern)
	if err != nil {
		return action.Action{}, err
	}
	act, err := planSearch(t.ws, t.Name(), args.Path, p, false, args.Why)
	act.Preview = args.Pattern
	return act, err
}

func (t *glob) RunArgs(ctx context.Context, call tools.Call, args globArgs) tools.Result {
	path, err := plannedPath(call)
	if err != nil {
		return tools.Failure(err)
	}
	p, err := parsePattern("pattern", args.Pattern)
	if err != nil {
		return tools.Failure(err)
	}
	if p.literal() {
		return t.one(ctx, path, p.rest, insteadOf(call))
	}
	res, err := t.find(ctx, path, p, insteadOf(call))
	switch {
	case tools.Missing(err) && p.base != "":
		return none("no file matches", noFolder(ctx, t.ws, path))
	case err != nil:
		return noted(err, insteadOf(call))
	}
	return res
}

// none returns the result of a search without a match.
func none(remarks ...string) tools.Result {
	res := tools.Success("", remarks...)
	res.Outcome = texts.Plural(0, "file")
	return res
}

// one returns the result for a single file, name in the folder dir, even if it is ignored or a link.
func (t *glob) one(ctx context.Context, dir, name, remark string) tools.Result {
	path := fs.Join(dir, name)
	info, err := t.ws.files.Lstat(ctx, path)
	switch {
	case tools.Missing(err):
		return none("no file matches: "+noFolder(ctx, t.ws, path), remark)
	case err != nil:
		return tools.Failure(err)
	case info.Mode.IsDir():
		return none("no file matches: it is a folder, which list_dir lists", remark)
	}
	res := tools.Success(quoteName(t.ws.show(path))+"\n", remark)
	res.Outcome = texts.Plural(1, "file")
	return res
}

// aged is a file with its modification time.
type aged struct {
	path string
	time int64 // nanoseconds since 1970
}

// find returns the matching files below path, one path per line in the form that other tools accept.
func (t *glob) find(ctx context.Context, path string, p *pattern, remark string) (tools.Result, error) {
	rules := fs.RulesAbove(ctx, t.ws.files, path)
	dir, err := t.ws.files.OpenTree(ctx, path, rules, nil)
	if err != nil {
		return tools.Result{}, err
	}
	var found []aged
	count, left := 0, new(leftOut)
	w := fs.Walker{Stop: ctx.Err, Ignored: left.ignored(p), Visit: func(dir fs.Folder, rel string, e os.DirEntry) error {
		if !p.match(rel) {
			if e.Type()&os.ModeSymlink != 0 && p.mayHold(rel) {
				left.add(leftLinked, rel)
			}
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
	res := tools.Success(list.String(), globNote(shown, count), left.note("start the pattern with one to find it"), unread(w.Failed), remark)
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
