package file

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"buddy/agent/action"
	"buddy/texts"
	"buddy/tools"
)

//go:embed write_file.md
var writeFileText string

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content" blank:"ok"`
	Why     string `json:"why,omitempty"`
}

type writeFile struct {
	ws *Workspace
	tools.Typed[writeArgs]
}

// NewWriteFile returns the tool write_file, which creates a file or replaces its whole content. It refuses to replace a
// file that the model has not read, or that changed after it was read or after the diff was shown.
func NewWriteFile(ws *Workspace) tools.Tool {
	return tools.New(&writeFile{ws: ws}, "write_file", writeFileText)
}

func (t *writeFile) PlanArgs(args writeArgs) (action.Action, error) { return t.PlanFor(0, args) }

// PlanFor returns the plan of a write by a reader (see [tools.Call]).
func (t *writeFile) PlanFor(reader int, args writeArgs) (action.Action, error) {
	if strings.HasSuffix(args.Path, "/") {
		return action.Action{}, tools.Invalid("path: %q names a folder", texts.ClipBytes(args.Path, 200))
	}
	return t.ws.planRewrite(t.Name(), args.Path, args.Why, t.rewrite(reader, args))
}

func (t *writeFile) RunArgs(ctx context.Context, call tools.Call, args writeArgs) tools.Result {
	return t.ws.rewrite(ctx, call, args.Path, t.rewrite(call.Reader, args))
}

// rewrite returns the change described by args.
func (t *writeFile) rewrite(reader int, args writeArgs) rewrite {
	return func(ctx context.Context, w *Workspace, path string) (snapshot, []byte, string, error) {
		old, err := snapReplaceable(ctx, w, reader, path)
		if err != nil {
			return old, nil, "", err
		}
		was := open(old.data)
		doc, err := was.written(path, args.Content)
		if err != nil {
			return old, nil, "", fmt.Errorf("%q: %w", w.show(path), err)
		}
		charset := doc.in()
		if was.charset != nil && doc.charset == nil {
			charset = " in UTF-8, without the bytes that were not,"
		}
		return old, doc.data, fmt.Sprintf("Wrote %d bytes%s to %s", len(doc.data), charset, w.show(path)), nil
	}
}

// snapReplaceable reads the file to replace, and fails if the reader may not replace it.
func snapReplaceable(ctx context.Context, w *Workspace, reader int, path string) (snapshot, error) {
	old, err := w.snap(ctx, path)
	if err == nil && old.exists && old.size > 0 {
		err = w.mayReplace(reader, path, old)
	}
	return old, err
}

// rewrite reads the file at path of a workspace and returns its content, its new content, and the text that the model
// gets after the write.
type rewrite func(ctx context.Context, w *Workspace, path string) (old snapshot, data []byte, done string, err error)

// planRewrite plans the change of the file that a call names.
func (w *Workspace) planRewrite(tool, name, why string, change rewrite) (action.Action, error) {
	ctx, done := tools.PlanContext()
	defer done()
	kind := action.FileWrite
	if w.plan.is(w, name) {
		if err := w.plan.check(ctx); err != nil {
			return action.Action{}, err
		}
		w, name, kind = w.plan.files, w.plan.path, action.PlanFile
	}
	path, err := resolveOne(ctx, w, name)
	if err != nil {
		return action.Action{}, err
	}
	old, data, _, err := change(ctx, w, path)
	shown := ""
	if err == nil {
		shown, err = wholly(preview(w.show(path), old, data))
	}
	if err != nil {
		return action.Action{}, tools.Failed(err)
	}
	return action.Action{
		Kind: kind, Tool: tool, Target: w.files.Name(), Path: path, Why: why, Mutation: true,
		Links: w.links(ctx, nil, name, path), Risk: w.writeRisk(path), Preview: shown,
		FileReach: action.FileReach{OtherNames: otherNames(path, old), ReadOnly: old.readOnly()},
	}, nil
}

// rewrite makes the change of the planned file, which the call refers to as name.
func (w *Workspace) rewrite(ctx context.Context, call tools.Call, name string, change rewrite) tools.Result {
	path, err := plannedPath(call)
	if err != nil {
		return tools.Failure(err)
	}
	if call.Planned.Kind == action.PlanFile {
		w = w.plan.files
		call.Keep = nil // the plan is not one of the user's files
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	old, data, text, err := change(ctx, w, path)
	var dropped []string
	if err == nil {
		dropped, err = w.put(ctx, call, old, data)
	}
	if err != nil {
		return tools.Failure(err)
	}
	remarks := []string{droppedNote(w.show(path), dropped)}
	if !old.exists {
		remarks = append(ofNew(ctx, w, path), madeAt(ctx, w, name, path))
	}
	res := tools.Success(text, remarks...)
	res.Seen = w.wrote(ctx, call, path, data)
	return res
}

// put writes data to the planned file if the change is still the approved one. The caller has held w.writing since it
// read old.
func (w *Workspace) put(ctx context.Context, call tools.Call, old snapshot, data []byte) (dropped []string, err error) {
	plan := call.Planned
	if preview(w.show(plan.Path), old, data) != plan.Preview || otherNames(plan.Path, old) > plan.OtherNames || old.readOnly() && !plan.ReadOnly {
		return nil, fmt.Errorf("%q changed after this call was planned, nothing was written; read it again", w.show(plan.Path))
	}
	if err := call.KeepBefore(before(plan.Path, old, data)); err != nil {
		return nil, err
	}
	return w.replaceFile(ctx, plan.Path, data)
}

// wrote records that the file at path now contains data, which the reader of the call knows.
func (w *Workspace) wrote(ctx context.Context, call tools.Call, path string, data []byte) []action.SeenFile {
	s := snapshot{exists: true, size: int64(len(data)), data: data}
	if info, err := w.files.Lstat(ctx, path); err == nil {
		s.modified = info.Modified
	}
	return see(w, call, path, s)
}
