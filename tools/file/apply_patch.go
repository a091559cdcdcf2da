package file

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"buddy/agent/action"
	"buddy/texts"
	"buddy/tools"
	"buddy/tools/fs"
	"buddy/tools/patch"
)

//go:embed apply_patch.md
var applyPatchText string

// applyPatchGrammar describes the sections of a patch. Each line is one terminal, because servers that enforce a
// grammar require this: developers.openai.com/api/docs/guides/function-calling, "Context-free grammars".
//
//go:embed apply_patch.lark
var applyPatchGrammar string

type patchArgs struct {
	Patch string `json:"patch"`
	Why   string `json:"why,omitempty"`
}

type applyPatch struct {
	ws *Workspace
	tools.Typed[patchArgs]
}

// NewApplyPatch returns the tool apply_patch, which changes, creates, deletes and renames files. Nothing is written
// unless every hunk of every file fits, and a failed write is rolled back.
func NewApplyPatch(ws *Workspace) tools.Tool {
	t := tools.New(&applyPatch{ws: ws}, "apply_patch", applyPatchText)
	t.Schema = t.AsText("patch", applyPatchGrammar)
	return t
}

func (t *applyPatch) PlanArgs(args patchArgs) (action.Action, error) { return t.PlanFor(0, args) }

// PlanFor returns the plan of a patch. reader is as in [tools.Call].
func (t *applyPatch) PlanFor(reader int, args patchArgs) (action.Action, error) {
	ctx, done := tools.PlanContext()
	defer done()
	changes, err := t.changes(ctx, reader, args.Patch)
	if err != nil {
		return action.Action{}, tools.Failed(err)
	}
	act := t.action(changes, args.Why)
	if act.Preview, err = wholly(act.Preview); err != nil {
		return action.Action{}, tools.Failed(err)
	}
	return act, nil
}

func (t *applyPatch) RunArgs(ctx context.Context, call tools.Call, args patchArgs) tools.Result {
	if _, err := plannedPath(call); err != nil {
		return tools.Failure(err)
	}
	t.ws.writing.Lock()
	defer t.ws.writing.Unlock()
	changes, err := t.changes(ctx, call.Reader, args.Patch)
	if err != nil {
		return tools.Failure(err)
	}
	if !sameWork(t.action(changes, args.Why), call.Planned) {
		return tools.Failure(errors.New("the files changed after this patch was planned, nothing was written; read them again"))
	}
	if err := call.KeepBefore(beforePatch(changes)...); err != nil {
		return tools.Failure(err)
	}
	notes, err := t.ws.commit(ctx, changes)
	if err != nil {
		return tools.Failure(err)
	}
	var made []string
	for _, c := range changes {
		if c.from == "" {
			made, notes = append(made, c.to), append(notes, c.made)
		}
	}
	res := tools.Success(t.summary(changes), append(ofNew(ctx, t.ws, made...), notes...)...)
	for _, c := range changes {
		if c.from != "" && c.from != c.to {
			t.ws.seen.forget(c.from)
			res.Seen = append(res.Seen, action.SeenFile{Target: t.ws.files.Name(), Path: c.from})
		}
		if c.to != "" {
			res.Seen = append(res.Seen, t.ws.wrote(ctx, call, c.to, c.data)...)
		}
	}
	return res
}

// sameWork reports whether an action does no more than the approved one.
func sameWork(now, planned action.Action) bool {
	return now.Path == planned.Path && slices.Equal(now.Paths, planned.Paths) && now.Preview == planned.Preview &&
		now.OtherNames <= planned.OtherNames && (planned.ReadOnly || !now.ReadOnly)
}

// change describes the change of one file.
type change struct {
	from, to string   // real paths; from is empty for a new file, to for a deleted one
	links    []string // names that led to from and to through symbolic links
	old      snapshot
	data     []byte // the new content
	rights   fs.Rights
	made     string // a remark on a new file, "" for none
}

// changes parses a patch and applies all of it in memory.
func (t *applyPatch) changes(ctx context.Context, reader int, text string) ([]change, error) {
	files, err := patch.Parse(text)
	if err != nil {
		return nil, tools.Invalid("patch: %v", err)
	}
	var all []change
	named := make(map[string]bool)
	for _, f := range files {
		c, err := t.change(ctx, reader, f)
		if err != nil {
			return nil, err
		}
		if named[c.from] || named[c.to] {
			return nil, tools.Invalid("patch: line %d: %q is in the patch twice; put all its hunks behind one header", f.Line, texts.ClipBytes(f.Old+f.New, 200))
		}
		for _, path := range []string{c.from, c.to} {
			if path != "" {
				named[path] = true
			}
		}
		all = append(all, c)
	}
	return all, nil
}

func (t *applyPatch) change(ctx context.Context, reader int, f patch.File) (change, error) {
	var c change
	var err error
	if f.Old != "" {
		if c.from, err = resolveOne(ctx, t.ws, f.Old); err != nil {
			return c, err
		}
		c.links = t.ws.links(ctx, c.links, f.Old, c.from)
		if c.old, err = t.ws.snapKnown(ctx, reader, c.from); err != nil {
			return c, err
		}
	}
	if f.New != "" {
		if c.to, err = resolveOne(ctx, t.ws, f.New); err != nil {
			return c, err
		}
		if f.Old == "" {
			c.made = madeAt(ctx, t.ws, f.New, c.to)
		}
		c.links = t.ws.links(ctx, c.links, f.New, c.to)
	}
	if c.to != "" && c.to != c.from {
		if there, err := t.ws.snap(ctx, c.to); err != nil {
			return c, err
		} else if there.exists && there.size > 0 {
			return c, fmt.Errorf("%q exists already", t.ws.show(c.to))
		}
	}
	doc, err := open(c.old.data).patched(c.from, f)
	if err != nil {
		return c, t.explain(c, err)
	}
	if c.to != "" {
		c.data = doc.data
	}
	c.rights = rightsOf(f, c)
	return c, nil
}

// rightsOf returns the permissions of the file after the change.
func rightsOf(f patch.File, c change) fs.Rights {
	switch {
	case c.from == "":
		return fs.Rights{Executable: f.Mode&0o100 != 0}
	case c.to == "" || f.Mode == 0:
		return fs.Rights{} // unchanged
	case f.Mode&0o100 != 0:
		return fs.Rights{Perm: c.old.perm | c.old.perm&0o444>>2} // everyone who may read the file may execute it
	default:
		return fs.Rights{Perm: c.old.perm &^ 0o111}
	}
}

// explain adds to err the part of the file that is most similar to what the patch expects.
func (t *applyPatch) explain(c change, err error) error {
	name := t.ws.show(c.from)
	m, ok := errors.AsType[*patch.Mismatch](err)
	if !ok || m.Fits != nil {
		return fmt.Errorf("nothing was written: %q: %w", name, err)
	}
	text, _ := decode(c.old.data)
	if n := notebookOf(c.from, text); n != nil {
		text = n.Text()
	}
	return fmt.Errorf("nothing was written: %q: %w%s", name, err, nearestTo(text, m.Want, "the patch"))
}

// action describes changes for the policy and the approval dialog.
func (t *applyPatch) action(changes []change, why string) action.Action {
	act := action.Action{Kind: action.FileWrite, Tool: t.Name(), Target: t.ws.files.Name(), Why: why, Mutation: true, Risk: action.Medium}
	for _, c := range changes {
		if c.to == "" {
			act.Kind = action.FileDelete
		}
		act.Links = append(act.Links, c.links...)
		act.ReadOnly = act.ReadOnly || c.old.readOnly()
		if c.from != "" && c.writes() {
			act.OtherNames += otherNames(c.from, c.old)
		}
		for _, path := range []string{c.from, c.to} {
			if path == "" || slices.Contains(act.Paths, path) {
				continue
			}
			act.Paths = append(act.Paths, path)
			if t.ws.writeRisk(path) == action.High {
				act.Risk = action.High
			}
		}
	}
	act.Path = act.Paths[0]
	if len(act.Paths) == 1 {
		act.Paths = nil
	}
	act.Preview = t.preview(changes)
	return act
}

// preview lists what happens to each file, then the diffs.
func (t *applyPatch) preview(changes []change) string {
	var list, diffs strings.Builder
	for _, c := range changes {
		sizes, lines, _ := strings.Cut(t.diff(c), "\n")
		if len(changes) > 1 {
			fmt.Fprintf(&list, "%s: %s\n", t.title(c), sizes)
		} else {
			fmt.Fprintf(&list, "%s\n", sizes)
		}
		diffs.WriteString(lines)
	}
	return list.String() + diffs.String()
}

// title describes a change in one line.
func (t *applyPatch) title(c change) string {
	switch {
	case c.from == "":
		return "new " + t.ws.show(c.to)
	case c.to == "":
		return "delete " + t.ws.show(c.from)
	case c.from != c.to:
		return "rename " + t.ws.show(c.from) + " → " + t.ws.show(c.to)
	default:
		return "edit " + t.ws.show(c.to)
	}
}

// diff returns a line with the sizes, and the diff.
func (t *applyPatch) diff(c change) string {
	old, charset := decode(c.old.data)
	switch {
	case c.to == "" && !isText(old):
		return fmt.Sprintf("deletes a file of %d bytes that is not text\n", c.old.size)
	case c.to == "":
		return diff(t.ws.show(c.from), "/dev/null", old, "", "deletes the file", fmt.Sprintf("%d bytes%s", c.old.size, charset.in()))
	case c.from == "":
		return mode(c, "new file, can be run, ") + preview(t.ws.show(c.to), snapshot{}, c.data)
	case c.from != c.to:
		return mode(c, "") + fmt.Sprintf("renamed from %s, ", t.ws.show(c.from)) + preview(t.ws.show(c.to), c.old, c.data)
	default:
		return mode(c, "") + preview(t.ws.show(c.to), c.old, c.data)
	}
}

// mode describes new permissions; executable is the text for a new executable file.
func mode(c change, executable string) string {
	switch {
	case c.rights.Executable:
		return executable
	case c.rights.Perm != 0 && c.rights.Perm != c.old.perm:
		return fmt.Sprintf("mode %o → %o, ", c.old.perm, c.rights.Perm)
	default:
		return ""
	}
}

func (t *applyPatch) summary(changes []change) string {
	done := []string{"Patched " + texts.Plural(len(changes), "file") + ":"}
	for _, c := range changes {
		done = append(done, t.title(c))
	}
	return strings.Join(done, "\n")
}

// commit writes all changes or none: first each content to a temporary file in its folder, then the renames. When a
// rename fails, the earlier ones are undone. notes list the attributes that files have lost by the writes.
func (w *Workspace) commit(ctx context.Context, changes []change) (notes []string, err error) {
	waiting := make([]fs.Staged, len(changes))
	for i, c := range changes {
		if !c.writes() {
			continue
		}
		if waiting[i], err = w.files.Stage(ctx, c.at(), c.data, c.rights); err != nil {
			break
		}
	}
	defer func() {
		for _, s := range waiting {
			if s != nil {
				fs.Release(s)
			}
		}
	}()
	if err != nil {
		return nil, fmt.Errorf("nothing was written: %w", err)
	}
	ctx = context.WithoutCancel(ctx) // a cancelled call must not leave a half-applied patch
	var undo []func() error
	for i, c := range changes {
		note, err := commitOne(ctx, w, c, waiting[i])
		if err != nil {
			return nil, failed(err, len(changes) > 1, undoAll(undo))
		}
		notes, undo = append(notes, note), append(undo, func() error { return c.revert(ctx, w) })
	}
	return notes, nil
}

// at returns the path to which the content is written. A renamed file is written at its earlier path, so that it keeps
// its identity.
func (c change) at() string { return cmp.Or(c.from, c.to) }

// writes reports whether the change writes content or permissions.
func (c change) writes() bool {
	return c.to != "" && (c.from == c.to || c.from == "" || c.rights.Perm != 0 || !bytes.Equal(c.data, c.old.data))
}

// commitOne makes one change. After an error that [fs.AsItWas] accepts, the file is unchanged.
func commitOne(ctx context.Context, w *Workspace, c change, s fs.Staged) (note string, err error) {
	if s != nil {
		dropped, err := finish(ctx, w, c.at(), c.data, s)
		if err != nil {
			return "", err
		}
		note = droppedNote(w.show(c.to), dropped)
	}
	switch {
	case c.to == "":
		err = w.files.Remove(ctx, c.from)
	case c.from != "" && c.from != c.to:
		if err = rename(ctx, w, c.from, c.to, c.data, cmp.Or(c.rights.Perm, c.old.perm)); err != nil && s != nil {
			if back := c.rewriteOld(ctx, w); back != nil {
				err = &fs.UnsureError{Err: err, Left: fmt.Sprintf("its new content could not be taken back: %v", back)}
			}
		}
	}
	return note, err
}

// rename moves a file, whose content is data, to another path; on another file system it creates a new file.
func rename(ctx context.Context, w *Workspace, from, to string, data []byte, perm os.FileMode) error {
	err := w.files.Rename(ctx, from, to)
	if !errors.Is(err, unix.EXDEV) {
		return err
	}
	s, err := w.files.Stage(ctx, to, data, fs.Rights{Perm: perm})
	if err != nil {
		return err
	}
	defer fs.Release(s)
	if _, err := finish(ctx, w, to, data, s); err != nil {
		return err
	}
	if err := w.files.Remove(ctx, from); err != nil {
		if back := w.files.Remove(ctx, to); back != nil {
			err = &fs.UnsureError{Err: err, Left: fmt.Sprintf("the copy at its new path could not be removed: %v", back)}
		}
		return err
	}
	return nil
}

// revert undoes a committed change.
func (c change) revert(ctx context.Context, w *Workspace) error {
	switch {
	case c.from == "":
		return w.files.Remove(ctx, c.to)
	case c.to != "" && c.from != c.to:
		if err := rename(ctx, w, c.to, c.from, c.old.data, c.old.perm); err != nil {
			return err
		}
	}
	if c.to != "" && !c.writes() {
		return nil
	}
	return c.rewriteOld(ctx, w)
}

// rewriteOld writes the earlier content of a file to its earlier path.
func (c change) rewriteOld(ctx context.Context, w *Workspace) error {
	var r fs.Rights
	if c.to == "" || c.rights.Perm != 0 {
		r.Perm = c.old.perm
	}
	s, err := w.files.Stage(ctx, c.from, c.old.data, r)
	if err != nil {
		return err
	}
	defer fs.Release(s)
	_, err = finish(ctx, w, c.from, c.old.data, s)
	return err
}

// failed returns the error of a patch after a change failed with err and the earlier changes were undone, except for
// those in left. others means that the patch has other files.
func failed(err error, others bool, left error) error {
	switch {
	case left != nil:
		return fmt.Errorf("%w; a file that was changed before could not be put back: %w; read the files again", err, left)
	case fs.AsItWas(err):
		return fmt.Errorf("nothing was written: %w", err)
	case others:
		return fmt.Errorf("%w; the other files are as they were", err)
	}
	return err
}

func undoAll(undo []func() error) error {
	for _, back := range slices.Backward(undo) {
		if err := back(); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
