package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/app/state"
	"buddy/texts"
	"buddy/views/dialog"
	"buddy/views/markup"
)

// maxMessage limits the message line of a list, in characters.
const maxMessage = 200

// runWords runs a command and shows its answer.
func runWords(u *UI, words []string) { runWith(u, nowOf(u), words) }

// runWith is runWords with the given knowledge of the session.
func runWith(u *UI, now slash.Now, words []string) {
	c, args, here := sentHere(words)
	if here {
		if err := run(u, c, args); err != nil {
			u.hint("", fmt.Sprintf("/%s: %v", words[0], err))
		}
		return
	}
	u.hint("", "loading …")
	then := func(answer show.Answer, err error) {
		u.hint("", "")
		if err != nil {
			u.hint("", fmt.Sprintf("/%s: %v", words[0], err))
			return
		}
		showAnswer(u, words, answer)
	}
	if c.Instant {
		then(u.deps.Run(now, words))
		return
	}
	ask(u, now, words, then)
}

// sentHere returns the command that words name, and its arguments. here reports whether this screen handles the command
// itself, by acting on its own contents or by sending commands to the runtime.
func sentHere(words []string) (c slash.Command, args string, here bool) {
	args = strings.Join(words[1:], " ")
	c, ok := slash.Find(words[0])
	return c, args, ok && (!c.Answers || c.Sends(args))
}

// runDeed runs a command, in the background unless this screen runs it itself, and calls then with its answer.
func runDeed(u *UI, words []string, then func(show.Answer, error)) {
	if c, args, here := sentHere(words); here {
		then(show.Answer{}, run(u, c, args))
		return
	}
	ask(u, nowOf(u), words, then)
}

// ask runs a command in the background and calls then with its answer.
func ask(u *UI, now slash.Now, words []string, then func(show.Answer, error)) {
	inBackground(u, func() func() {
		answer, err := u.deps.Run(now, words)
		return func() { then(answer, err) }
	})
}

// nowOf returns the screen's knowledge of the session, for commands.
func nowOf(u *UI) slash.Now {
	now := slash.Now{Info: u.state.Info.Event, Prompts: slices.Clone(u.state.Back.Borders), Busy: slash.Busy(&u.state), Limits: slices.Clone(u.state.Info.Usage.Limits)}
	for b := range state.Newest(u.state.Blocks) {
		if now.Review = b.Review; b.Review != nil {
			break
		}
	}
	for _, t := range unfinished(&u.state) {
		now.Left = append(now.Left, t.Title)
	}
	return now
}

// showAnswer shows the answer of a command that was not run from a list.
func showAnswer(u *UI, words []string, a show.Answer) {
	switch {
	case a.Open != "":
		u.hint("", openAt(u, a))
	case a.Text != nil:
		showText(u, *a.Text)
	case a.List != nil:
		openShown(u, words, *a.List)
	case a.Document != nil:
		openDocument(u, words, *a.Document)
	case a.Question != nil:
		askShown(u, *a.Question, func(d show.Deed) { runWords(u, d.Run) })
	}
	if a.Then != nil {
		runWords(u, a.Then)
	}
	switch l := a.Leave; {
	case l == nil:
	case l.Quit:
		u.deps.Leave(slash.Next{Detach: l.Detach, Kill: l.Kill})
	default:
		change(&u.state, u.deps.Leave, l.Session, slash.Spot{})
	}
}

// openAt opens the file of an answer in the user's editor and returns the message to show.
func openAt(u *UI, a show.Answer) string {
	switch err := u.deps.OpenAt(a.Open, a.Line); {
	case err != nil:
		return err.Error()
	case a.Text != nil:
		return a.Text.Body
	}
	return ""
}

func showText(u *UI, t show.Text) {
	if t.Form == show.Diff {
		openChanges(u, t.Title, t.Body)
		return
	}
	Show(u, event.Notice{Text: strings.TrimRight(t.Body, "\n")})
}

// askShown asks the user a question and calls do with the chosen deed. It adds a choice to cancel if there is none.
func askShown(u *UI, asked show.Question, do func(show.Deed)) {
	if len(asked.Choices) > 0 && asked.Choices[0].Secret {
		deed := asked.Choices[0]
		u.v.secret.Ask(asked.Title, strings.Join(asked.Lines, " "), func(typed string) {
			now := nowOf(u)
			now.Secret = typed
			runWith(u, now, deed.Run)
		})
		return
	}
	q := dialog.Question{Title: asked.Title, Lines: asked.Lines, Scope: keymap.Question}
	deeds := asked.Choices
	if !slices.ContainsFunc(deeds, func(d show.Deed) bool { return d.Run == nil }) {
		deeds = append(slices.Clone(deeds), show.Deed{Label: "cancel"})
	}
	if asked.Whole {
		q.Whole = 1
	}
	choose := func(n int) {
		if n >= 0 && deeds[n].Run != nil {
			do(deeds[n])
		}
	}
	if asked.Scope != "" {
		q.Scope = keymap.Scope(asked.Scope)
		q.Answer = func(a keymap.Action) {
			choose(slices.IndexFunc(deeds, func(d show.Deed) bool { return d.Key == string(a) }))
		}
		u.dock.confirm.Ask(q)
		return
	}
	for _, d := range deeds {
		q.Choices = append(q.Choices, d.Label)
	}
	q.Take = choose
	u.dock.confirm.Ask(q)
}

// shownList is a list that a command answered with, while it is open.
type shownList struct {
	u       *UI
	words   []string // the command
	list    show.List
	picker  *dialog.Picker
	closed  bool
	filling bool // while its rows are being set
	did     bool // whether a deed was done
	busy    bool // while it is being read
	again   bool // whether it changed while it was being read
}

// openShown shows the list that a command answered with.
func openShown(u *UI, words []string, list show.List) {
	l := &shownList{u: u, words: words}
	l.picker = u.overlays.pick(dialog.PickerOptions{
		Title: list.Title, Hint: "type to filter", Columns: list.Columns, Empty: list.Empty,
		OnChoose: l.choose, OnMove: func(r show.Row) {
			if !l.filling { // the keys show until the user moves
				l.showMessage(r.Line)
			}
		},
		OnClose: func() {
			l.closed = true
			u.overlays.shown = slices.DeleteFunc(u.overlays.shown, func(o *shownList) bool { return o == l })
			if l.did && l.list.Done != nil {
				runWords(u, l.list.Done)
			}
		},
	})
	u.overlays.shown = append(u.overlays.shown, l)
	l.fill(list)
	if i := slices.IndexFunc(list.Rows, func(r show.Row) bool { return r.Mark }); i >= 0 && !slices.ContainsFunc(list.Rows, func(r show.Row) bool { return len(r.More) > 0 }) {
		l.picker.Select(list.Rows[i].ID)
	}
	if list.Rest != nil {
		l.picker.SetNote("loading …")
		l.read(list.Rest, "")
	}
}

// fill shows the rows of the list.
func (l *shownList) fill(list show.List) {
	l.list = list
	l.picker.SetNote("")
	l.filling = true
	l.picker.SetRows(list.Rows)
	l.filling = false
	l.showMessage(list.Note)
}

// showMessage shows the first line of a text below the rows.
func (l *shownList) showMessage(text string) {
	if text != "" {
		first, _, _ := strings.Cut(text, "\n")
		l.picker.Say(markup.Shorten(first, maxMessage))
	}
}

// read runs a command whose answer is the list, and then shows the message did. If read is called while the command
// runs, the list is read once more afterwards.
func (l *shownList) read(words []string, did string) {
	if l.busy {
		l.again = true
		return
	}
	l.busy = true
	ask(l.u, nowOf(l.u), words, func(answer show.Answer, err error) {
		if l.busy = false; l.closed {
			return
		}
		if answer.List != nil {
			l.fill(*answer.List)
		}
		if err != nil {
			did = err.Error()
		}
		l.showMessage(did)
		if l.again {
			l.again = false
			l.read(l.words, did)
		}
	})
}

// choose runs the only deed of a row, or shows the row's details and lets the user choose a deed.
func (l *shownList) choose(r show.Row) {
	switch {
	case len(r.Deeds) == 0 && len(r.More) == 0:
		l.showMessage(r.Line)
		return
	case len(r.Deeds) == 1 && len(r.More) == 0:
		l.do(r.Deeds[0])
		return
	}
	askShown(l.u, show.Question{Title: markup.Shorten(cmp.Or(r.Title, r.Cells[0]), 60), Lines: r.More, Choices: r.Deeds, Whole: r.Whole}, l.do)
}

// do runs a deed, then reads the list again unless the deed closes it.
func (l *shownList) do(d show.Deed) {
	if d.Typed {
		l.picker.AskText(strings.Join(d.Run, " ")+":", d.Edit, func(text string) {
			l.do(show.Deed{Run: append(slices.Clone(d.Run), text), Closes: d.Closes})
		})
		return
	}
	words := slices.Clone(d.Run)
	if d.Edit != "" {
		text, err := l.u.deps.Edit(d.Run[0]+".md", d.Edit)
		switch text = texts.OneLine(text); {
		case err != nil:
			l.showMessage(err.Error())
			return
		case text == "" || text == d.Edit:
			l.showMessage("you changed nothing")
			return
		}
		words = append(words, text)
	}
	if d.Closes {
		l.u.overlays.closeLists()
		runWords(l.u, words)
		return
	}
	runDeed(l.u, words, func(answer show.Answer, err error) {
		switch {
		case l.closed:
		case err != nil:
			l.read(l.words, err.Error())
		case answer.Open != "":
			l.showMessage(openAt(l.u, answer))
		case answer.Question != nil, answer.Text != nil && answer.Text.Form == show.Diff: // nothing was changed
			showAnswer(l.u, words, answer)
		case answer.Text != nil && answer.Text.Form == show.Notice:
			l.did = true
			l.read(l.words, answer.Text.Body)
		default:
			l.did = true
			showAnswer(l.u, words, answer)
			l.read(l.words, "")
		}
	})
}

// refresh reads those open lists again whose rows change by themselves.
func (l *overlays) refresh() {
	for _, one := range l.shown {
		if one.list.Changes {
			one.read(one.words, "")
		}
	}
}

// openChanges opens the dialog that shows a diff.
func openChanges(u *UI, title, diff string) {
	c := dialog.NewChanges(u.deps.Theme, u.deps.Keys, title, diff)
	c.SetHighlighter(&markup.Highlighter{Background: u.deps.Background})
	c.OnCopy = u.copy
	c.OnEdit = lookAs(u, "changes.diff")
	c.OnClose = u.overlays.closeSheet
	u.overlays.sheet = c
}
