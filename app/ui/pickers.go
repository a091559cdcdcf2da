package ui

import (
	"fmt"
	"strings"

	"buddy/app/keymap"
	"buddy/app/layout"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/themes"
	"buddy/views/dialog"
)

// pickTheme lets the user choose a theme. The selected theme is previewed.
func pickTheme(l *overlays, c *colouring, notify func(string)) {
	before, auto := c.Theme, c.Auto
	p := l.pick(dialog.PickerOptions{
		Title: "Themes", Hint: "type to filter; move to preview",
		OnMove: func(r show.Row) {
			if r.ID == themes.Auto && auto {
				c.set(before) // the theme for the terminal's background
			} else if t, err := c.Colours.Load(r.ID); err == nil {
				c.set(t)
			} else {
				l.pickers[len(l.pickers)-1].Say(strings.ReplaceAll(err.Error(), "\n", " "))
			}
		},
		OnChoose: func(r show.Row) {
			l.unpick()
			if err := c.load(r.ID); err != nil {
				c.set(before)
				notify(err.Error())
				return
			}
			notify(keepTheme(r.ID))
		},
		OnClose: func() {
			c.set(before)
			c.Auto = auto
		},
	})
	now := before.Name
	if auto {
		now = themes.Auto
	}
	rows := []show.Row{{ID: themes.Auto, Find: themes.Auto, Cells: []string{themes.Auto + ": light or dark, like the terminal"}}}
	for _, name := range themes.Names(c.Colours.Dir) {
		rows = append(rows, show.Row{ID: name, Cells: []string{name}})
	}
	for i := range rows {
		rows[i].Mark = rows[i].ID == now
	}
	p.SetRows(rows)
	p.Select(now)
}

// pickCommand lets the user choose a command or an action, and runs it.
func pickCommand(l *overlays, command func(slash.Command), action func(keymap.Scope, layout.Pane, keymap.Entry)) {
	rows := make(map[string]func())
	var all []show.Row
	for _, c := range slash.Commands {
		id := "/" + c.Name
		rows[id] = func() { command(c) }
		all = append(all, show.Row{ID: id, Cells: []string{fmt.Sprintf("%-13s %s", id, helpOf(c)), ""}})
	}
	for _, s := range keymap.Scopes() {
		pane, ok := paneOf[s]
		if !ok {
			continue
		}
		for e := range l.deps.Keys.In(s) {
			if len(e.Keys) == 0 || !runnable(e) {
				continue
			}
			id := string(s) + " " + string(e.Action)
			rows[id] = func() { action(s, pane, e) }
			all = append(all, show.Row{ID: id, Cells: []string{e.Help, e.Keys[0].String(), s.Title()}})
		}
	}
	p := l.pick(dialog.PickerOptions{
		Title: "Commands and actions", Hint: "type to filter", Columns: []string{"description", "key", "where"},
		OnChoose: func(r show.Row) {
			l.unpick()
			rows[r.ID]()
		},
	})
	p.SetRows(all)
}

// paneOf maps a scope to the pane where its keys apply; global keys apply in the prompt.
var paneOf = map[keymap.Scope]layout.Pane{
	keymap.Global: layout.Prompt, keymap.Prompt: layout.Prompt, keymap.Conversation: layout.Conversation,
	keymap.Panes: layout.Live, keymap.Tasks: layout.Tasks,
}

// runnable reports whether an action is listed among the commands. Moving, typing and opening the list itself are not.
func runnable(e keymap.Entry) bool {
	for _, s := range e.Scopes {
		if s == keymap.Reason || s == keymap.Amend || s == keymap.Help && e.Action != keymap.Back {
			return false
		}
	}
	switch e.Action {
	case keymap.ShowPalette, keymap.Send, keymap.ItemUp, keymap.ItemDown, keymap.Back:
		return false
	}
	return true
}

// runChosen runs the command that the user has chosen, or puts it into the prompt if it needs arguments.
func (u *UI) runChosen(c slash.Command) {
	if c.Args == "" || strings.HasPrefix(c.Args, "[") {
		runCommand(u, "/"+c.Name)
		return
	}
	u.arranged.setFocus(layout.Prompt)
	u.v.prompt.Replace("/" + c.Name + " ")
	u.hint("", c.Args)
}

// runAction runs an action in the pane to which it belongs.
func (u *UI) runAction(s keymap.Scope, pane layout.Pane, e keymap.Entry) {
	if s == keymap.Global {
		u.global(e.Action, "")
		return
	}
	if !exists(pane, u.input(u.arranged.lay.in.W, u.arranged.lay.in.H), u.v.panes.Len()) {
		u.hint("", "nothing found in "+s.Title()+" now")
		return
	}
	u.arranged.setFocus(pane)
	u.key(e.Keys[0].Event())
}
