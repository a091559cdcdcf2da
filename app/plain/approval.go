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

// ApprovalText returns an approval as text: everything that would run and all that the user must know about it, worded
// as on the full screen. The text is as untrusted as the action.
func ApprovalText(a event.ApprovalAsked) string {
	var b strings.Builder
	if a.Agent != "" {
		b.WriteString(markup.Shorten(a.Agent, maxFact) + " asks: ")
	}
	question, counts := words.Question(a)
	b.WriteString(strings.TrimSpace(question + " " + counts))
	var aside []string
	if risk := words.RiskOf(a); risk != "" {
		aside = append(aside, string(risk)+" risk")
	}
	if where := words.Where(a); where != "" {
		aside = append(aside, where)
	}
	if len(aside) > 0 {
		b.WriteString("  (" + strings.Join(aside, " · ") + ")")
	}
	for _, l := range strings.Split(effect(a.Action), "\n") {
		b.WriteString("\n  | " + l)
	}
	if t := a.Context.Tried; t != nil {
		for _, l := range triedLines(t) {
			b.WriteString("\n  | " + l)
		}
	}
	for _, fact := range append(words.Facts(a), words.Reason(a)) {
		if fact != "" {
			b.WriteString("\n  " + markup.Shorten(fact, maxFact))
		}
	}
	return b.String()
}

// DetailsText returns the details that ApprovalText leaves out, one per line.
func DetailsText(a event.ApprovalAsked) string {
	var lines []string
	for _, s := range words.Details(a) {
		lines = append(lines, "  "+markup.Shorten(s, maxFact))
	}
	return strings.Join(lines, "\n")
}

const maxFact = 4096 // characters of one fact about an action

// effect returns the effect of an action: its whole command, or the whole diff.
func effect(act action.Action) string {
	var parts []string
	path := act.Path
	if act.Preview != "" {
		path = "" // the diff contains it
	}
	for _, text := range []string{strings.TrimSpace(strings.Join([]string{act.Method, act.URL}, " ")), path, to(act.Hosts), act.Command, act.Preview} {
		if text = strings.TrimRight(text, "\n"); text != "" {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		return "buddy doesn't know what this does."
	}
	return strings.Join(parts, "\n")
}

// triedLines returns the changes that a tried command has made, and the end of its output.
func triedLines(t *action.Tried) (lines []string) {
	for l := range strings.Lines(words.TriedDiff(t)) {
		lines = append(lines, strings.TrimSuffix(l, "\n"))
	}
	if t.Output != "" {
		lines = append(append(lines, "output:"), strings.Split(t.Output, "\n")...)
	}
	return lines
}

// to returns lines that name the hosts to which a connection is made.
func to(hosts []string) string {
	if len(hosts) == 0 {
		return ""
	}
	return "to " + strings.Join(hosts, "\nto ")
}

// denial explains briefly why a call does not run, with the reason if one was given.
func denial(p event.ApprovalAnswered) string {
	text := map[string]string{
		"nobody":   "denied: there is nobody to ask",
		"policy":   "denied by the policy",
		"cancel":   "cancelled",
		"shutdown": "cancelled",
		"prompt":   "you sent a prompt instead",
	}[p.By]
	text = cmp.Or(text, "denied")
	if p.Reason != "" {
		text += ": " + p.Reason
	}
	return text
}

// QuestionText returns a question from the model, a server or a workflow, with one line for each choice.
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
		text += "\n  or type feedback to keep planning"
	}
	return text
}

// Approve asks on the terminal of the process and waits for the user's answer. Without a terminal it denies, and prints
// the question. Questions are asked one after another, and text typed before a question does not answer it.
func (m *Remarks) Approve(a event.ApprovalAsked) {
	if m.Unattended {
		m.Say("%s\n  denied: --approve auto never asks", ApprovalText(a))
		m.Send(event.AnswerApproval{ID: a.ID, Decision: event.Deny, Nobody: true})
		return
	}
	answer, hungUp, err := m.decide(a)
	if err != nil {
		m.Say("%s\n  denied, because there is no terminal to ask on (%s)", ApprovalText(a), withoutTerminal(a))
		m.Send(event.AnswerApproval{ID: a.ID, Decision: event.Deny, Nobody: true})
		return
	}
	if text := RememberText(a.Context.Memory, answer.Reason); text != "" && !hungUp {
		where, _, _ := m.onTerminal(text + "\nNumber: ") // without an answer: nothing
		answer.Remember = RememberChoice(a.Context.Memory, where)
	}
	answer.ID = a.ID
	m.Send(answer)
}

// Gate asks about a workflow's gate, like Approve.
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

// Plan asks about a plan, like Approve. On an error the plan still waits for an answer.
func (m *Remarks) Plan(q event.QuestionAsked) error {
	for {
		reply, hungUp, err := m.onTerminal(QuestionText(q) + "\nNumber, or feedback: ")
		switch {
		case err != nil:
			return err
		case hungUp:
			return errors.New("the terminal was closed; the plan is still waiting for your answer")
		case strings.TrimSpace(reply) != "":
			m.Send(event.Answer{ID: q.ID, Text: numbered(q, strings.TrimSpace(reply))})
			return nil
		}
	}
}

// hintOfGate tells the user how to answer a gate.
func hintOfGate(q event.QuestionAsked) string {
	if slices.Equal(q.Choices, event.GateChoices) {
		return "Pass the gate? [y/N, or why not] "
	}
	return "Number: "
}

// choiceOf returns the answer to a gate for a line: yes, no, the number of a choice, or any other text.
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

// numbered returns the choice whose number the line is, or the line if it is no such number.
func numbered(q event.QuestionAsked, line string) string {
	if n, err := strconv.Atoi(line); err == nil && n > 0 && n <= len(q.Choices) {
		return q.Choices[n-1]
	}
	return line
}

// onTerminal asks on the terminal of the process. The error means that there is no terminal.
func (m *Remarks) onTerminal(text string) (reply string, hungUp bool, err error) {
	m.asking.Lock()
	defer m.asking.Unlock()
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		if closed(os.Stdin, os.Stdout, os.Stderr) { // the terminal was closed after the question was asked
			time.Sleep(hangupTime) // SIGHUP ends the program meanwhile, and the question stays open
		}
		return "", false, err
	}
	defer func() { _ = tty.Close() }()
	pane.FlushInput(int(tty.Fd()))
	_, _ = fmt.Fprint(tty, markup.Plain(text))
	reply, err = bufio.NewReader(tty).ReadString('\n')
	if err != nil && HungUp(tty) {
		time.Sleep(hangupTime) // SIGHUP, if any, ends the program meanwhile
		hungUp = true
	}
	return reply, hungUp, nil
}
