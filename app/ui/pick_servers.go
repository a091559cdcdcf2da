package ui

import (
	"fmt"
	"slices"
	"strconv"

	"buddy/app/keymap"
	"buddy/app/slash"
	"buddy/views/dialog"
	"buddy/views/markup"
)

// serverList lets a person look at the MCP servers, and start and end them. It follows their
// states while it is open.
type serverList struct {
	u      *UI
	picker *dialog.Picker
	all    []slash.Server
	busy   bool // it is being read
	again  bool // it changed meanwhile
}

// chooseServer lists the MCP servers.
func chooseServer(u *UI) {
	l := &serverList{u: u}
	l.picker = u.overlays.pick(dialog.PickerOptions{
		Title: "MCP servers", Hint: "type to filter; Enter shows all of one and starts or ends it", Columns: []string{"name", "state", "tools", "last error"},
		Empty:    "none: buddy mcp add adds one, and a project's .mcp.json may name some",
		OnChoose: l.ask, OnMove: l.why, OnClose: func() { u.overlays.servers = nil },
	})
	l.picker.SetNote("looking …")
	u.overlays.servers = l
	l.read()
}

// read reads the list, and once more if something changed meanwhile.
func (l *serverList) read() {
	if l.busy {
		l.again = true
		return
	}
	l.busy = true
	u := l.u
	u.deps.Background(func() func() {
		all, err := u.deps.Catalog.MCP.List()
		return func() {
			l.busy = false
			if u.overlays.servers != l {
				return
			}
			l.all = all
			l.picker.SetNote("")
			l.picker.SetRows(serverRows(all))
			if err != nil {
				l.picker.Say(markup.Shorten(err.Error(), 200))
			}
			if l.again {
				l.again = false
				l.read()
			}
		}
	})
}

// serverRows describes servers. The number of tools is known while a server is ready.
func serverRows(all []slash.Server) []dialog.PickerRow {
	rows := make([]dialog.PickerRow, len(all))
	for i, s := range all {
		tools := "–"
		if s.Tools > 0 {
			tools = strconv.Itoa(s.Tools)
		}
		rows[i] = dialog.PickerRow{
			ID: s.Name, Mark: s.On,
			Cells: []string{markup.Shorten(s.Name, 40), s.State, tools, markup.Shorten(s.Error, 40)},
		}
	}
	return rows
}

// why shows the whole error of a row.
func (l *serverList) why(r dialog.PickerRow) {
	if s, ok := l.find(r.ID); ok && s.Error != "" {
		l.picker.Say(markup.Shorten(s.Name+": "+s.Error, 200))
	}
}

func (l *serverList) find(name string) (slash.Server, bool) {
	i := slices.IndexFunc(l.all, func(s slash.Server) bool { return s.Name == name })
	if i < 0 {
		return slash.Server{}, false
	}
	return l.all[i], true
}

// ask shows all that is known of a server and asks what to do with it.
func (l *serverList) ask(r dialog.PickerRow) {
	s, ok := l.find(r.ID)
	if !ok {
		return
	}
	q := dialog.Question{Title: fmt.Sprintf("%s is %s", markup.Shorten(s.Name, 40), s.State), Lines: s.Lines, Scope: keymap.Question}
	var does []func()
	add := func(label string, do func()) { q.Choices, does = append(q.Choices, label), append(does, do) }
	if s.Withheld {
		q.Whole = 1 // a person releases what was on the screen
		add("let the model read what was withheld", func() { l.do(s.Name) })
	}
	switch {
	case s.Fixed:
	case s.On:
		add("start it again", func() { l.do("restart " + s.Name) })
		add("switch it off", func() { l.do("off " + s.Name) })
	default:
		add("switch it on", func() { l.do("on " + s.Name) })
	}
	add("leave it as it is", func() {})
	q.Take = func(n int) { does[n]() }
	l.u.dock.confirm.Ask(q)
}

// do obeys what could be typed after /mcp, and reads the list again.
func (l *serverList) do(args string) {
	u := l.u
	u.deps.Background(func() func() {
		_, err := u.deps.Catalog.MCP.Do(args)
		return func() {
			if u.overlays.servers != l {
				return
			}
			if err != nil {
				l.picker.Say(markup.Shorten(err.Error(), 200))
			}
			l.read()
		}
	})
}
