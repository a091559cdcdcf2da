package ui

import (
	"slices"
	"strings"

	"buddy/app/keymap"
	"buddy/app/slash"
	"buddy/texts"
	"buddy/views/dialog"
	"buddy/views/markup"
)

// memoryList lets a person look at what memory has and where it comes from, change it, and decide about
// proposals.
type memoryList struct {
	u      *UI
	picker *dialog.Picker
	all    []slash.Remembered
	closed bool
}

// chooseMemory lists what memory has.
func chooseMemory(u *UI) {
	l := &memoryList{u: u}
	l.picker = u.overlays.pick(dialog.PickerOptions{
		Title: "Memory", Hint: "type to filter; Enter shows where one comes from, and changes it", Columns: []string{"what", "kind", "for", "state"},
		Empty:    "nothing yet: /remember TEXT writes into it, and a denial with a reason teaches it",
		OnChoose: l.ask, OnMove: l.whole, OnClose: func() { l.closed = true },
	})
	l.picker.SetNote("looking …")
	l.read("")
}

// read reads the list, and then says what was done before.
func (l *memoryList) read(did string) {
	l.u.deps.Background(func() func() {
		all, skipped, err := l.u.deps.Catalog.Memory.List()
		return func() {
			if l.closed {
				return
			}
			l.all = all
			l.picker.SetNote("")
			l.picker.SetRows(memoryRows(all))
			switch {
			case err != nil:
				l.say(err.Error())
			case did != "":
				l.say(did)
			case skipped != "":
				l.say(skipped)
			}
		}
	})
}

func (l *memoryList) say(text string) {
	first, _, _ := strings.Cut(text, "\n")
	l.picker.Say(markup.Shorten(first, 200))
}

// scopeWords are the scopes in the list.
var scopeWords = map[string]string{"folder": "this folder", "person": "you", "team": "the team"}

// memoryRows describes entries, those first that wait for the person.
func memoryRows(all []slash.Remembered) []dialog.PickerRow {
	rows := make([]dialog.PickerRow, len(all))
	for i, e := range all {
		rows[i] = dialog.PickerRow{
			ID: e.ID, Mark: e.Proposed,
			Cells: []string{markup.Shorten(e.Text, 60), e.Kind, scopeWords[e.Scope], markup.Shorten(stateText(e), 24)},
		}
	}
	return rows
}

// stateText says in a few words what is to be known of an entry.
func stateText(e slash.Remembered) string {
	if e.State == "" {
		return e.Limits
	}
	return e.State
}

// What the list shows of a text and a state on a small screen, too, in bytes.
const (
	shortText  = 30
	shortState = 12
)

// whole shows all of a row's text, where the list may have cut it.
func (l *memoryList) whole(r dialog.PickerRow) {
	if e, ok := l.find(r.ID); ok && (len(e.State) > shortState || len(e.Text) > shortText) {
		text := e.Text
		if len(e.State) > shortState {
			text += " · " + e.State
		}
		l.picker.Say(markup.Shorten(text, 200))
	}
}

func (l *memoryList) find(id string) (slash.Remembered, bool) {
	i := slices.IndexFunc(l.all, func(e slash.Remembered) bool { return e.ID == id })
	if i < 0 {
		return slash.Remembered{}, false
	}
	return l.all[i], true
}

// ask shows where an entry comes from and asks what to do with it.
func (l *memoryList) ask(r dialog.PickerRow) {
	e, ok := l.find(r.ID)
	if !ok {
		return
	}
	l.u.deps.Background(func() func() {
		why, err := l.u.deps.Catalog.Memory.Do("why " + e.ID)
		return func() {
			switch {
			case l.closed:
			case err != nil:
				l.say(err.Error())
			default:
				l.question(e, strings.Split(why, "\n"))
			}
		}
	})
}

// question asks what to do with an entry or a proposal.
func (l *memoryList) question(e slash.Remembered, why []string) {
	q := dialog.Question{Title: markup.Shorten(e.Text, 60), Lines: why, Scope: keymap.Question}
	var does []func()
	add := func(label string, do func()) { q.Choices, does = append(q.Choices, label), append(does, do) }
	verb := func(label, verb string) { add(label, func() { l.do(verb + " " + e.ID) }) }
	if e.Proposed {
		q.Title, q.Whole = "Proposed: "+markup.Shorten(e.Text, 60), 1 // a person accepts what was on the screen
		verb("accept it: it holds from now on", "accept")
		add("accept it with another text", func() { l.edit(e, "accept") })
		verb("reject it for good", "reject")
	} else {
		add("edit it", func() { l.edit(e, "edit") })
		verb("keep it: it is right", "keep")
		if e.Scope != "team" {
			verb("share it with the team, in .buddy/memory.md", "share")
		}
		verb("forget it", "forget")
	}
	add("leave it as it is", func() {})
	q.Take = func(n int) { does[n]() }
	l.u.dock.confirm.Ask(q)
}

// edit opens the text of an entry in the person's editor, and obeys a verb with what they leave.
func (l *memoryList) edit(e slash.Remembered, verb string) {
	text, err := l.u.deps.Edit("memory.md", e.Text)
	switch text = texts.OneLine(text); {
	case err != nil:
		l.say(err.Error())
	case text == "" || text == e.Text:
		l.say("nothing was edited")
	default:
		l.do(verb + " " + e.ID + " " + text)
	}
}

// do obeys what could be typed after /memory, and reads the list again.
func (l *memoryList) do(args string) {
	l.u.deps.Background(func() func() {
		text, err := l.u.deps.Catalog.Memory.Do(args)
		return func() {
			switch {
			case l.closed:
			case err != nil:
				l.say(err.Error())
			default:
				l.read(text)
			}
		}
	})
}
