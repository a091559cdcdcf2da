package dialog

import (
	"slices"

	"buddy/agent/action"
	"buddy/app/keymap"
	"buddy/views/draw"
)

// approvalRows are the rows of the dialog for one size: fixed rows, and between them rows that scroll if necessary.
type approvalRows struct {
	titles     draw.Titles
	head, keys [][]draw.Span
	scrolled   []bodyRow     // the command or the diff, and the facts unless they are pinned
	details    int           // index in scrolled of the first detail row
	pinned     [][]draw.Span // below scrolled
	gaps       [2]int        // blank rows above the facts and above the answers
	room       int           // rows for scrolled
	decisive   int           // rows of scrolled that must be seen before an approval
}

const (
	leastBody = 4  // visible rows of a command; if fewer fit, facts scroll, too
	leastDiff = 7  // the same for a diff
	roomyBody = 6  // visible rows of an action; if fewer fit, answers share rows
	maxFacts  = 3  // rows of the agent's reason, so that a long one can't hide the command
	maxScroll = 99 // rows of the reason if it scrolls after the command
	smallDiff = 10 // rows for a diff; if there are fewer, context lines are omitted
)

// plan divides h rows among the parts of the dialog. If h is small, a diff has fewer context lines.
func (a *Approval) plan(w, h int) (p approvalRows) {
	for tight := range a.lines {
		body := a.layBody(w, tight).rows
		if p = a.planFor(w, h, body); !changesFile(a) || p.room >= len(body) || p.room >= smallDiff {
			break
		}
	}
	return p
}

// planFor divides h rows among a body and the other parts. If h is too small, the dialog first omits blank rows, then
// puts several answers in a row, then lets the facts scroll after the body.
func (a *Approval) planFor(w, h int, body []bodyRow) approvalRows {
	p := approvalRows{scrolled: body, details: len(body), decisive: len(body)}
	p.titles, p.head = a.heads(w)
	least := leastBody
	if changesFile(a) {
		least = leastDiff
	}
	least = min(len(body), least)
	h -= len(p.head)
	a.short = false
	facts, _ := a.facts(w, maxFacts)
	if a.answers(&p, w, h, len(facts)+min(len(body), max(least, roomyBody))); a.short {
		facts, _ = a.facts(w, maxFacts)
	}
	free := h - len(p.keys)
	details := a.details(w)
	if rest := free - len(body) - len(facts) - len(details); rest >= 0 {
		p.pinned, p.room = append(facts, details...), len(body)
		p.part(rest, len(details) > 0)
		return p
	}
	if p.pinned, p.room = facts, free-len(facts); p.room < least || len(details) > 0 { // everything scrolls, in reading order
		facts, musts := a.facts(w, maxScroll)
		p.scrolled = append(slices.Clip(body), asLines(facts)...)
		p.decisive, p.pinned, p.room = len(body)+musts, nil, free
	}
	p.details = len(p.scrolled)
	p.scrolled = append(slices.Clip(p.scrolled), asLines(details)...)
	return p
}

// answers gives each answer a row if the other rows still fit. Otherwise answers share rows, with shorter texts.
func (a *Approval) answers(p *approvalRows, w, h, others int) {
	if p.keys = a.answerRows(w); h-len(p.keys) < others {
		a.short = true
		p.keys = a.answerRows(w)
	}
	if a.typing != nil { // instead of answers
		need := 2 + len(a.reason.rows(a.Keys, a.asked.Context.Memory, w)) // the line itself and its keys
		p.keys = append(p.keys, make([][]draw.Span, max(0, need-len(p.keys)))...)
	}
	p.keys = p.keys[:max(1, min(len(p.keys), h-1))]
}

// answerRows returns the answers, and below them the other keys. Answers that are not accepted yet are dim.
func (a *Approval) answerRows(w int) [][]draw.Span {
	shown := choices{all: slices.Clone(a.choices.all), at: a.choices.at}
	for i, c := range shown.all {
		shown.all[i].label = labelOf(a, i)
		shown.all[i].row = !a.short
		shown.all[i].dim = !a.works(c.action)
	}
	details := "details"
	if a.explain.on {
		details = "hide details"
	}
	var own []draw.Hint
	for _, o := range []struct {
		act   keymap.Action
		label string
	}{{keymap.Explain, details}, {keymap.AmendCall, "edit"}} {
		if keys := a.Keys.Keys(o.act); len(keys) > 0 && (o.act != keymap.AmendCall || a.amend.put != nil) {
			own = append(own, draw.Hint{Key: keys[0], Label: o.label})
		}
	}
	return append(shown.rows(w, a.short), a.hintRows(own, w)...)
}

// labelOf returns the text of an answer.
func labelOf(a *Approval, i int) string {
	one := offered(a)[i]
	if a.short {
		return one.Short
	}
	return one.Label
}

// works reports whether a choice is accepted now.
func (a *Approval) works(act keymap.Action) bool {
	switch act {
	case keymap.Approve:
		return a.HasFocus() && a.shown.end && a.LiveIn() == 0
	case keymap.AllowSimilar, keymap.TryFirst:
		return a.HasFocus() && (a.shown.end || !mustSee(a, act))
	}
	return a.HasFocus()
}

// changesFile reports whether the action is shown as a diff.
func changesFile(a *Approval) bool {
	act := a.asked.Action
	files := act.Kind == action.FileWrite || act.Kind == action.FileDelete
	if t := a.asked.Context.Tried; t != nil {
		return len(t.Files) > 0
	}
	return files && act.Preview != "" && len(act.Targets) == 0 && !a.amend.done
}

// part distributes remaining rows as blank rows: first above the answers if details are open, then above the facts.
func (p *approvalRows) part(left int, details bool) {
	if left > 0 && details {
		p.gaps[1], left = 1, left-1
	}
	if left > 0 && len(p.pinned) > 0 {
		p.gaps[0] = 1
	}
}

// height returns the number of rows if nothing scrolls.
func (p *approvalRows) height() int {
	return len(p.head) + len(p.scrolled) + len(p.pinned) + len(p.keys) + p.gaps[0] + p.gaps[1]
}
