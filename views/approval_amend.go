package views

import (
	"encoding/json"
	"fmt"
	"strings"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/themes"
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
func (a *Approval) drawTyping(in area) {
	what := "deny because "
	if a.amends {
		what = "run "
	}
	label := []span{own(themes.Accent, what)}
	if n := strings.Count(a.typing.Text(), "\n"); n > 0 {
		label = append(label, own(themes.Muted, fmt.Sprintf("(%d lines) ", n+1)))
	}
	if spansWidth(label) > in.w/2 {
		label = []span{own(themes.Accent, "> ")}
	}
	a.typing.SetWidth(textRoom(in.w, label))
	text := area{in.at(in.spans(0, label...)), max(1, in.h-1)}
	below := drawEditor(text, a.typing, a.HasFocus())
	if below < in.h {
		in.down(below).spans(0, hintRow(hintsOf(a.keys, a.Scope()), in.w)...)
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
	a.typing, a.amends = NewEditor(), true
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
	a.send(event.Approve{ID: a.asked.ID, Decision: event.Edit, Args: args})
}
