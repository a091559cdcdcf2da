package repl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/plain"
	"buddy/app/slash"
	"buddy/texts"
	"buddy/views/markup"
)

// take records one event and prints what it tells.
func (r *repl) take(env event.Envelope) {
	r.state.Apply(env)
	r.wait.take(env.Payload)
	switch p := env.Payload.(type) {
	case event.TextDelta:
		if env.Branch == 0 {
			r.con.print(r.con.out, markup.Plain(r.text.add(p.Text)))
		}
	case event.ModelRetry, event.ModelFallback:
		r.startOver(env.Branch == 0)
		r.print.Remark(p)
	case event.ModelMessage:
		r.message(env.Branch, p)
	case event.ToolResult:
		r.result(p)
	case event.ApprovalAsked:
		r.asked(p)
	case event.QuestionAsked:
		r.say(questionText(p))
	case event.TaskFinished:
		r.finished(p)
	default:
		r.changed(env)
	}
}

// changed prints what is different from here on, and all that needs no more than a line.
func (r *repl) changed(env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.ModeChanged:
		r.mode(p)
	case event.ModelSwitched, event.TargetSwitched, event.RuleAdded, event.RuleRemoved, event.FileRestored,
		event.ContextCompacted, event.ContextPinned, event.MicroCompacted:
		if n := len(r.state.Blocks); n > 0 && r.state.Blocks[n-1].Seq == env.Seq { // as the full screen says it
			r.say(string(r.state.Blocks[n-1].Text))
		}
	case event.Interrupted:
		if p.CanContinue {
			r.say("the last exchange was interrupted; Enter goes on with it")
		}
	default:
		r.print.Remark(p)
	}
}

// streamed is the answer that is being written, printed line by line.
type streamed struct {
	said    string // all of it
	printed int    // bytes of said
}

// add returns what can be printed now: whole lines.
func (s *streamed) add(text string) string {
	s.said += text
	end := strings.LastIndexByte(s.said, '\n') + 1
	if end <= s.printed {
		return ""
	}
	lines := s.said[s.printed:end]
	s.printed = end
	return lines
}

// rest returns what is left to print of the whole answer.
func (s *streamed) rest(whole string) string {
	printed := s.said[:s.printed]
	*s = streamed{}
	if rest, ok := strings.CutPrefix(whole, printed); ok {
		return rest
	}
	return whole
}

// startOver says that what was printed is void.
func (r *repl) startOver(mine bool) {
	if mine && r.text.printed > 0 {
		r.say("(what the model said above is void; it starts again)")
	}
	if mine {
		r.text = streamed{}
	}
}

// message prints the rest of an answer; one of a task beside is printed as a whole.
func (r *repl) message(branch int, m event.ModelMessage) {
	text := m.Message.Content
	if branch == 0 {
		if m.Reasoning != "" {
			r.say("✎ " + m.Reasoning)
		}
		text = r.text.rest(text)
	} else if len(m.Message.ToolCalls) > 0 {
		return
	}
	if text == "" {
		return
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	r.con.print(r.con.out, markup.Plain(text))
}

// Of what a command printed its end is shown.
const (
	previewLines = 10
	maxLineShown = 500 // bytes of each
)

// result shows the end of what a command printed, and how it ended.
func (r *repl) result(p event.ToolResult) {
	if p.ExitCode != nil {
		lines := strings.Split(strings.TrimRight(p.Tail, "\n"), "\n")
		if n := len(lines) - previewLines; n > 0 {
			r.say(fmt.Sprintf("  … %d lines above", n))
			lines = lines[n:]
		}
		for _, l := range lines {
			if l != "" {
				r.say("  " + texts.ClipBytes(l, maxLineShown))
			}
		}
	}
	r.print.Remark(p)
}

func (r *repl) finished(p event.TaskFinished) {
	name := ""
	for _, t := range r.state.Tasks {
		if t.ID != p.ID {
			continue
		}
		switch t.Kind {
		case event.BackgroundTask:
			name = fmt.Sprintf("task #%d (%s) ", t.ID, markup.Shorten(t.Title, 40))
		case event.ShellTask:
			r.say(fmt.Sprintf("task #%d (%s) has ended: %s", t.ID, markup.Shorten(t.Title, 40), p.Outcome))
			return
		}
	}
	r.con.calm()
	r.armed = r.armed && r.reading
	if name == "" {
		r.outcome = p.Outcome
	}
	if p.Outcome == event.MaxTurns && name == "" {
		r.say(plain.Ended(p.Outcome) + "; Enter goes on with it")
	} else if p.Outcome != event.Completed {
		r.say(name + plain.Ended(p.Outcome))
	} else if name != "" {
		r.say(name + "has ended")
	}
}

// mode says how approvals are decided from here on, but not what is usual.
func (r *repl) mode(p event.ModeChanged) {
	if p.Mode == action.ModeAsk && len(r.state.Blocks) == 0 {
		return
	}
	text := "approvals: " + string(p.Mode)
	if p.Until > 0 {
		text += " until " + time.UnixMilli(p.Until).Format("15:04:05")
	}
	r.say(text)
}

// questionText returns what the model wants to know, with a line for each choice.
func questionText(q event.QuestionAsked) string {
	text := "? " + q.Text
	for i, c := range q.Choices {
		text += fmt.Sprintf("\n  %d  %s", i+1, c)
	}
	return text
}

// answer answers a question that is still open.
func (r *repl) answer(id, text string) {
	for _, q := range r.state.Questions {
		if q.ID == id {
			r.command(slash.Reply(q, text))
			return
		}
	}
	r.say("that is no longer asked")
}

// approvalGrace is how long after a question nothing that is typed answers it, when it came
// while something else was typed.
const approvalGrace = 500 * time.Millisecond

// asked shows what an approval is about.
func (r *repl) asked(a event.ApprovalAsked) {
	if !r.con.tty {
		go r.print.Approve(a)
		return
	}
	r.say(approvalText(a, false))
	r.say(approvalChoices(a))
	if r.reading && r.wants.kind == aPrompt {
		r.since = time.Now()
		r.say("a line with one of the letters answers it")
	}
}

// approvalText returns all that will really run and why it is asked about; whole adds what else is
// known of it.
func approvalText(a event.ApprovalAsked, whole bool) string {
	act := a.Action
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s needs approval: %s", act.Tool, act.Target, a.Verdict.Reason)
	if act.Why != "" {
		fmt.Fprintf(&b, "\n  why: %s", markup.Shorten(act.Why, 300))
	}
	if a.Context.Failed != "" {
		fmt.Fprintf(&b, "\n  last: %s", a.Context.Failed)
	}
	for _, lost := range a.Context.Loses {
		fmt.Fprintf(&b, "\n  lost: %s", lost)
	}
	what := act.Command
	if what == "" {
		what = strings.TrimSpace(strings.Join([]string{act.Method, act.URL, act.Path, act.Op}, " "))
		if act.Preview != "" {
			what += "\n" + act.Preview
		}
	}
	lines := strings.Split(strings.TrimRight(what, "\n"), "\n")
	for _, l := range lines {
		b.WriteString("\n  | " + l)
	}
	if !whole {
		return b.String()
	}
	for _, fact := range [][2]string{
		{"folder", act.Cwd},
		{"risk", string(a.Context.Risk)},
		{"rule", a.Verdict.Rule},
		{"undo", a.Context.Undo},
		{"effects", strings.Join(a.Context.Consequences, "; ")},
		{"instead", strings.Join(a.Context.Alternatives, "; ")},
		{"similar", a.Context.Similar},
	} {
		if fact[1] != "" {
			fmt.Fprintf(&b, "\n  %s: %s", fact[0], fact[1])
		}
	}
	return b.String()
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
		if like := a.Context.Examples(); k[0] == "s" && like != "" {
			lines = append(lines, "        "+like)
		}
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
	return fmt.Sprintf("%s or 1-%d: ", strings.Join(names, ", "), len(keys))
}

// chosen returns the letter of an answer that was given as its number, else the answer.
func chosen(a event.ApprovalAsked, text string) string {
	keys := approvalKeys(a)
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(keys) {
		return keys[n-1][0]
	}
	return text
}

// approval takes the answer to an approval; none is a no.
func (r *repl) approval(id, text string, none bool) {
	i := slices.IndexFunc(r.state.Approvals, func(a event.ApprovalAsked) bool { return a.ID == id })
	if i < 0 {
		r.say("that is no longer asked")
		return
	}
	a := r.state.Approvals[i]
	text = chosen(a, strings.ToLower(strings.TrimSpace(text)))
	switch {
	case none, text == "n", text == "no":
		r.command(event.AnswerApproval{ID: id, Decision: event.Deny})
	case text == "y", text == "yes":
		r.command(event.AnswerApproval{ID: id, Decision: event.Once})
	case text == "s" && a.Context.Similar != "":
		r.command(event.AnswerApproval{ID: id, Decision: event.Similar})
	case text == "d":
		r.wants = wants{aReason, id}
	case text == "?":
		r.say(approvalText(a, true))
		r.say(approvalChoices(a))
		r.wants = wants{anApproval, id} // what is typed ahead answers it
	case strings.HasPrefix(text, "/") && r.slash(text):
	default:
		r.say("nothing was decided")
	}
}

// answers reports whether a line that was typed as a prompt decides an approval, and does
// that: it came while the line was read.
func (r *repl) answers(text string) bool {
	if len(r.state.Approvals) == 0 || !r.con.tty || !slices.Contains([]string{"y", "s", "n", "d", "?"}, text) {
		return false
	}
	if time.Since(r.since) < approvalGrace {
		r.say("that was too quick to be an answer; nothing was decided")
		return true
	}
	r.approval(r.state.Approvals[0].ID, text, false)
	return true
}
