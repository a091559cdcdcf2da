package ui

import (
	"fmt"
	"strconv"

	"buddy/app/keymap"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/views/dialog"
	"buddy/views/markup"
)

// trustList lets a person look at what of the project needs trust, and decide. What is trusted
// applies once the list is closed: the session begins anew.
type trustList struct {
	u      *UI
	picker *dialog.Picker
	items  []slash.TrustItem
	edited bool // something was decided
}

// allWaiting is the row that stands for all that waits.
const allWaiting = "all"

// chooseTrust lists what of the project needs trust. Where there are only settings it trusts the
// folder.
func chooseTrust(u *UI) {
	if err := slash.Busy(&u.state); err != nil {
		u.hint("", "/trust: "+err.Error())
		return
	}
	l := &trustList{u: u}
	l.read(func() {
		if slash.SettingsAlone(l.items) {
			if err := u.deps.Catalog.TrustFolder(u.frontend()); err != nil {
				u.hint("", "/trust: "+err.Error())
			}
			return
		}
		l.picker = u.overlays.pick(dialog.PickerOptions{
			Title: "What this project runs and grants", Hint: "type to filter; Enter shows all of it and asks", Columns: []string{"what", "runs", "state"},
			OnChoose: l.ask, OnClose: l.close,
		})
		l.picker.SetRows(l.rows())
	})
}

// read reads the list and then goes on, unless that failed.
func (l *trustList) read(then func()) {
	u := l.u
	u.deps.Background(func() func() {
		items, err := u.deps.Catalog.Trust.List()
		return func() {
			if err != nil {
				u.hint("", "/trust: "+err.Error())
				return
			}
			l.items = items
			then()
		}
	})
}

// rows describes the items, by their number in the list, after one for all that wait.
func (l *trustList) rows() []show.Row {
	var rows []show.Row
	if n := len(slash.Waiting(l.items)); n > 1 {
		rows = append(rows, show.Row{ID: allWaiting, Cells: []string{fmt.Sprintf("all %d that wait", n), "", ""}})
	}
	for n, i := range l.items {
		rows = append(rows, show.Row{
			ID: strconv.Itoa(n), Mark: i.State == slash.Trusted,
			Cells: []string{markup.Shorten(i.Title(), 40), markup.Shorten(i.Runs, 24), string(i.State)},
		})
	}
	return rows
}

// ask shows a row's items whole and asks what to do with them.
func (l *trustList) ask(r show.Row) {
	if r.ID == allWaiting {
		all := slash.Waiting(l.items)
		var lines []string
		for _, i := range all {
			lines = append(append(lines, i.Lines...), "")
		}
		l.question(fmt.Sprintf("Trust these %d?", len(all)), lines, all, "trust all of them")
		return
	}
	n, err := strconv.Atoi(r.ID)
	if err != nil || n >= len(l.items) {
		return
	}
	switch i := l.items[n]; i.State {
	case slash.Untrustable:
		l.question(i.Title()+" can't be trusted", i.Lines, nil, "")
	case slash.Trusted:
		l.question(i.Title()+" is trusted", i.Lines, []slash.TrustItem{i}, "")
	case slash.Changed:
		l.question(i.Title()+" changed since you trusted it", i.Lines, []slash.TrustItem{i}, "trust it as it is now")
	default:
		l.question("Trust "+i.Title()+"?", i.Lines, []slash.TrustItem{i}, "trust it")
	}
}

// question asks about items. trust is the choice that trusts them, "" where there is none.
func (l *trustList) question(title string, lines []string, items []slash.TrustItem, trust string) {
	q := dialog.Question{Title: title, Lines: lines, Scope: keymap.Question}
	var does []func()
	add := func(label string, do func()) { q.Choices, does = append(q.Choices, label), append(does, do) }
	switch {
	case trust != "":
		q.Whole = 1
		add(trust, func() { l.set(true, items) })
	case len(items) > 0:
		add("no longer trust it", func() { l.set(false, items) })
	}
	if len(items) == 1 && items[0].State == slash.Changed {
		add("show what changed", func() { l.changes(items[0]) })
	}
	add("leave it as it is", func() {})
	q.Take = func(n int) { does[n]() }
	l.u.dock.confirm.Ask(q)
}

// set changes the trust in items and reads the list again.
func (l *trustList) set(on bool, items []slash.TrustItem) {
	u := l.u
	u.deps.Background(func() func() {
		err := u.deps.Catalog.Trust.Set(on, items)
		return func() {
			if err != nil {
				l.picker.Say(markup.Shorten(err.Error(), 200))
			} else {
				l.edited = true
			}
			l.read(func() { l.picker.SetRows(l.rows()) })
		}
	})
}

// changes shows what changed in an item since it was trusted.
func (l *trustList) changes(i slash.TrustItem) {
	u := l.u
	u.deps.Background(func() func() {
		diff, err := u.deps.Catalog.Trust.Diff(i)
		return func() {
			if err != nil {
				l.picker.Say(markup.Shorten(err.Error(), 200))
				return
			}
			openChanges(u, i.Title(), diff)
		}
	})
}

// close begins the session anew if something was decided.
func (l *trustList) close() {
	if !l.edited {
		return
	}
	u := l.u
	if err := slash.Busy(&u.state); err != nil {
		u.deps.Catalog.Notice("what you decided applies when the session begins anew: " + err.Error())
		return
	}
	if err := u.frontend().Change(u.deps.Catalog.Current()); err != nil {
		u.hint("", "/trust: "+err.Error())
	}
}
