package ui

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/app/state"
	"buddy/views/dialog"
	"buddy/views/markup"
)

// backAtRest is Esc where there is nothing to close or to stop: the second one opens the list of prompts.
func backAtRest(u *UI, pending keymap.Action) {
	switch {
	case u.state.Running() != nil || len(u.state.Back.Borders) == 0:
	case pending == keymap.Back:
		chooseRewind(u)
	default:
		u.hint(keymap.Back, u.deps.Keys.Name(keymap.Back)+" again goes back to before an earlier prompt")
	}
}

// rewindWays lists what one can do with a prompt of the list, in the order in which it is offered.
var rewindWays = []struct{ id, text string }{
	{slash.BackBoth, "conversation and files"},
	{slash.BackConversation, "conversation"},
	{slash.BackFiles, "files"},
	{"fork", "fork: go on before it in a copy, this session keeps all"},
}

// chooseRewind lists the prompts that one can go back to before, the newest first, with what has changed
// since: "…" until that is known, "?" if it can't be.
func chooseRewind(u *UI) {
	all := slices.Clone(u.state.Back.Borders)
	if len(all) == 0 {
		u.hint("", slash.NoPrompts)
		return
	}
	changed := slices.Repeat([]string{"…"}, len(all)) // by each prompt
	closed := false
	p := u.overlays.pick(dialog.PickerOptions{
		Title: "Go back to before", Hint: "type to filter; " + slash.Uncovered, Columns: []string{"prompt", "asked", "changed since"},
		OnChoose: func(r show.Row) {
			id, joined, _ := strings.Cut(r.ID, joinedMark)
			if i, err := strconv.Atoi(id); err == nil && i < len(all) {
				chooseWay(u, all[i], i, joined, changed[i])
			}
		},
		OnClose: func() { closed = true },
	})
	p.SetRows(rewindRows(u, all, changed))
	p.SetNote("comparing …")
	u.deps.Background(func() func() {
		changes, err := u.deps.Catalog.Since()
		return func() {
			if closed {
				return
			}
			p.SetNote("")
			if err != nil {
				p.Say("files were not compared: " + err.Error())
			}
			for i, b := range all {
				if changed[i] = "?"; err == nil {
					changed[i] = slash.ChangedText(changes, b.ID)
				}
				p.SetCell(strconv.Itoa(i), 2, changed[i])
			}
		}
	})
}

// joinedMark parts the number of a prompt from the words of one that joined it, in the id of a row.
const joinedMark = " "

// rewindRows returns a row for each prompt, the newest first, with what has changed since; above it one for each that
// joined it and goes back with it.
func rewindRows(u *UI, all []state.Border, changed []string) []show.Row {
	rows := make([]show.Row, 0, len(all))
	now := u.deps.Now()
	add := func(id, mark string, b state.Border, changed string) {
		rows = append(rows, show.Row{ID: id, Cells: []string{mark + b.Words(), Age(now.Sub(time.UnixMilli(b.Time))), changed}})
	}
	for i, b := range slices.Backward(all) {
		for _, j := range slices.Backward(b.Joined) {
			add(strconv.Itoa(i)+joinedMark+j.Words(), slash.JoinedSign, j, "goes with the prompt below")
		}
		add(strconv.Itoa(i), "", b, changed[i])
	}
	return rows
}

// chooseWay lets a person choose what goes back to before a prompt, the number of which among those that count
// is given, from 0. joined is the prompt that the person chose, if it joined that one.
func chooseWay(u *UI, b state.Border, number int, joined, changed string) {
	hint := slash.Uncovered
	if joined != "" {
		hint = "“" + markup.Shorten(joined, 40) + "” was sent while this ran and goes back with it; " + hint
	}
	p := u.overlays.pick(dialog.PickerOptions{
		Title: "Go back to before “" + markup.Shorten(b.Words(), 40) + "”", Hint: hint, Columns: []string{"what", ""},
		OnChoose: func(r show.Row) {
			u.overlays.closeLists()
			if r.ID == "fork" {
				forkBefore(u, number)
				return
			}
			u.frontend().Command(slash.RewindTo(b, r.ID, false))
		},
	})
	rows := make([]show.Row, len(rewindWays))
	for i, way := range rewindWays {
		rows[i] = show.Row{ID: way.id, Cells: []string{way.text, ""}}
		if way.id == slash.BackBoth || way.id == slash.BackFiles {
			rows[i].Cells[1] = changed
		}
	}
	p.SetRows(rows)
}

// goesBack notes the prompt whose text comes into the editor once a command has gone back to before it.
func goesBack(u *UI, c event.Command) {
	r, ok := c.(event.Rewind)
	i := slices.IndexFunc(u.state.Back.Borders, func(b state.Border) bool { return b.Seq == r.ToSeq })
	if ok && r.Conversation && i >= 0 {
		u.heard.back = u.state.Back.Borders[i]
	}
}

// forkBefore goes on in a copy of the session that ends before a prompt; the first prompt has nothing before it.
func forkBefore(u *UI, number int) {
	if number == 0 {
		runWords(u, []string{"session", "new"})
		return
	}
	runWords(u, []string{"session", "fork", strconv.Itoa(number)})
}

// tookBack puts the text of the prompt that this screen went back to before into the editor. What was there
// is kept in the history. The zero event is none.
func tookBack(u *UI, p event.HistoryRewound) {
	if p.ToSeq == 0 {
		return
	}
	b := u.heard.back
	u.heard.back = state.Border{}
	if p.Redo || b.Seq == 0 || p.ToSeq != b.Seq || u.following.on() {
		return
	}
	u.v.conversation.Bottom() // what came of it is to be seen
	if !u.v.prompt.Empty() {
		u.v.prompt.Discard()
	}
	u.v.prompt.Replace(b.Text)
}
