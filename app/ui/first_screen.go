package ui

import (
	"fmt"
	"strings"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/slash"
	"buddy/app/state"
	"buddy/views/markup"
)

// start holds what the first screen offers, and the position that the session is to be shown at.
type start struct {
	goal   slash.Spot // the position to show once it has been read
	first  First
	recent []Recent
}

// First holds the text and the offer that an empty conversation shows below the description of buddy.
type First struct {
	Lines   []string // examples to try; untrusted
	Missing string   // why no model answers, shown with choices; untrusted
	Local   string   // the model servers that were found, if a model is missing; untrusted
	Offer   string   // the effect of Enter, such as "use qwen3"; "" for none; untrusted
	Use     string   // the model that Enter selects; "" lets the user choose a local one
}

// Recent is a session that the first screen offers, to be opened by typing a digit.
type Recent struct {
	ID, Line string // Line is safe to draw
}

// Examples returns suggestions for the first prompt. For the demo they include its tour, without an instruction file
// /init.
func Examples(demo, instructions bool) First {
	first, last := "Ask anything, or run a shell command with !  (e.g. !git status)", "Press ? for the keys"
	if demo {
		first = `Type "tour" to try the demo.`
	}
	if !instructions {
		last += " · /init creates an AGENTS.md for this project"
	}
	return First{Lines: []string{first, last}}
}

// SetFirst changes what an empty conversation shows.
func SetFirst(u *UI, f First) {
	u.start.first = f
	showFirst(u)
}

// OfferRecent lists sessions on the first screen.
func OfferRecent(u *UI, recent []Recent) {
	u.start.recent = recent
	showFirst(u)
}

// firstChoices lists the choices of a user without a model.
var firstChoices = [...]string{"Add an API key", "Use a model on this machine", "Try the tour (20 s)"}

// choose runs choice n.
func choose(u *UI, n int) {
	u.v.prompt.SetText("")
	switch n {
	case 0:
		runWords(u, []string{"login"})
	case 1:
		runWords(u, []string{"model", "local"})
	default:
		u.submit("tour")
	}
}

// accept handles Enter on an empty prompt: it does what the first screen offers.
func accept(u *UI) {
	switch f := u.start.first; {
	case f.Missing == "" || f.Offer == "" || state.Begun(&u.state):
	case f.Use == "":
		choose(u, 1)
	default:
		u.deps.Send(event.SwitchModel{Profile: f.Use})
	}
}

// offeredChoices returns the number of choices, 0 if a model answers.
func (s *start) offeredChoices() int {
	if s.first.Missing == "" {
		return 0
	}
	return len(firstChoices)
}

// showFirst updates the first screen.
func showFirst(u *UI) {
	s := &u.start
	lines := []string{"buddy runs commands in panes you can watch and asks before any change."}
	for _, text := range s.first.Lines {
		lines = append(lines, markup.Plain(text))
	}
	n := s.offeredChoices()
	if n > 0 {
		lines = append(lines, "", markup.Plain(s.first.Missing))
	}
	if n > 0 && s.first.Offer != "" {
		lines = append(lines, "Press Enter to "+markup.Plain(s.first.Offer)+".")
	}
	for i, text := range firstChoices[:n] {
		if i == 1 && s.first.Local != "" {
			text += "  (" + markup.Plain(s.first.Local) + ")"
		}
		lines = append(lines, fmt.Sprintf(" %d  %s", i+1, text))
	}
	if len(s.recent) > 0 {
		lines = append(lines, "", "Resume an earlier session:")
	}
	for i, r := range s.recent {
		lines = append(lines, fmt.Sprintf(" %d  %s", n+i+1, r.Line))
	}
	switch {
	case len(s.recent) > 0:
		lines = append(lines, "Type its number and press Enter · F4 for all sessions")
	case n > 0:
		lines = append(lines, "Type a number and press Enter")
	}
	u.v.conversation.SetWelcome(lines)
}

// modelCame removes the choices from the first screen when a model other than the demo is used.
func modelCame(u *UI, e event.ModelSwitched) {
	if u.start.first.Missing != "" && e.API != model.Demo {
		SetFirst(u, Examples(false, true))
	}
}

// offered returns the index of the choice or session whose digit is text. It returns -1 if there is none, or if the
// conversation has started.
func offered(u *UI, text string) int {
	n := u.start.offeredChoices() + len(u.start.recent)
	if n == 0 || len(text) != 1 || text[0] < '1' || int(text[0]-'1') >= n || state.Begun(&u.state) {
		return -1
	}
	return int(text[0] - '1')
}

// runOffer runs the choice or opens the session whose digit was sent, and reports whether text was such a digit. The
// user has to press Enter after the digit, because a prompt may start with a digit.
func runOffer(u *UI, text string) bool {
	n := offered(u, strings.TrimSpace(text))
	if n < 0 {
		return false
	}
	if n < u.start.offeredChoices() {
		choose(u, n)
		return true
	}
	u.v.prompt.SetText("")
	id := u.start.recent[n-u.start.offeredChoices()].ID
	runWords(u, []string{"session", "resume", id})
	return true
}
