package dialog

import (
	"encoding/json"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/texts"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/edit"
)

// explainedAt returns the row to scroll to when the details open or close: the first one, so that the command stays in
// view, unless too few rows of the details would be visible.
func (a *Approval) explainedAt(p *approvalRows) int {
	if !a.explain.on {
		return 0
	}
	const least = 4 // rows of the details
	return max(0, min(p.details+least, len(p.scrolled))-p.room)
}

// drawEditor draws the editor over the whole dialog, with its keys below.
func (a *Approval) drawEditor(in draw.Area) {
	a.typing.SetWidth(edit.Room(in.W, nil))
	rows := max(1, in.H-2)
	edit.Draw(draw.Area{Canvas: in.Canvas, H: rows}, a.typing, a.HasFocus())
	if rows+1 < in.H {
		row := in.Down(in.H - 1)
		used := row.Spans(0, draw.HintRow(draw.HintsOf(a.Keys, a.Scope()), in.W)...)
		const then = "Nothing runs yet"
		if used+3+len(then) <= in.W {
			row.Say(in.W-len(then), then, themes.Muted)
		}
	}
}

// amendment is the part of a call that a person may change: a command or the text of a file.
type amendment struct {
	text   string                      // the present text
	put    func(string) (string, bool) // returns the arguments with another text; nil: nothing can be changed
	editor *edit.Editor                // nil until editing starts
	typing bool                        // the editor is open
	done   bool                        // the person changed the text
}

// open returns the editor in its last state, or a new one with the present text.
func (m *amendment) open() *edit.Editor {
	if m.editor == nil {
		m.editor = edit.New()
		m.editor.Insert(m.text)
	}
	return m.editor
}

// Editable returns the text in a call's JSON arguments that the user can edit, such as a command. put returns the
// arguments with the edited text in its place; it is nil if no text can be edited.
func Editable(act action.Action, args string) (text string, put func(string) (string, bool)) {
	var all map[string]any
	if json.Unmarshal([]byte(args), &all) != nil {
		return "", nil
	}
	in, names := all, []string{"content", "new_string", "patch"}
	edits, _ := all["edits"].([]any)
	switch {
	case act.Kind.IsCommand():
		names = []string{"command"}
	case act.Kind != action.FileWrite && act.Kind != action.FileDelete:
		return "", nil
	case len(edits) == 1 && all["new_string"] == nil:
		in, _ = edits[0].(map[string]any)
	case len(edits) > 0: // several texts
		return "", nil
	}
	i := slices.IndexFunc(names, func(n string) bool { _, ok := in[n].(string); return ok })
	if i < 0 {
		return "", nil
	}
	name := names[i]
	text, _ = in[name].(string)
	return text, func(text string) (string, bool) {
		in[name] = text
		out, err := texts.JSON(all) // indented for people
		return string(out), err == nil
	}
}

// amended applies the editor's text, which is then shown instead of the model's text.
func (a *Approval) amended(text string) {
	a.amend.typing = false
	if text == a.amend.text {
		return
	}
	a.amend.text, a.amend.done = text, true
	a.lines, a.shown.end = [3]body{}, false
	a.offer()
}

// run approves the edited text for this call only.
func (a *Approval) run(text string) {
	if a.asked.Action.Kind.IsCommand() && strings.TrimSpace(text) == "" {
		a.hint("the command is empty")
		return
	}
	if args, ok := a.amend.put(text); ok {
		a.send(event.AnswerApproval{ID: a.asked.ID, Decision: event.Edit, Args: args})
	}
}
