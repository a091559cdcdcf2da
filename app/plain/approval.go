package plain

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/plan"
	"buddy/tmux/pane"
	"buddy/views/markup"
	"buddy/views/words"
)

// ApprovalText returns all that would run and why it needs approval, in the words of the full
// screen; whole adds what else is known of it. The text is as untrusted as the action is.
func ApprovalText(a event.ApprovalAsked, whole bool) string {
	act := a.Action
	var b strings.Builder
	if a.Agent != "" {
		b.WriteString(markup.Shorten(a.Agent, maxFact) + " asks: ")
	}
	where := ""
	if a.Context.Outside {
		where = " outside the fence"
	}
	fmt.Fprintf(&b, "%s on %s needs approval%s%s", words.Title(act), act.Target, where, dangers(a))
	for _, l := range strings.Split(effect(act), "\n") {
		b.WriteString("\n  | " + l)
	}
	facts := [][2]string{
		{"note", a.Context.Unseen.Text()},
		{"lost", strings.Join(a.Context.Loses, "; ")},
		{"hook", a.Context.Changed},
		{"you said", strings.Join(a.Context.Memory.Said, "; ")},
		{"note", strings.Join(a.Context.Memory.Noted, "; ")},
		{"why", act.Why},
		{"last", a.Context.Failed},
		{"dir", folders(act)},
		{"rule", rule(a.Verdict)},
	}
	if whole {
		facts = append(facts, [][2]string{
			{"does", strings.Join(a.Context.Consequences, "; ")},
			{"undo", a.Context.UndoText()},
			{"else", strings.Join(a.Context.Alternatives, "; ")},
			{"kept", strings.Join(a.Context.Kept, "; ")},
		}...)
	}
	for _, f := range facts {
		if f[1] != "" {
			fmt.Fprintf(&b, "\n  %s: %s", f[0], markup.Shorten(f[1], maxFact))
		}
	}
	return b.String()
}

const maxFact = 4096 // characters of one thing that is known of an action

// dangers says in words what the policy knows of the danger, "" when that is nothing.
func dangers(a event.ApprovalAsked) string {
	text := ""
	if risk := cmp.Or(a.Context.Risk, a.Action.Risk); risk != "" {
		text = " · risk " + string(risk)
	}
	if a.Action.Mutation || a.Context.Mutation {
		text += " · changes"
	}
	if a.Action.Privesc || a.Context.Privesc {
		text += " · privileged"
	}
	return text
}

// effect returns what an action does: all of its command, or its file with the whole diff.
func effect(act action.Action) string {
	var parts []string
	for _, text := range []string{
		strings.TrimSpace(strings.Join([]string{act.Method, act.URL, act.Op}, " ")), act.Path, act.Command, act.Preview,
	} {
		if text = strings.TrimRight(text, "\n"); text != "" {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		return "nothing is known about what this does"
	}
	return strings.Join(parts, "\n")
}

// folders says where a command starts, on each target if there are several.
func folders(act action.Action) string {
	if len(act.Targets) == 0 {
		return act.Cwd
	}
	var all []string
	for _, t := range act.Targets {
		all = append(all, t.Target+" "+cmp.Or(t.Cwd, "?"))
	}
	return strings.Join(all, ", ")
}

func rule(v action.Verdict) string {
	if v.Rule == "" || v.Rule == v.Reason {
		return v.Reason
	}
	return v.Reason + " (" + v.Rule + ")"
}

// denial says why a call does not run, in a few words and the reason that was given.
func denial(p event.ApprovalAnswered) string {
	text := map[string]string{
		"nobody":   "denied: there is nobody to ask",
		"policy":   "denied by the policy",
		"cancel":   "cancelled",
		"shutdown": "cancelled",
		"prompt":   "a prompt came instead",
	}[p.By]
	text = cmp.Or(text, "denied")
	if p.Reason != "" {
		text += ": " + p.Reason
	}
	return text
}

// QuestionText returns what the model, or a server, wants to know, with a line for each choice.
func QuestionText(q event.QuestionAsked) string {
	text := "? " + q.Text
	switch {
	case q.Plan != "":
		text = "? " + plan.Question + "\n  | " + strings.ReplaceAll(strings.TrimRight(plan.Shown(q.Text), "\n"), "\n", "\n  | ")
	case q.From != "":
		text = "? " + q.From + " asks: " + q.Text
	}
	for i, c := range q.Choices {
		if q.Plan != "" {
			c = plan.Label(c, q.Before)
		}
		text += fmt.Sprintf("\n  %d  %s", i+1, c)
	}
	if q.Plan != "" {
		text += "\n  or type what is missing"
	}
	return text
}

// Approve asks on the terminal of the process, which takes as long as the person does; without
// one it denies and says what it would have asked. Questions come one after another, and only
// what is typed after one answers it.
func (m *Remarks) Approve(a event.ApprovalAsked) {
	if m.Unattended {
		m.Say("%s\n  denied: with --approve auto nobody is asked", ApprovalText(a, false))
		m.Send(event.AnswerApproval{ID: a.ID, Decision: event.Deny, Nobody: true})
		return
	}
	reply, hungUp, err := m.onTerminal(ApprovalText(a, false) + "\nRun: [y/N, or why not] ")
	if err != nil {
		m.Say("%s\n  denied, because there is no terminal to ask on (%s)", ApprovalText(a, false), withoutTerminal(a))
		m.Send(event.AnswerApproval{ID: a.ID, Decision: event.Deny, Nobody: true})
		return
	}
	answer := reading(reply)
	if text := RememberText(a.Context.Memory, answer.Reason); text != "" && !hungUp {
		where, _, _ := m.onTerminal(text + "\nRemember: ") // without an answer: nothing
		answer.Remember = RememberChoice(a.Context.Memory, where)
	}
	answer.ID = a.ID
	if hungUp {
		answer = event.AnswerApproval{ID: a.ID, Decision: event.Deny, Reason: "the terminal was closed"}
	}
	m.Send(answer)
}

// Gate asks what a run of a workflow waits for, as Approve does.
func (m *Remarks) Gate(q event.QuestionAsked) {
	reply, hungUp, err := m.onTerminal(QuestionText(q) + "\n" + hintOfGate(q))
	switch {
	case err != nil:
		hint := "not answered, because there is no terminal to ask on"
		if slices.Equal(q.Choices, event.GateChoices) {
			hint = "denied, because there is no terminal to ask on (--approve all passes gates)"
		}
		m.Say("%s\n  %s", QuestionText(q), hint)
		m.Send(event.Answer{ID: q.ID, Nobody: true})
	case hungUp:
		m.Send(event.Answer{ID: q.ID, Nobody: true})
	default:
		m.Send(event.Answer{ID: q.ID, Text: choiceOf(q, reply)})
	}
}

// Plan asks about a plan, as Approve does. Without an answer it stays open.
func (m *Remarks) Plan(q event.QuestionAsked) error {
	for {
		reply, hungUp, err := m.onTerminal(QuestionText(q) + "\nNumber, or what is missing: ")
		switch {
		case err != nil:
			return err
		case hungUp:
			return errors.New("the terminal was closed: the plan still waits")
		case strings.TrimSpace(reply) != "":
			m.Send(event.Answer{ID: q.ID, Text: numbered(q, strings.TrimSpace(reply))})
			return nil
		}
	}
}

// hintOfGate says how a gate is answered in a line.
func hintOfGate(q event.QuestionAsked) string {
	if slices.Equal(q.Choices, event.GateChoices) {
		return "Pass: [y/N, or why not] "
	}
	return "Number: "
}

// choiceOf returns what a line means as the answer to a gate: yes, no, the number of a choice, or a text.
func choiceOf(q event.QuestionAsked, line string) string {
	line = strings.TrimSpace(line)
	switch strings.ToLower(line) {
	case "y", "yes":
		return event.GatePass
	case "", "n", "no":
		return event.GateDeny
	}
	return numbered(q, line)
}

// numbered returns the choice whose number a line is, else the line.
func numbered(q event.QuestionAsked, line string) string {
	if n, err := strconv.Atoi(line); err == nil && n > 0 && n <= len(q.Choices) {
		return q.Choices[n-1]
	}
	return line
}

// onTerminal asks on the terminal of the process. The error says that there is none.
func (m *Remarks) onTerminal(text string) (reply string, hungUp bool, err error) {
	m.asking.Lock()
	defer m.asking.Unlock()
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		if closed(os.Stdin, os.Stdout, os.Stderr) { // between the question and its text
			time.Sleep(hangupTime) // which ends the program, and the question stays open
		}
		return "", false, err
	}
	defer func() { _ = tty.Close() }()
	pane.FlushInput(int(tty.Fd()))
	_, _ = fmt.Fprint(tty, markup.Plain(text))
	reply, err = bufio.NewReader(tty).ReadString('\n')
	if err != nil && HungUp(tty) {
		time.Sleep(hangupTime) // which ends the program, unless nobody sends it SIGHUP
		hungUp = true
	}
	return reply, hungUp, nil
}

// reading returns what a line means as an answer: what is neither yes nor no is why not.
func reading(line string) event.AnswerApproval {
	line = strings.TrimSpace(line)
	switch strings.ToLower(line) {
	case "y", "yes":
		return event.AnswerApproval{Decision: event.Once}
	case "", "n", "no":
		return event.AnswerApproval{Decision: event.Deny}
	}
	return event.AnswerApproval{Decision: event.Deny, Reason: line}
}
