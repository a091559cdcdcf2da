package repl

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/input"
	"buddy/app/keymap"
	"buddy/app/plain"
	"buddy/app/slash"
	"buddy/app/state"
	"buddy/views/dialog"
	"buddy/views/markup"
	"buddy/views/words"
)

// A line answers a question only if the question was shown before the user started the line. So a question is shown
// only when nothing is typed: a line that was started earlier goes to the prompt.

// question returns the approval or question that a line should answer next. The id is "" if there is none, or if
// plain.Remarks asks for the answer.
func (r *repl) question() wants {
	switch {
	case len(r.state.Approvals) > 0 && r.con.tty: // otherwise remarks.Approve asks
		return wants{anApproval, r.state.Approvals[0].ID}
	case len(r.state.Approvals) == 0 && len(r.state.Questions) > 0:
		return wants{anAnswer, r.state.Questions[0].ID}
	}
	return wants{}
}

// put shows a question unless it is shown already. It returns false if the user has started a line, which belongs to
// the prompt and must be read first.
func (r *repl) put(w wants) bool {
	if w == r.shown {
		return true
	}
	if r.con.hasTyped() {
		announce(r, w)
		return false
	}
	r.shown = w
	if w.kind == anAnswer {
		q := r.state.Questions[0]
		text := plain.QuestionText(q)
		if q.Plan != "" && r.con.tty {
			text += "\n  or type " + event.PlanEdit + " to change it in your editor"
		}
		r.printLine(text)
		return true
	}
	a := r.state.Approvals[0]
	r.printLine(plain.ApprovalText(a))
	if n := len(r.state.Approvals); n > 1 {
		r.printLine(fmt.Sprintf("  1 of %d", n))
	}
	if text, _ := editable(r, a); r.edited.id == a.ID {
		r.printLine("With your edits:\n  | " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  | "))
	}
	r.printLine(offered(r, a))
	return true
}

// announce announces once that a question comes after the line that is being typed.
func announce(r *repl, w wants) {
	if r.announced == w {
		return
	}
	r.announced = w
	what := "The agent has a question"
	if w.kind == anApproval {
		what = "Waiting for your approval: " + markup.Shorten(words.Asked(r.state.Approvals[0]).Line(), 60)
	}
	r.printLine(what + ". Finish this line first: it goes to the prompt")
	if r.reading {
		r.con.reveal(prompt(r.program.Targets.Current()))
	}
}

// turnAway stops reading a line when another question must be answered first, unless the user has started the line.
func turnAway(r *repl) {
	if !r.reading || !r.con.tty {
		return
	}
	w := r.question()
	switch r.wants.kind {
	case aPrompt:
		if w.id != "" && !r.con.yield() {
			announce(r, w)
		}
	case anApproval, aReason, aScope, anAnswer:
		if w.id != r.wants.id {
			r.con.yield()
		}
	case aKey:
	}
}

// offered returns the answers to an approval and the other keys, one per line.
func offered(r *repl, a event.ApprovalAsked) string {
	text := plain.Numbered(plain.Answers(a, r.edited.id == a.ID)) + "\n  " + r.con.keys.Name(keymap.Explain) + "  details"
	if _, put := editable(r, a); put != nil {
		text += "\n  " + r.con.keys.Name(keymap.AmendCall) + "  edit"
	}
	return text
}

// asks returns the prompt of the line that answers an approval.
func asks(r *repl, a event.ApprovalAsked) string {
	return fmt.Sprintf("Answer (1-%d, Enter for no): ", len(plain.Answers(a, r.edited.id == a.ID)))
}

// actions maps choices to the actions whose keys select them, because the user may have changed these keys.
var actions = map[plain.Choice]keymap.Action{
	plain.Approve: keymap.Approve, plain.AllowSimilar: keymap.AllowSimilar, plain.Deny: keymap.Deny,
	plain.DenyWithReason: keymap.DenyWithReason, plain.Amend: keymap.AmendCall, plain.Explain: keymap.Explain,
	plain.TryFirst: keymap.TryFirst, plain.RunForReal: keymap.RunForReal,
}

// chosen returns the action that a line chooses, "" for none.
func chosen(r *repl, a event.ApprovalAsked, line string) keymap.Action {
	act := actions[plain.Chosen(plain.Answers(a, r.edited.id == a.ID), func(c plain.Choice) string { return r.con.keys.Name(actions[c]) }, line)]
	if _, put := editable(r, a); act == keymap.AmendCall && put == nil {
		return ""
	}
	return act
}

// approval handles a line that answers an approval. none means that no line could be read; then the approval is denied.
func (r *repl) approval(id, line string, none bool) {
	i := slices.IndexFunc(r.state.Approvals, func(a event.ApprovalAsked) bool { return a.ID == id })
	if i < 0 {
		unused(r, line, "this question was already answered")
		return
	}
	a := r.state.Approvals[i]
	act := chosen(r, a, line)
	if none {
		act = keymap.Deny
	}
	switch act {
	case keymap.Deny:
		r.command(event.AnswerApproval{ID: id, Decision: event.Deny})
	case keymap.Approve:
		approve(r, a)
	case keymap.AllowSimilar:
		r.command(event.AnswerApproval{ID: id, Decision: event.Similar})
	case keymap.TryFirst:
		r.command(event.AnswerApproval{ID: id, Decision: event.Try})
		r.printLine("Trying it: nothing changes here")
	case keymap.RunForReal:
		r.command(event.AnswerApproval{ID: id, Decision: event.Once})
	case keymap.DenyWithReason:
		r.wants = wants{aReason, id}
	case keymap.AmendCall:
		amend(r, a)
	case keymap.Explain:
		r.printLine(plain.DetailsText(a))
		r.printLine(offered(r, a))
	default:
		if !atOnce(line, immediate) || !r.slash(line) {
			unused(r, line, "not a valid answer: nothing was approved or denied")
		}
	}
}

// because denies a call with a reason. If the reason can be remembered, it first asks the user whether to do so.
func because(r *repl, id, reason string) {
	i := slices.IndexFunc(r.state.Approvals, func(a event.ApprovalAsked) bool { return a.ID == id })
	if i >= 0 && r.con.tty && !r.eof {
		if text := plain.RememberText(r.state.Approvals[i].Context.Memory, reason); text != "" {
			r.printLine(text)
			r.wants, r.reason = wants{aScope, id}, reason
			return
		}
	}
	r.command(event.AnswerApproval{ID: id, Decision: event.Deny, Reason: reason})
}

// remember denies a call with the reason given before, and has the reason remembered in the scope that a line selects,
// if any.
func remember(r *repl, id, line string) {
	c := event.AnswerApproval{ID: id, Decision: event.Deny, Reason: r.reason}
	if i := slices.IndexFunc(r.state.Approvals, func(a event.ApprovalAsked) bool { return a.ID == id }); i >= 0 {
		c.Remember = plain.RememberChoice(r.state.Approvals[i].Context.Memory, line)
	}
	r.reason = ""
	r.command(c)
}

// edited holds the text to which the user has changed a call or plan.
type edited struct{ id, text string }

// editable returns the text of a call that the user can edit, and a function that turns the edited text into arguments.
// The function is nil if the call can't be edited.
func editable(r *repl, a event.ApprovalAsked) (text string, put func(string) (string, bool)) {
	c := state.CallOf(&r.state, a)
	if c == nil || !r.con.tty || a.Context.Tried != nil {
		return "", nil
	}
	text, put = dialog.Editable(a.Action, c.Arguments)
	if r.edited.id == a.ID {
		text = r.edited.text
	}
	return text, put
}

// approve lets a call run once, with the user's edits if there are any.
func approve(r *repl, a event.ApprovalAsked) {
	if r.edited.id != a.ID {
		r.command(event.AnswerApproval{ID: a.ID, Decision: plain.DecisionOf(a, plain.Approve)})
		return
	}
	text, put := editable(r, a)
	if a.Action.Kind == action.Shell && strings.TrimSpace(text) == "" {
		r.printLine("the command is empty")
		return
	}
	if args, ok := put(text); ok {
		r.command(event.AnswerApproval{ID: a.ID, Decision: event.Edit, Args: args})
	}
}

// amend opens a call's command or file text in the user's editor. The edited call is shown for approval again.
func amend(r *repl, a event.ApprovalAsked) {
	text, _ := editable(r, a)
	name := "command.sh"
	if a.Action.Path != "" {
		name = filepath.Base(a.Action.Path)
	}
	changed, err := input.EditText(name, text, input.Editor())
	if !strings.HasSuffix(text, "\n") {
		changed = strings.TrimSuffix(changed, "\n") // added for the editor
	}
	r.shown = wants{} // text typed in the meantime answers nothing
	switch {
	case err != nil:
		r.printLine(err.Error())
	case changed == text:
		r.printLine("you changed nothing")
	default:
		r.edited = edited{a.ID, changed}
	}
}

// answer answers an open question.
func (r *repl) answer(id, line string) {
	i := slices.IndexFunc(r.state.Questions, func(q event.QuestionAsked) bool { return q.ID == id })
	switch {
	case i < 0:
		unused(r, line, "this question was already answered")
	case strings.TrimSpace(line) == "":
		r.printLine("not answered: type a number or your own answer")
	case atOnce(line, immediate) && r.slash(line):
	default:
		q := r.state.Questions[i]
		if reply := slash.Reply(q, line); q.Plan == "" || reply.Text != event.PlanEdit {
			r.command(reply)
			return
		}
		editPlan(r, q)
	}
}

// editPlan opens a plan in the user's editor, and sends the edited plan as the answer.
func editPlan(r *repl, q event.QuestionAsked) {
	changed, err := input.EditText("plan.md", q.Text, input.Editor())
	r.shown = wants{} // text typed in the meantime answers nothing
	switch {
	case err != nil:
		r.printLine(err.Error())
	case strings.TrimSuffix(changed, "\n") == strings.TrimSuffix(q.Text, "\n"):
		r.printLine("you changed nothing")
	default:
		r.command(event.Answer{ID: q.ID, Text: changed, Edited: true})
	}
}

// unused explains why a line was not used as an answer, and adds the line to the input history.
func unused(r *repl, line, why string) {
	if line = strings.TrimSpace(line); len(line) > 1 && !slash.Private(line) {
		r.con.earlier = append(r.con.earlier, line)
		if r.con.edits {
			why += "; press Up at the prompt to get the line back"
		}
	}
	r.printLine(why)
}
