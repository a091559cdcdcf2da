package repl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"buddy/agent/event"
	"buddy/app/plain"
	"buddy/app/slash"
)

// A line belongs to what was asked when it was begun. So a question is put only when nothing
// is typed: what was typed before goes to the prompt, and only what comes after the question
// answers it.

// question returns what waits for an answer and the prompt for it, "" if that is nothing or
// is asked elsewhere.
func (r *repl) question() (wants, string) {
	switch {
	case len(r.state.Approvals) > 0 && r.con.tty: // else remarks.Approve asks
		return wants{anApproval, r.state.Approvals[0].ID}, approvalPrompt(r.state.Approvals[0])
	case len(r.state.Approvals) > 0:
		return wants{}, ""
	case len(r.state.Questions) > 0:
		return wants{anAnswer, r.state.Questions[0].ID}, "answer> "
	}
	return wants{}, ""
}

// put shows a question, unless it was shown before. It returns false while something else is
// typed, which is to be read first.
func (r *repl) put(w wants) bool {
	if w == r.shown {
		return true
	}
	if r.con.begun() {
		r.waits(w)
		return false
	}
	r.shown = w
	if w.kind == anAnswer {
		r.say(plain.QuestionText(r.state.Questions[0]))
		return true
	}
	a := r.state.Approvals[0]
	r.say(plain.ApprovalText(a, false))
	if n := len(r.state.Approvals); n > 1 {
		r.say(fmt.Sprintf("  1 of %d", n))
	}
	r.say(approvalChoices(a))
	return true
}

// waits says once that a question comes after the line that is typed.
func (r *repl) waits(w wants) {
	if r.told == w {
		return
	}
	r.told = w
	what := "a question waits"
	if w.kind == anApproval {
		what = r.state.Approvals[0].Action.Tool + " waits for approval"
	}
	r.say(what + ": it is asked after this line, which is kept for the prompt")
	if r.reading {
		r.con.reveal(prompt(r.program.Targets.Current()))
	}
}

// turnAway ends the reading of a line when something else is to be read, unless somebody has
// begun the line.
func (r *repl) turnAway() {
	if !r.reading || !r.con.tty {
		return
	}
	w, prompt := r.question()
	switch r.wants.kind {
	case aPrompt:
		if prompt != "" && !r.con.yield() {
			r.waits(w)
		}
	case anApproval, aReason, anAnswer:
		if w.id != r.wants.id {
			r.con.yield()
		}
	case aKey:
	}
}

// approvalKeys are the answers of an approval, by number from 1 on, and what each means.
func approvalKeys(a event.ApprovalAsked) [][2]string {
	all := [][2]string{{"y", "run once"}}
	if a.Context.Similar != "" {
		all = append(all, [2]string{"s", a.Context.Similar})
	}
	return append(all, [2]string{"n", "deny"}, [2]string{"d", "deny and say why"}, [2]string{"?", "explain"})
}

// approvalChoices lists the answers, one a line.
func approvalChoices(a event.ApprovalAsked) string {
	var lines []string
	for i, k := range approvalKeys(a) {
		lines = append(lines, fmt.Sprintf("  %d  %s  %s", i+1, k[0], k[1]))
	}
	return strings.Join(lines, "\n")
}

// approvalPrompt names the letters and numbers that answer.
func approvalPrompt(a event.ApprovalAsked) string {
	keys := approvalKeys(a)
	var names []string
	for _, k := range keys {
		names = append(names, k[0])
	}
	return fmt.Sprintf("%s or 1-%d (Enter denies): ", strings.Join(names, ", "), len(keys))
}

// chosen returns the letter of an answer that was given as its number, else the answer.
func chosen(a event.ApprovalAsked, text string) string {
	keys := approvalKeys(a)
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(keys) {
		return keys[n-1][0]
	}
	return text
}

// approval takes the answer to an approval; an empty one denies, and so does none.
func (r *repl) approval(id, line string, none bool) {
	i := slices.IndexFunc(r.state.Approvals, func(a event.ApprovalAsked) bool { return a.ID == id })
	if i < 0 {
		r.unused(line, "that is no longer asked")
		return
	}
	a := r.state.Approvals[i]
	text := chosen(a, strings.ToLower(strings.TrimSpace(line)))
	switch {
	case none, text == "", text == "n", text == "no":
		r.command(event.AnswerApproval{ID: id, Decision: event.Deny})
	case text == "y", text == "yes":
		r.command(event.AnswerApproval{ID: id, Decision: event.Once})
	case text == "s" && a.Context.Similar != "":
		r.command(event.AnswerApproval{ID: id, Decision: event.Similar})
	case text == "d":
		r.wants = wants{aReason, id}
	case text == "?":
		r.say(plain.ApprovalText(a, true))
		r.say(approvalChoices(a))
	case atOnce(text) && r.slash(line):
	default:
		r.unused(line, "nothing was decided")
	}
}

// answer answers a question that is still open.
func (r *repl) answer(id, line string) {
	i := slices.IndexFunc(r.state.Questions, func(q event.QuestionAsked) bool { return q.ID == id })
	switch {
	case i < 0:
		r.unused(line, "that is no longer asked")
	case strings.TrimSpace(line) == "":
		r.say("nothing was answered: a number takes a choice, other words are an answer of your own")
	case atOnce(line) && r.slash(line):
	default:
		r.command(slash.Reply(r.state.Questions[i], line))
	}
}

// unused says why a line answered nothing, and keeps it for the prompt.
func (r *repl) unused(line, why string) {
	if line = strings.TrimSpace(line); len(line) > 1 {
		r.con.earlier = append(r.con.earlier, line)
		if r.con.edits {
			why += "; Up at the prompt brings the line back"
		}
	}
	r.say(why)
}
