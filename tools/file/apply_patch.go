package file

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

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
	t := tools.New(&applyPatch{ws: ws}, patchName, applyPatchText)
	t.Schema = t.AsText("patch", applyPatchGrammar)
	return t
}

func (t *applyPatch) PlanArgs(args patchArgs) (action.Action, error) { return t.PlanFor(0, args) }

// PlanFor returns the plan of a patch by a reader (see [tools.Call]).
func (t *applyPatch) PlanFor(reader int, args patchArgs) (action.Action, error) {
	ctx, done := tools.PlanContext()
	defer done()
	changes, err := t.changes(ctx, reader, args.Patch)
	if err != nil {
		return action.Action{}, tools.Failed(err)
	}
	return planChanges(t.ws, args.Why, changes)
}

func (t *applyPatch) RunArgs(ctx context.Context, call tools.Call, args patchArgs) tools.Result {
	return makeChanges(ctx, t.ws, call, "Patched", func() ([]change, error) { return t.changes(ctx, call.Reader, args.Patch) })
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

// explain adds to err the part of the file that is most similar to the text that the patch expects.
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
