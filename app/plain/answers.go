package plain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"buddy/agent/event"
	"buddy/views/words"
)

// Choice is a possible answer of the user to an approval.
type Choice string

// The choices. Their values are the letters that select them, as an alternative to the numbers.
const (
	Approve        Choice = "y"
	AllowSimilar   Choice = "s"
	Deny           Choice = "n"
	DenyWithReason Choice = "d"
	Amend          Choice = "e"
	Explain        Choice = "?"
	TryFirst       Choice = "t"
	RunForReal     Choice = "r" // after a try, when Approve keeps the changes
)

// Letter returns the usual letter of a choice.
func Letter(c Choice) string { return string(c) }

// Answer is one of the numbered answers to an approval.
type Answer struct {
	Choice Choice
	Label  string
}

// Answers returns the answers to an approval in the order of their numbers, which are the same as on the full screen.
// edited means that the user has edited the call.
func Answers(a event.ApprovalAsked, edited bool) []Answer {
	choices := map[event.Decision]Choice{event.Once: Approve, event.Similar: AllowSimilar, event.Try: TryFirst, event.Keep: Approve, event.Deny: DenyWithReason}
	if a.Context.Tried != nil {
		choices[event.Once] = RunForReal
	}
	var all []Answer
	for _, one := range words.Answers(a, edited) {
		all = append(all, Answer{choices[one.Decision], one.Label})
	}
	return all
}

// DecisionOf returns the decision for a choice that approves or tries the call, "" for other choices.
func DecisionOf(a event.ApprovalAsked, c Choice) event.Decision {
	if c == Approve && a.Context.Tried != nil {
		return event.Keep
	}
	return map[Choice]event.Decision{Approve: event.Once, RunForReal: event.Once, AllowSimilar: event.Similar, TryFirst: event.Try}[c]
}

// Numbered returns answers with their numbers, one per line.
func Numbered(all []Answer) string {
	lines := make([]string, len(all))
	for i, a := range all {
		lines[i] = fmt.Sprintf("  %d  %s", i+1, a.Label)
	}
	return strings.Join(lines, "\n")
}

// letters lists the choices that have a letter.
var letters = []Choice{Approve, AllowSimilar, Deny, DenyWithReason, Amend, Explain, TryFirst, RunForReal}

// always lists the choices that are valid even if no numbered answer has them.
var always = []Choice{Deny, Amend, Explain}

// Chosen returns the choice that a line selects by number, by letter, or as yes or no. An empty line means no. For any
// other line, the result is "".
func Chosen(all []Answer, letter func(Choice) string, line string) Choice {
	line = strings.ToLower(strings.TrimSpace(line))
	if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(all) {
		return all[n-1].Choice
	}
	switch line {
	case "", "no":
		return Deny
	case "yes":
		line = strings.ToLower(letter(Approve))
	}
	i := slices.IndexFunc(letters, func(act Choice) bool { return strings.ToLower(letter(act)) == line })
	if i < 0 || !slices.Contains(always, letters[i]) && !slices.ContainsFunc(all, func(a Answer) bool { return a.Choice == letters[i] }) {
		return ""
	}
	return letters[i]
}

// decide asks on the terminal until the user decides, and returns the answer. The error means that there is no
// terminal.
func (m *Remarks) decide(a event.ApprovalAsked) (answer event.AnswerApproval, hungUp bool, err error) {
	all := Answers(a, false)
	text := ApprovalText(a) + "\n" + Numbered(all)
	for {
		reply, hungUp, err := m.onTerminal(fmt.Sprintf("%s\nAnswer (1-%d, ? for details, Enter for no): ", text, len(all)))
		if err != nil || hungUp {
			return event.AnswerApproval{Decision: event.Deny, Reason: "the terminal was closed"}, hungUp, err
		}
		switch c := Chosen(all, Letter, reply); c {
		case Approve, AllowSimilar, TryFirst, RunForReal:
			return event.AnswerApproval{Decision: DecisionOf(a, c)}, false, nil
		case Deny:
			return event.AnswerApproval{Decision: event.Deny}, false, nil
		case DenyWithReason:
			reply, hungUp, err = m.onTerminal("Why? (Enter for no reason) ")
			return event.AnswerApproval{Decision: event.Deny, Reason: strings.TrimSpace(reply)}, hungUp, err
		case Explain:
			text = DetailsText(a) + "\n" + Numbered(all)
		default: // other words are the reason for no
			return event.AnswerApproval{Decision: event.Deny, Reason: strings.TrimSpace(reply)}, false, nil
		}
	}
}
