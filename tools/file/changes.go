package file

import (
	"bytes"
	"cmp"
	"context"
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
)

// patchName is the tool name in the plan of any change of several files, so that rules and hooks for edits apply to it.
const patchName = "apply_patch"

// planChanges describes changes for the policy and the approval dialog.
func planChanges(w *Workspace, why string, changes []change) (action.Action, error) {
	act := actionOf(w, changes)
	act.Why = why
	var err error
	if act.Preview, err = wholly(act.Preview); err != nil {
		return action.Action{}, tools.Failed(err)
	}
	return act, nil
}

// makeChanges makes the changes that compute returns, all or none, if they are the planned ones. The text for the model
// starts with done and lists the files.
func makeChanges(ctx context.Context, w *Workspace, call tools.Call, done string, compute func() ([]change, error)) tools.Result {
	if _, err := plannedPath(call); err != nil {
		return tools.Failure(err)
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	changes, err := compute()
	if err != nil {
		return tools.Failure(err)
	}
	if !sameWork(actionOf(w, changes), call.Planned) {
		return tools.Failure(errors.New("the files changed after this edit was planned, nothing was written; read them again"))
	}
	if err := call.KeepBefore(beforePatch(changes)...); err != nil {
		return tools.Failure(err)
	}
	notes, err := w.commit(ctx, changes)
	if err != nil {
		return tools.Failure(err)
	}
	var made []string
	for _, c := range changes {
		if c.from == "" {
			made, notes = append(made, c.to), append(notes, c.made)
		}
	}
	res := tools.Success(summary(w, done, changes), append(ofNew(ctx, w, made...), notes...)...)
	for _, c := range changes {
		if c.from != "" && c.from != c.to {
			w.seen.forget(c.from)
			res.Seen = append(res.Seen, action.SeenFile{Target: w.files.Name(), Path: c.from})
		}
		if c.to != "" && !c.unread {
			res.Seen = append(res.Seen, w.wrote(ctx, call, c.to, c.data)...)
		}
	}
	return res
}

// sameWork reports whether the action now does no more than the planned one, which was approved.
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
	unread   bool   // the caller does not know the old content, so it does not know the new one
}

// actionOf describes changes, whatever their size.
func actionOf(w *Workspace, changes []change) action.Action {
	act := action.Action{Kind: action.FileWrite, Tool: patchName, Target: w.files.Name(), Mutation: true, Risk: action.Medium}
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
			if w.writeRisk(path) == action.High {
				act.Risk = action.High
			}
		}
	}
	act.Path = act.Paths[0]
	if len(act.Paths) == 1 {
		act.Paths = nil
	}
	act.Preview = previewAll(w, changes)
	return act
}

// previewAll lists what happens to each file, then the diffs.
func previewAll(w *Workspace, changes []change) string {
	var list, diffs strings.Builder
	for _, c := range changes {
		sizes, lines, _ := strings.Cut(diffOf(w, c), "\n")
		if len(changes) > 1 {
			fmt.Fprintf(&list, "%s: %s\n", titleOf(w, c), sizes)
		} else {
			fmt.Fprintf(&list, "%s\n", sizes)
		}
		diffs.WriteString(lines)
	}
	return list.String() + diffs.String()
}

// titleOf describes a change in one line.
func titleOf(w *Workspace, c change) string {
	switch {
	case c.from == "":
		return "new " + w.show(c.to)
	case c.to == "":
		return "delete " + w.show(c.from)
	case c.from != c.to:
		return "rename " + w.show(c.from) + " → " + w.show(c.to)
	default:
		return "edit " + w.show(c.to)
	}
}

// diffOf returns a line with the sizes, and the diff.
func diffOf(w *Workspace, c change) string {
	old, charset := decode(c.old.data)
	switch {
	case c.to == "" && !isText(old):
		return fmt.Sprintf("deletes a file of %d bytes that is not text\n", c.old.size)
	case c.to == "":
		return diff(w.show(c.from), "/dev/null", old, "", "deletes the file", fmt.Sprintf("%d bytes%s", c.old.size, charset.in()))
	case c.from == "":
		return mode(c, "new file, can be run, ") + preview(w.show(c.to), snapshot{}, c.data)
	case c.from != c.to:
		return mode(c, "") + fmt.Sprintf("renamed from %s, ", w.show(c.from)) + preview(w.show(c.to), c.old, c.data)
	default:
		return mode(c, "") + preview(w.show(c.to), c.old, c.data)
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

func summary(w *Workspace, done string, changes []change) string {
	lines := []string{done + " " + texts.Plural(len(changes), "file") + ":"}
	for _, c := range changes {
		lines = append(lines, titleOf(w, c))
	}
	return strings.Join(lines, "\n")
}

// commit writes all changes or none: it first writes each content to a temporary file in the file's folder, then
// renames all of them. If a rename fails, the earlier ones are undone. notes list the attributes that files have lost.
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

// at returns the path to which the content is written. A file that is also renamed is written at its earlier path, so
// that it keeps its identity.
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

// failed returns the error of a patch in which one change failed with err. The earlier changes were undone, except for
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
