package file

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"buddy/agent/action"
	"buddy/tools"
	"buddy/tools/fs"
)

// NewText is a new text of an existing file. It was computed by a program other than the model.
type NewText struct {
	Path     string // absolute, symbolic links resolved
	Old, New string // in UTF-8, without a byte order mark
}

// PlanRead returns the plan of a tool that only reads path; "" is the folder of the workspace.
func PlanRead(w *Workspace, tool, path, why string) (action.Action, error) {
	return w.planRead(tool, path, why)
}

// PlanTexts returns the plan to write new texts, which is like the plan of a patch. It refuses files that git ignores,
// that may hold secrets, or that can harm the machine or its repository. reader is as in [tools.Call].
func PlanTexts(w *Workspace, reader int, why string, all []NewText) (action.Action, error) {
	ctx, done := tools.PlanContext()
	defer done()
	changes, err := changesTo(ctx, w, reader, all)
	if err != nil {
		return action.Action{}, tools.Failed(err)
	}
	return planChanges(w, why, changes)
}

// WriteTexts writes new texts, all or none, if that is what was planned. The text for the model starts with done and
// lists the files.
func WriteTexts(ctx context.Context, w *Workspace, call tools.Call, done string, all []NewText) tools.Result {
	return makeChanges(ctx, w, call, done, func() ([]change, error) { return changesTo(ctx, w, call.Reader, all) })
}

// changesTo returns the changes that write new texts.
func changesTo(ctx context.Context, w *Workspace, reader int, all []NewText) ([]change, error) {
	changes := make([]change, 0, len(all))
	for _, one := range all {
		c := change{from: one.Path, to: one.Path}
		var err error
		if c.old, err = w.snap(ctx, one.Path); err == nil {
			c.data, err = replaceText(ctx, w, one, c.old)
		}
		if err != nil {
			return nil, fmt.Errorf("nothing was written: %q %w", w.show(one.Path), err)
		}
		c.unread = w.mayReplace(reader, one.Path, c.old) != nil
		changes = append(changes, c)
	}
	return changes, nil
}

// replaceText returns the new content of a file. Its error continues a sentence that starts with the file's name.
func replaceText(ctx context.Context, w *Workspace, one NewText, old snapshot) ([]byte, error) {
	switch {
	case w.Secret(one.Path) != "":
		return nil, fmt.Errorf("may hold secrets (%s)", w.Secret(one.Path))
	case w.writeRisk(one.Path) == action.High:
		return nil, errors.New("is protected: only a call that names it may change it")
	case isIgnored(ctx, w, one.Path):
		return nil, errors.New("is ignored by git, so it may be generated")
	case !old.exists:
		return nil, errors.New("does not exist")
	case !old.whole():
		return nil, fmt.Errorf("has %d bytes, more than the %d that can be edited", old.size, fs.MaxText)
	}
	doc := open(old.data)
	text, marked := strings.CutPrefix(doc.text, byteOrderMark)
	if text != one.Old {
		return nil, errors.New("has another content than the one that the change was computed for; try again")
	}
	if marked {
		one.New = byteOrderMark + one.New
	}
	doc, err := doc.become(one.New, false)
	return doc.data, err
}

// isIgnored reports whether git ignores a file, or one of the file's folders in the workspace.
func isIgnored(ctx context.Context, w *Workspace, path string) bool {
	for at := path; at != w.Root() && at != filepath.Dir(at); at = filepath.Dir(at) {
		if fs.RulesAbove(ctx, w.files, at).Ignored(at, at != path) {
			return true
		}
	}
	return false
}
