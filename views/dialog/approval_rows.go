package dialog

import (
	"slices"

	"buddy/agent/action"
	"buddy/themes"
	"buddy/views/draw"
)

// approvalRows are the rows of the dialog for one size: what is always there, and between
// them what scrolls where it has no room.
type approvalRows struct {
	title      []draw.Span // at the right of the border
	head, keys [][]draw.Span
	scrolled   []bodyRow     // the command, and what is known of it unless that is pinned
	body       int           // how many of them are the command's
	pinned     [][]draw.Span // below it
	rule       bool          // the rule that would be added shows in full
	gaps       [3]int        // blank rows above what scrolls, below it, and below what is pinned
	room       int           // for what scrolls
	decisive   int           // rows of what scrolls that have to be seen before it is approved
}

const (
	leastBody    = 4  // rows of the command that show before anything but the command does
	leastOfDiff  = 7  // so many of a diff, with the line that names its file
	shortBody    = 6  // this many before choices have numbers
	roomyBody    = 8  // this many before they have a row each
	maxNoteRows  = 3  // of one note, so that a long reason cannot hide the command
	maxScrolled  = 99 // of one note where it scrolls behind the command
	maxExplained = 6  // of one note when all is explained
)

// plan divides h rows. Short of them the dialog gives up blank lines, then keys, then what is
// known of the command: that is shortened, or scrolls after the command, which never gives way.
func (a *Approval) plan(w, h int) approvalRows {
	p := a.planFor(w, h, a.layBody(w, false).rows)
	if p.room < len(a.lines.rows) && p.room < fewOfDiff && !a.amend.done {
		return a.planFor(w, h, a.layBody(w, true).rows)
	}
	return p
}

// planFor divides h rows for a body.
func (a *Approval) planFor(w, h int, body []bodyRow) approvalRows {
	least := leastBody
	if changesFile(a) {
		least = leastOfDiff
	}
	least = min(len(body), least)
	p := approvalRows{scrolled: body, body: len(body), decisive: len(body)}
	p.title, p.head = a.heads(w, h)
	wide := a.keysFor(&p, w, h, least)
	p.rule = wide
	free := h - len(p.head) - len(p.keys)
	most := maxNoteRows
	if a.explain.on {
		most = maxExplained
	}
	notes := a.notes(w, most, wide)
	if len(concat(notes))+len(body) > free && examples(a, w, most) > 0 {
		notes = notes[:len(notes)-1] // rows of the command matter more than examples of what a rule would allow
	}
	p.pinned = concat(notes)
	if rest := free - len(p.pinned) - len(body); rest >= 0 {
		p.room = len(body)
		p.part(rest)
		return p
	}
	if !a.explain.on {
		p.pinned = shrink(notes, max(len(notes), free-len(body)), w)
	}
	if p.room = free - len(p.pinned); p.room >= least {
		return p
	}
	p.scrolled = append(slices.Clip(body), asLines(concat(a.notes(w, maxScrolled, wide)))...)
	p.decisive += len(noteRows(a.asked, noteLoses, w, maxScrolled))
	p.pinned, p.room = nil, free
	if rule := noteRows(a.asked, noteSimilar, w, 1); len(rule) > 0 && !wide && !a.explain.on && free > 2 { // whoever presses its key has seen it
		p.pinned, p.room = rule, free-1
		p.rule = len(noteRows(a.asked, noteSimilar, w, 2)) == 1
	} else if !a.explain.on && free > least {
		p.pinned, p.room = noteRows(a.asked, noteRule, w, 1), free-1
	}
	return p
}

// examples returns how many rows the examples have, which are the last note then; 0 where they aren't.
func examples(a *Approval, w, most int) int {
	if a.explain.on || a.amend.done {
		return 0
	}
	return len(noteRows(a.asked, noteLike, w, most))
}

// keysFor gives the choices as many rows as there are for them, and reports whether those that
// approve have rows of their own. Short of rows they say less, but all are there.
func (a *Approval) keysFor(p *approvalRows, w, h, least int) (wide bool) {
	known := len(concat(a.notes(w, 1, true)))
	p.keys = a.choiceRows(w, wideChoices, false)
	if free := h - len(p.head) - len(p.keys); free < len(p.scrolled)+known { // not all shows
		p.keys = a.choiceRows(w, wideChoices, true)
	}
	if h-len(p.head)-len(p.keys) >= known+max(least, min(len(p.scrolled), roomyBody)) {
		return true
	}
	if p.keys = a.choiceRows(w, shortChoices, true); h-len(p.head)-len(p.keys) < known+min(len(p.scrolled), shortBody) {
		p.keys = a.choiceRows(w, tinyChoices, true)
	}
	if a.typing != nil { // in their place
		p.keys = append(p.keys, make([][]draw.Span, max(0, reasonRows-len(p.keys)))...)
	}
	p.keys = p.keys[:max(1, min(len(p.keys), h-len(p.head)-1))]
	return false
}

// heads are the title at the right and the rows at the top. What is asked about and its risk go
// into the title if both have room there, or the risk alone, where rows are few.
func (a *Approval) heads(w, h int) (title []draw.Span, head [][]draw.Span) {
	who, risk := what(a.asked.Action), a.risk(a.asked.Action)
	if h < fewRows && changesFile(a) && a.asked.Action.Target != "" { // the first row of the diff says what it does
		who = draw.Untrusted(themes.Strong, a.asked.Action.Target)
	}
	both := who
	if len(risk) > 0 {
		both = append(append(slices.Clip(who), draw.Text(themes.Muted, " · ")), risk...)
	}
	room := w - titleRoom - draw.Width(a.titled(nil))
	if draw.Width(both) <= room {
		return both, nil
	}
	head = a.head(w)
	if h >= fewRows || len(head) < 2 || len(risk) == 0 || draw.Width(risk) > room {
		return nil, head
	}
	return risk, head[:len(head)-1]
}

const (
	fewRows   = 12 // inside the border
	fewOfDiff = 10 // of what scrolls: a diff has only what changes
	titleRoom = 13 // cells of the border that the question needs
)

// changesFile reports whether a diff shows what is asked about.
func changesFile(a *Approval) bool {
	act := a.asked.Action
	return act.Kind == action.FileWrite && act.Preview != "" && len(act.Targets) == 0 && !a.amend.done
}

// part puts blank rows between the parts, as far as there are some left: first above the choices.
func (p *approvalRows) part(left int) {
	for i := len(p.gaps) - 1; i >= 0 && left > 0; i-- {
		if i < len(p.gaps)-1 || len(p.pinned) > 0 {
			p.gaps[i] = 1
			left--
		}
	}
}

// height returns how many rows there are if nothing scrolls.
func (p *approvalRows) height() int {
	return len(p.head) + len(p.scrolled) + len(p.pinned) + len(p.keys) + p.gaps[0] + p.gaps[1] + p.gaps[2]
}

// shrink joins notes in at most so many rows, by cutting the longest, as far as each keeps one.
func shrink(notes [][][]draw.Span, rows, w int) [][]draw.Span {
	total := len(concat(notes))
	for total > rows {
		longest := 0
		for i, n := range notes {
			if len(n) > len(notes[longest]) {
				longest = i
			}
		}
		n := len(notes[longest]) - 1
		if n < 1 {
			break
		}
		notes[longest] = draw.AtMost(notes[longest], n, w)
		total--
	}
	return concat(notes)
}

func concat(parts [][][]draw.Span) [][]draw.Span {
	var all [][]draw.Span
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}
