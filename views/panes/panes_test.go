package panes

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/layout"
	"buddy/app/state"
	"buddy/texts"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/markup"
	"buddy/views/viewtest"
)

func panesState(rows []string, w, h int, cursor event.Cursor) *state.State {
	s := &state.State{}
	viewtest.Feed(s,
		event.PaneOpened{Pane: "%1", Title: "shared", Target: "local", Attach: "tmux -L buddy attach -t buddy-7f3a"},
		event.PaneOpened{Pane: "%2", Title: "server", Target: "local"},
		event.PaneOpened{Pane: "%3", Title: "shell[red]\x1b", Target: "web-02", Attach: "ssh web-02 -t tmux -L buddy attach"},
		event.PaneScreen{Pane: "%3", W: w, H: h, Cursor: cursor, Rows: rows},
	)
	return s
}

// printed draws the last line of a call's output.
type printed struct {
	call *state.Call
	back int
}

func (p *printed) Show(c *state.Call) { p.call = c }
func (p *printed) DrawIn(in draw.Area) {
	lines := strings.Split(strings.TrimSpace(string(p.call.Output.Buf)), "\n")
	in.Say(0, texts.OneLine(lines[len(lines)-1]), themes.Text)
}
func (p *printed) Following() bool  { return p.back == 0 }
func (p *printed) Scroll(rows int)  { p.back -= rows }
func (p *printed) Page(screens int) { p.back -= 10 * screens }
func (p *printed) Top()             { p.back = 100 }
func (p *printed) Bottom()          { p.back = 0 }

func newTestPanes(t testing.TB, s *state.State) *Panes {
	p := New(viewtest.Dark(t), keymap.Default(), &printed{})
	p.Update(s, state.Panes)
	return p
}

// place sets the boxes that the layout provides for a size.
func place(p *Panes, w, h int, zoomed bool) {
	in := layout.Input{W: w, H: h + 4, Prompt: 1, Tab: layout.Live, Zoom: true, Beside: layout.Beside{Column: true}}
	in.Live, in.Grid = p.Wanted(zoomed)
	l := layout.Of(in)
	in.H += h - l.Panes[layout.Live].H
	l = layout.Of(in)
	for i := range l.Tiles {
		l.Tiles[i].Y -= l.Panes[layout.Live].Y
	}
	p.Place(l.Tiles, zoomed)
}

// Two panes with running commands are shown automatically, side by side or stacked; the others are named.
func TestTwoRunningPanesGolden(t *testing.T) {
	s := panesState([]string{"$ make", "ok"}, 120, 40, event.Cursor{Y: 2, Visible: true})
	viewtest.Feed(s,
		event.TaskStarted{ID: 1, Kind: event.ShellTask, Pane: "%2"},
		event.PaneScreen{Pane: "%2", W: 120, H: 40, Rows: []string{"shop dev server listening on http://localhost:8080"}},
		event.ToolRequested{CallID: "a", Name: "run_shell", Action: action.Action{Kind: action.Shell, Target: "local", Command: "go test"}},
		event.ToolStarted{CallID: "a", Name: "run_shell", Pane: "%1"},
	)
	for _, size := range [][2]int{{80, 16}, {46, 24}, {46, 16}} {
		p := newTestPanes(t, s)
		place(p, size[0], size[1], false)
		viewtest.Golden(t, "panes-two", p, size[0], size[1])
	}
}

// Several panes get the size of their visible parts, and their original size afterwards.
func TestPanesHaveTheSizeThatShows(t *testing.T) {
	s := panesState(nil, 120, 40, event.Cursor{})
	p := newTestPanes(t, s)
	fits := map[string][2]int{}
	p.OnFit = func(id string, w, h int) {
		if fits[id] = [2]int{w, h}; w == 0 {
			delete(fits, id)
		}
	}
	want := func(what string, want map[string][2]int) {
		t.Helper()
		viewtest.Screen(t, p, 80, 16)
		if !maps.Equal(fits, want) {
			t.Errorf("%s: sizes %v, want %v", what, fits, want)
		}
	}
	want("one", map[string][2]int{})
	p.Place([]layout.Rect{{W: 40, H: 16}, {X: 39, W: 41, H: 16}}, false)
	want("two", map[string][2]int{"%2": {38, 14}, "%3": {39, 14}})
	viewtest.Press(t, p, "pane-next") // the first one replaces the older of them
	want("another two", map[string][2]int{"%1": {38, 14}, "%3": {39, 14}})
	p.Place(nil, true)
	want("a wide one", map[string][2]int{"%1": {78, 14}})
	p.Place(nil, false)
	want("one again", map[string][2]int{})
	p.Place(nil, true)
	want("wide again", map[string][2]int{"%1": {78, 14}})
	p.Hide()
	if len(fits) != 0 {
		t.Errorf("hidden panes have sizes %v", fits)
	}
}

func TestPanesGolden(t *testing.T) {
	rows := []string{
		"root@web-02:~# \x1b[1mtail\x1b[0m -f /var/log/nginx/error.log",
		"2026/11/20 14:01:22 \x1b[31m[error]\x1b[39m upstream timed out, a long line that does not fit here",
		"日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語",
		viewtest.Hostile,
		"trailing spaces" + strings.Repeat(" ", 100),
		"last",
	}
	for i := len(rows); i < 40; i++ {
		rows = append(rows, "")
	}
	s := panesState(rows, 120, 40, event.Cursor{X: 4, Y: 5, Visible: true})
	for _, size := range [][2]int{{60, 9}, {60, 6}, {30, 10}} {
		viewtest.Golden(t, "panes", newTestPanes(t, s), size[0], size[1])
	}
	p := newTestPanes(t, s)
	viewtest.Press(t, p, "pane-attach", "pane-next", "pane-previous")
	viewtest.Golden(t, "panes-quiet", p, 60, 9)
	p.SetHeld(true)
	viewtest.Feed(s, event.PaneLost{Pane: "%3", Why: "ssh ended: connection reset\x1b"})
	p.Update(s, state.Panes)
	viewtest.Golden(t, "panes-lost", p, 60, 9)
	viewtest.Golden(t, "panes-none", New(viewtest.Dark(t), keymap.Default(), &printed{}), 60, 4)
}

func TestPanesStyles(t *testing.T) {
	rows := []string{"\x1b[31mR\x1b[38;5;200mQ\x1b[48:2::1:2:3mB\x1b[0;1;4:3mU\x1b[mN\x1b]8;;http://x\x1b\\L\x1b[?25hK", strings.Repeat("x", 100)}
	s := viewtest.Screen(t, newTestPanes(t, panesState(rows, 120, 2, event.Cursor{X: 6, Y: 0, Visible: true})), 60, 5)
	plain := tcell.StyleDefault
	for r, want := range map[rune]tcell.Style{
		'R': plain.Foreground(tcell.PaletteColor(1)),
		'Q': plain.Foreground(tcell.PaletteColor(200)),
		'B': plain.Foreground(tcell.PaletteColor(200)).Background(tcell.NewRGBColor(1, 2, 3)),
		'U': plain.Bold(true).Underline(true),
		'N': plain, 'L': plain,
		'K': plain.Reverse(true),
	} {
		if got := viewtest.CellOf(t, s, r); got != want {
			t.Errorf("%c has style %+v, want %+v", r, got, want)
		}
	}
	viewtest.WantRole(t, s, '›', themes.Muted)
}

// The background of a theme is also behind the content of a pane.
func TestPanesBackground(t *testing.T) {
	th, err := themes.Load("", "high-contrast")
	if err != nil {
		t.Fatal(err)
	}
	p := newTestPanes(t, panesState([]string{"N \x1b[31mR"}, 120, 1, event.Cursor{}))
	p.SetTheme(th)
	s := viewtest.Screen(t, p, 60, 5)
	text := draw.CellStyle(th.Style(themes.Text))
	for r, want := range map[rune]tcell.Style{'N': text, 'R': text.Foreground(tcell.PaletteColor(1))} {
		if got := viewtest.CellOf(t, s, r); got != want {
			t.Errorf("%c has style %+v, want %+v", r, got, want)
		}
	}
}

func TestPanesChoose(t *testing.T) {
	s := panesState(nil, 80, 24, event.Cursor{})
	p := newTestPanes(t, s)
	if p.Shown() != "%3" {
		t.Errorf("shows %q, want the newest", p.Shown())
	}
	var shown []string
	for _, key := range []string{"pane-next", "pane-previous", "pane-previous"} {
		viewtest.Press(t, p, key)
		shown = append(shown, p.Shown())
	}
	viewtest.Feed(s, event.PaneOpened{Pane: "%4", Title: "new"})
	p.Update(s, state.Panes)
	if want := []string{"%1", "%3", "%2"}; !slices.Equal(shown, want) {
		t.Errorf("showed %v, want %v", shown, want)
	}
	if p.Shown() != "%2" {
		t.Errorf("a new pane took the place of a chosen one: %q", p.Shown())
	}
	viewtest.Feed(s, event.PaneClosed{Pane: "%2"})
	p.Update(s, state.Panes)
	if p.Shown() != "%4" {
		t.Errorf("after the chosen pane closed: %q, want the newest", p.Shown())
	}
}

// Each row stays in its place and no control character reaches a cell.
func FuzzPicture(f *testing.F) {
	for _, row := range []string{viewtest.Hostile, "\x1b[38;5", "\x1b[38;2;1;2;3mx", "\x1b]8;;x\x1b\\y", "\x1b", "a\x1b[4:3mb\x1b(0c", "\xff\x1b[m", "\x0elqk", "a\rb\nc"} {
		f.Add(row, "next")
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		p := newTestPanes(t, panesState([]string{first, second}, 80, 2, event.Cursor{}))
		cells, _, _ := viewtest.Screen(t, p, 20, 4).GetContents()
		for _, c := range cells {
			for i, r := range c.Runes {
				if shown := markup.Visible(r); shown != "" || r == '\n' || i > 0 && r < ' ' {
					t.Fatalf("%U in a cell of %q", r, c.Runes)
				}
			}
		}
	})
}

// Tmux writes colours and the line-drawing set once for consecutive rows.
func TestPanesRowsGoOn(t *testing.T) {
	rows := []string{"\x1b[41mR", "S\x1b[49m\x0elqk", "x x\x0fq"}
	p := newTestPanes(t, panesState(rows, 20, 3, event.Cursor{}))
	if text := viewtest.Text(t, p, 60, 6); !strings.Contains(text, "│S┌─┐") || !strings.Contains(text, "││ │q") {
		t.Errorf("line drawing:\n%s", text)
	}
	s := viewtest.Screen(t, p, 60, 6)
	want := tcell.StyleDefault.Background(tcell.PaletteColor(1))
	for _, r := range "RS" {
		if got := viewtest.CellOf(t, s, r); got != want {
			t.Errorf("%c has style %+v, want %+v", r, got, want)
		}
	}
}

// Several panes, with targets and states of commands; one receives keys; one shows its history.
func TestPanesGridGolden(t *testing.T) {
	s := panesState([]string{"$ make", "ok"}, 120, 40, event.Cursor{Y: 2, Visible: true})
	viewtest.Feed(s,
		event.TaskStarted{ID: 1, Kind: event.ShellTask, Pane: "%2"},
		event.PaneOpened{Pane: "web-01:%3", Title: "deploy", Target: "web-01"},
		event.TaskStarted{ID: 2, Kind: event.ShellTask, Pane: "web-01:%3"},
		event.TaskFinished{ID: 2, Outcome: event.Failed, Error: "exit code 3"},
		event.PaneScreen{Pane: "web-01:%3", W: 80, H: 24, Rows: []string{viewtest.Hostile}},
	)
	for _, size := range [][2]int{{118, 28}, {78, 20}, {198, 20}, {40, 12}} {
		p := newTestPanes(t, s)
		place(p, size[0], size[1], true)
		viewtest.Golden(t, "panes-grid", p, size[0], size[1])
	}
	p := newTestPanes(t, s)
	p.Focus(nil)
	viewtest.Press(t, p, "pane-next", "pane-previous", "pane-type")
	viewtest.Feed(s, viewtest.Ask("1", viewtest.Restart))
	p.Update(s, state.Approvals)
	viewtest.Golden(t, "panes-typing", p, 58, 8)
	viewtest.Press(t, p, "pane-type-end", "scroll-up")
	h := event.PaneHistory{Pane: "%3"}
	for i := range 200 {
		h.Rows = append(h.Rows, fmt.Sprintf("\x1b[3%dmrow %d", i%8, i))
	}
	viewtest.Feed(s, h)
	p.Update(s, state.Panes)
	viewtest.Golden(t, "panes-history", p, 58, 8)
}

// A shell shows only its running command: earlier output is in the conversation.
func TestPanesShowOnlyTheCommandThatRuns(t *testing.T) {
	p, feed, _ := twoShared(t)
	act := action.Action{Kind: action.Shell, Target: "web", Command: "make all"}
	rows := []string{"\x1b[1m$\x1b[m make all", "an earlier one", "$ make lint", "[exit 1]", "\x1b[1m$\x1b[m make all", "compiling", ""}
	feed(event.ToolRequested{CallID: "a", Name: "run_shell", Action: act}, event.ToolStarted{CallID: "a", Name: "run_shell", Pane: "web:%1"},
		event.PaneScreen{Pane: "web:%1", W: 80, H: 24, Rows: rows, Cursor: event.Cursor{Y: 6, Visible: true}})
	if text := viewtest.Text(t, p, 60, 12); strings.Contains(text, "earlier") || strings.Contains(text, "lint") || !strings.Contains(text, "$ make all") || !strings.Contains(text, "compiling") {
		t.Errorf("it shows\n%s", text)
	}
}
