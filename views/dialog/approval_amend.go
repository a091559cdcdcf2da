package dialog

import (
	"encoding/json"
	"fmt"
	"strings"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/edit"
)

// explainedAt is the row to scroll to when the explanation comes or goes: where it begins, if
// it scrolls, else the first one.
func (a *Approval) explainedAt(p *approvalRows) int {
	if !a.explain.on || len(p.scrolled) == len(a.lines.rows) {
		return 0
	}
	at := len(p.scrolled)
	for _, name := range []string{noteDoes, noteUndo, noteElse, noteKept} {
		at -= len(a.note(name, a.lines.width, maxScrolled))
	}
	return at
}

// drawTyping draws what is typed, as many rows as there are, and below it the keys.
func (a *Approval) drawTyping(in draw.Area) {
	what := "deny because "
	if a.amends {
		what = "run "
	}
	label := []draw.Span{draw.Text(themes.Accent, what)}
	if n := strings.Count(a.typing.Text(), "\n"); n > 0 {
		label = append(label, draw.Text(themes.Muted, fmt.Sprintf("(%d lines) ", n+1)))
	}
	if draw.Width(label) > in.W/2 {
		label = []draw.Span{draw.Text(themes.Accent, "> ")}
	}
	a.typing.SetWidth(edit.Room(in.W, label))
	text := draw.Area{Canvas: in.At(in.Spans(0, label...)), H: max(1, in.H-1)}
	below := edit.Draw(text, a.typing, a.HasFocus())
	if below < in.H {
		in.Down(below).Spans(0, draw.HintRow(draw.HintsOf(a.Keys, a.Scope()), in.W)...)
	}
}

// amend lets the person change the command, or the arguments of another tool.
func (a *Approval) amend() {
	if a.args == "" {
		return
	}
	text := a.args
	if a.asked.Action.Kind == action.Shell {
		text = a.asked.Action.Command
	}
	a.typing, a.amends = edit.New(), true
	a.typing.Insert(text)
}

// run approves what was typed, this once.
func (a *Approval) run(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	args := text
	if a.asked.Action.Kind == action.Shell {
		var all map[string]any
		var out strings.Builder
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false) // people read it
		if json.Unmarshal([]byte(a.args), &all) != nil {
			return
		}
		all["command"] = text
		if enc.Encode(all) != nil {
			return
		}
		args = strings.TrimSpace(out.String())
	}
	a.send(event.AnswerApproval{ID: a.asked.ID, Decision: event.Edit, Args: args})
}
