package views

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/themes"
	"buddy/views/markup"
	"buddy/views/viewtest"
)

var created = event.SessionCreated{Cwd: "/home/u/src/shop", Target: "local", Model: "gpt-5.3-codex", API: "responses", Window: 400_000}

func TestHeaderGolden(t *testing.T) {
	full := []event.Event{
		created,
		event.ContextUsage{Estimated: 34, Limit: 100, Percent: 34},
		event.MetricsUsage{SessionPrompt: 12_345, SessionCompletion: 1_234},
		event.ModeChanged{Mode: action.ModeAsk},
	}
	loud := append(slices.Clone(full), event.ModeChanged{Mode: action.ModeAll, Until: ms(-600)}, ask("1", restart), ask("2", restart))
	remote := created
	remote.Target, remote.Cwd = "root@web-02 (ssh)", "/var/www/a/very/long/directory/name/that/goes/on"
	remote.Model = "org/" + hostile
	paid := append(slices.Clone(full), event.MetricsUsage{SessionPrompt: 12_345, SessionCompletion: 1_234, SessionCost: 420_000, SessionUnpriced: 1})
	hard := created
	hard.Effort = "high"
	for name, events := range map[string][]event.Event{"effort": append([]event.Event{hard}, full[1:]...), "empty": nil, "full": full, "paid": paid, "loud": loud, "hostile": {remote}} {
		for _, w := range []int{200, 120, 80, 60, 40, 20} {
			h := NewHeader(dark(t), keymap.Default(), "/home/u", time.UTC)
			var s state.State
			h.Update(&s, apply(&s, events...))
			h.SetApprovalLeft(true)
			viewtest.Golden(t, "header-"+name, h, w, 1)
		}
	}
}

// Whatever the width, nothing overlaps and the mode and the waiting approval stay.
func TestHeaderAnyWidth(t *testing.T) {
	h := NewHeader(dark(t), keymap.Default(), "/home/u", time.UTC)
	var s state.State
	h.Update(&s, apply(&s, created, event.ContextUsage{Limit: 1, Percent: 250}, event.ModeChanged{Mode: action.ModeAll}, ask("1", restart)))
	h.SetApprovalLeft(true)
	for w := 24; w <= 200; w++ {
		got := viewtest.Text(t, h, w, 1)
		if !strings.Contains(got, " all") || !strings.Contains(got, "‖ 1 approval") {
			t.Errorf("%d columns: %q", w, got)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1.0k", 9_949: "9.9k", 12_345: "12k", 999_999: "999k", 1_500_000: "1.5M"} {
		if got := count(n); got != want {
			t.Errorf("count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestStatusLine(t *testing.T) {
	started := event.TaskStarted{ID: 4, Kind: event.MainTask, Title: "why"}
	call := event.ToolRequested{CallID: "c1", Name: "run_shell\x1b"}
	message := event.ModelMessage{Message: model.Message{Content: "done"}}
	for _, c := range []struct {
		name   string
		events []event.Event
		want   string
	}{
		{"nothing", nil, ""},
		{"waiting for the model", []event.Event{started}, "◑ main 00:31 · waiting for the model"},
		{"thinking", []event.Event{started, event.ReasoningDelta{Text: "hm"}}, "◑ main 00:31 · thinking · quiet for 31 s"},
		{"answering", []event.Event{started, event.TextDelta{Text: "so"}}, "◑ main 00:31 · answering · quiet for 31 s"},
		{"pings", []event.Event{started, event.RequestStarted{}, event.ModelAlive{}}, "◑ main 00:31 · waiting for the model · quiet for 31 s"},
		{"waits to try again", []event.Event{started, event.ModelRetry{Attempt: 2, WaitMS: 31_000 + 12_500}}, "◑ main 00:31 · attempt 2 failed, the next in 00:13 · Enter now · Esc stops"},
		{"the wait is over", []event.Event{started, event.ModelRetry{Attempt: 2, WaitMS: 1000}}, "◑ main 00:31 · waiting for the model · quiet for 31 s"},
		{"tries again", []event.Event{started, event.ModelRetry{Attempt: 2, WaitMS: 43_500}, event.ModelAlive{}, event.TextDelta{Text: "so"}, message}, "◑ main 00:31 · waiting for the model"},
		{"a command ends while it waits", []event.Event{started, event.TaskStarted{ID: 5, Kind: event.ShellTask}, event.ModelRetry{Attempt: 1, WaitMS: 43_500}, event.TaskFinished{ID: 5}}, "◑ main 00:31 · attempt 1 failed, the next in 00:13 · Enter now · Esc stops"},
		{"approval", []event.Event{started, message, call, ask("1", restart)}, "‖ main 00:31 · waiting for your approval"},
		{"running", []event.Event{started, message, call, event.ToolStarted{CallID: "c1"}, event.ToolOutput{CallID: "c1", Text: strings.Repeat("x", 3000)}}, "◑ main 00:31 · running run_shell␛ · 3 KB"},
		{"cancelling", []event.Event{started, event.TaskCancelling{ID: 4}}, "◌ main 00:31 · cancelling"},
		{"deadline", []event.Event{event.TaskStarted{ID: 4, Kind: event.MainTask, Deadline: ms(-90)}}, "◑ main 00:31 · waiting for the model · 01:30 left"},
		{"several", []event.Event{started, event.TaskStarted{ID: 5, Kind: event.ShellTask}, event.TaskStarted{ID: 6, Kind: event.ShellTask}}, "◑ main 00:31 · waiting for the model · 2 tasks in the background"},
		{"background only", []event.Event{event.TaskStarted{ID: 5, Kind: event.ShellTask}}, "◑ 1 task in the background"},
		{"queued", []event.Event{started, event.PromptSubmitted{ID: 1, Queued: true}}, "◑ main 00:31 · waiting for the model · 1 queued"},
		{"interrupted", []event.Event{event.Interrupted{CanContinue: true}}, "interrupted · Enter continues"},
		{"finished", []event.Event{started, event.TaskFinished{ID: 4, Outcome: event.Completed}}, ""},
	} {
		l := NewStatusLine(dark(t), keymap.Default(), fixed)
		var s state.State
		for _, ev := range c.events {
			l.Update(&s, s.Apply(event.Envelope{Time: ms(31), Task: 4, Payload: ev}))
		}
		if got := strings.TrimSpace(viewtest.Text(t, l, 80, 1)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if want := strings.Contains(c.want, "◑") || strings.Contains(c.want, "main"); l.Busy() != want {
			t.Errorf("%s: Busy() = %v, want %v", c.name, l.Busy(), want)
		}
	}
}

func TestFooterGolden(t *testing.T) {
	for _, scope := range keymap.Scopes() {
		f := NewFooter(dark(t), keymap.Default())
		f.SetScope(scope, false)
		var s state.State
		f.Update(&s, apply(&s, event.PromptSubmitted{ID: 1, Queued: true}, event.PromptSubmitted{ID: 2, Queued: true}))
		viewtest.Golden(t, "footer-"+string(scope), f, 100, 1)
	}
	for _, w := range []int{40, 12, 2} {
		viewtest.Golden(t, "footer", NewFooter(dark(t), keymap.Default()), w, 1)
	}
}

func tasksState() *state.State {
	s := &state.State{}
	for i, ev := range []event.Event{
		event.TaskStarted{ID: 1, Kind: event.ShellTask, Title: "make all"},
		event.TaskFinished{ID: 1, Outcome: event.Failed, Error: "exit 2:\nno rule"},
		event.TaskStarted{ID: 2, Kind: event.ShellTask, Title: hostile},
		event.TaskFinished{ID: 2, Outcome: event.Cancelled},
		event.TaskStarted{ID: 3, Kind: event.ShellTask, Title: "npm run dev (pane 2)"},
		event.TaskFinished{ID: 3, Outcome: event.Completed},
		event.TaskStarted{ID: 4, Kind: event.MainTask, Title: "why do the checkout tests fail?"},
		event.TaskStarted{ID: 5, Kind: event.ShellTask, Title: "a long one", Deadline: ms(-300)},
		event.TaskCancelling{ID: 5},
		event.TaskQueued{ID: 6, Kind: event.ShellTask, Title: "later"},
		ask("1", action.Action{Tool: "edit_file", Path: "checkout/tax.go"}),
	} {
		s.Apply(event.Envelope{Seq: uint64(i), Time: ms(100 - i), Task: 4, Payload: ev})
	}
	return s
}

func newTestTasks(t testing.TB) *Tasks {
	v := NewTasks(dark(t), keymap.Default(), fixed)
	v.Update(tasksState(), state.Everything)
	v.Focus(nil)
	return v
}

func TestTasksGolden(t *testing.T) {
	for _, size := range [][2]int{{60, 9}, {40, 5}, {100, 12}} {
		viewtest.Golden(t, "tasks", newTestTasks(t), size[0], size[1])
	}
	viewtest.Golden(t, "tasks-none", NewTasks(dark(t), keymap.Default(), fixed), 40, 3)
}

// G11: cancelling takes the selected task, once, and none that has ended.
func TestTasksCancel(t *testing.T) {
	v := newTestTasks(t)
	var cancelled []int
	var opened []string
	v.OnCancel = func(id int) { cancelled = append(cancelled, id) }
	v.OnApproval = func(id string) { opened = append(opened, id) }
	press(t, v, "task-cancel", "item-open")
	for range 10 {
		press(t, v, "item-down", "task-cancel", "item-open")
	}
	if want := []int{6, 4}; !slices.Equal(cancelled, want) || !slices.Equal(opened, []string{"1"}) {
		t.Errorf("cancelled %v, opened %v, want %v and [1]", cancelled, opened, want)
	}
}

func TestTasksSelectionStays(t *testing.T) {
	v := newTestTasks(t)
	press(t, v, "item-down", "item-down", "item-down")
	if v.selected() != 4 {
		t.Fatalf("selected %d, want 4", v.selected())
	}
	s := tasksState()
	apply(s, event.ApprovalAnswered{ID: "1"}, event.TaskStarted{ID: 7, Kind: event.ShellTask})
	v.Update(s, state.Tasks)
	if v.selected() != 4 {
		t.Errorf("after an update %d is selected, want 4", v.selected())
	}
}

// What runs shows in a short list, however many tasks came before, until the person looks for others.
func TestTasksRunningShow(t *testing.T) {
	v := NewTasks(dark(t), keymap.Default(), fixed)
	s := &state.State{}
	for id := 1; id <= 9; id++ {
		v.Update(s, apply(s, event.TaskStarted{ID: id, Kind: event.ShellTask, Title: fmt.Sprintf("job %d", id)}))
		if id < 9 {
			v.Update(s, apply(s, event.TaskFinished{ID: id, Outcome: event.Completed}))
		}
		viewtest.Text(t, v, 40, 5)
	}
	if got := viewtest.Text(t, v, 40, 5); !strings.Contains(got, "job 9") {
		t.Errorf("the running task does not show:\n%s", got)
	}
	v.Focus(nil)
	press(t, v, "item-down", "item-down", "item-down", "item-down", "item-down")
	v.Blur()
	if got := viewtest.Text(t, v, 40, 5); !strings.Contains(got, "job 9") {
		t.Errorf("after the selection was moved and left the running task does not show:\n%s", got)
	}
}

// The footer offers no rule where the dialog has none.
func TestFooterSimilar(t *testing.T) {
	for _, similar := range []string{"", "go test"} {
		f := NewFooter(dark(t), keymap.Default())
		f.SetScope(keymap.Approval, true)
		var s state.State
		asked := ask("1", action.Action{Tool: "run_shell", Command: "go test ./..."})
		asked.Context.Similar = similar
		f.Update(&s, apply(&s, asked))
		got := viewtest.Text(t, f, 100, 1)
		if strings.Contains(got, "allow similar") != (similar != "") {
			t.Errorf("with the rule %q the footer is %s", similar, got)
		}
	}
}

func panesState(rows []string, w, h int, cursor event.Cursor) *state.State {
	s := &state.State{}
	apply(s,
		event.PaneOpened{Pane: "%1", Title: "shared", Target: "local", Attach: "tmux -L buddy attach -t buddy-7f3a"},
		event.PaneOpened{Pane: "%2", Title: "server", Target: "local"},
		event.PaneOpened{Pane: "%3", Title: "shell[red]\x1b", Target: "web-02", Attach: "ssh web-02 -t tmux -L buddy attach"},
		event.PaneScreen{Pane: "%3", W: w, H: h, Cursor: cursor, Rows: rows},
	)
	return s
}

func newTestPanes(t testing.TB, s *state.State) *Panes {
	p := NewPanes(dark(t), keymap.Default())
	p.Update(s, state.Panes)
	return p
}

func TestPanesGolden(t *testing.T) {
	rows := []string{
		"root@web-02:~# \x1b[1mtail\x1b[0m -f /var/log/nginx/error.log",
		"2026/11/20 14:01:22 \x1b[31m[error]\x1b[39m upstream timed out, a long line that does not fit here",
		"日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語",
		hostile,
		"trailing blanks" + strings.Repeat(" ", 100),
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
	press(t, p, "pane-attach", "pane-next", "pane-previous")
	viewtest.Golden(t, "panes-quiet", p, 60, 9)
	p.SetHeld(true)
	apply(s, event.PaneLost{Pane: "%3", Why: "ssh ended: connection reset\x1b"})
	p.Update(s, state.Panes)
	viewtest.Golden(t, "panes-lost", p, 60, 9)
	viewtest.Golden(t, "panes-none", NewPanes(dark(t), keymap.Default()), 60, 4)
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
		if got := cellOf(t, s, r); got != want {
			t.Errorf("%c has style %+v, want %+v", r, got, want)
		}
	}
	wantRole(t, s, '›', themes.Muted)
}

// A theme with a background of its own has it behind what a pane shows as well.
func TestPanesBackground(t *testing.T) {
	th, err := themes.Load("", "high-contrast")
	if err != nil {
		t.Fatal(err)
	}
	p := newTestPanes(t, panesState([]string{"N \x1b[31mR"}, 120, 1, event.Cursor{}))
	p.SetTheme(th)
	s := viewtest.Screen(t, p, 60, 5)
	text := cellStyle(th.Style(themes.Text))
	for r, want := range map[rune]tcell.Style{'N': text, 'R': text.Foreground(tcell.PaletteColor(1))} {
		if got := cellOf(t, s, r); got != want {
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
		press(t, p, key)
		shown = append(shown, p.Shown())
	}
	apply(s, event.PaneOpened{Pane: "%4", Title: "new"})
	p.Update(s, state.Panes)
	if want := []string{"%1", "%3", "%2"}; !slices.Equal(shown, want) {
		t.Errorf("showed %v, want %v", shown, want)
	}
	if p.Shown() != "%2" {
		t.Errorf("a new pane took the place of a chosen one: %q", p.Shown())
	}
	apply(s, event.PaneClosed{Pane: "%2"})
	p.Update(s, state.Panes)
	if p.Shown() != "%4" {
		t.Errorf("after the chosen pane closed: %q, want the newest", p.Shown())
	}
}

// Whatever rows hold, each stays in its place and no control reaches a cell.
func FuzzPicture(f *testing.F) {
	for _, row := range []string{hostile, "\x1b[38;5", "\x1b[38;2;1;2;3mx", "\x1b]8;;x\x1b\\y", "\x1b", "a\x1b[4:3mb\x1b(0c", "\xff\x1b[m", "\x0elqk", "a\rb\nc"} {
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
		if pic := p.pictures["%3"]; len(pic.ends) != 2 || pic.ends[1] >= len(pic.text.Bytes) {
			t.Fatalf("rows end at %v of %d", pic.ends, len(pic.text.Bytes))
		}
	})
}

// MECHANISMS B6: tmux writes colours and the line-drawing set once, for all rows that
// have them.
func TestPanesRowsGoOn(t *testing.T) {
	rows := []string{"\x1b[41mR", "S\x1b[49m\x0elqk", "x x\x0fq"}
	p := newTestPanes(t, panesState(rows, 20, 3, event.Cursor{}))
	if text := viewtest.Text(t, p, 60, 6); !strings.Contains(text, "│S┌─┐") || !strings.Contains(text, "││ │q") {
		t.Errorf("line drawing:\n%s", text)
	}
	s := viewtest.Screen(t, p, 60, 6)
	want := tcell.StyleDefault.Background(tcell.PaletteColor(1))
	for _, r := range "RS" {
		if got := cellOf(t, s, r); got != want {
			t.Errorf("%c has style %+v, want %+v", r, got, want)
		}
	}
}

func TestHelpGolden(t *testing.T) {
	h := NewHelp(dark(t), keymap.Default())
	h.SetCommands(someCommands)
	viewtest.Golden(t, "help", h, 90, 24)
	viewtest.Golden(t, "help", h, 40, 12)
	h.SetScope(keymap.Tasks)
	press(t, h, "page-down", "page-down", "page-up", "page-up", "scroll-down")
	viewtest.Golden(t, "help-tasks", h, 80, 12)
	press(t, h, "scroll-bottom")
	viewtest.Golden(t, "help-end", h, 80, 12)
	closed := 0
	h.OnClose = func() { closed++ }
	press(t, h, "close-help", "back")
	if closed != 2 {
		t.Errorf("closed %d times, want 2", closed)
	}
}

// Every action and every command is on the help screen.
func TestHelpIsComplete(t *testing.T) {
	h := NewHelp(dark(t), keymap.Default())
	h.SetCommands(someCommands)
	_, rows := h.Size(90, 1000)
	text := strings.Join(strings.Fields(strings.ReplaceAll(viewtest.Text(t, h, 90, rows), "│", " ")), " ")
	for _, s := range keymap.Scopes() {
		for _, e := range keymap.Default().In(s) {
			if !strings.Contains(text, e.Help) {
				t.Errorf("%s is not in the help", e.Action)
			}
		}
	}
	for _, c := range someCommands {
		if !strings.Contains(text, c.Name+" "+c.Help) {
			t.Errorf("%s is not in the help", c.Name)
		}
	}
}

func TestTabBar(t *testing.T) {
	b := NewTabBar(dark(t), keymap.Default())
	b.SetTabs([]string{"Conversation", "Output", "Panes", "Tasks"}, 1)
	viewtest.Golden(t, "tabs", b, 60, 1)
	viewtest.Golden(t, "tabs", b, 30, 1)
	s := viewtest.Screen(t, b, 60, 1)
	wantRole(t, s, '●', themes.Accent)
	wantRole(t, s, 'C', themes.Muted)
}

// Re-theming reaches every view (theme = auto decides after the first frame).
func TestSetTheme(t *testing.T) {
	light, err := themes.Load("", "light")
	if err != nil {
		t.Fatal(err)
	}
	d, _, _, _ := newTestApproval(t, ask("1", restart))
	viewtest.Screen(t, d, 66, 14)
	d.SetTheme(light)
	if got, want := cellOf(t, viewtest.Screen(t, d, 66, 14), '['), cellStyle(light.Style(themes.Key)); got != want {
		t.Errorf("style %+v, want that of the light theme %+v", got, want)
	}
	p := newTestPrompt(t)
	p.SetTheme(light)
	if got, want := cellOf(t, viewtest.Screen(t, p, 20, 1), '>'), cellStyle(light.Style(themes.Accent)); got != want {
		t.Errorf("style %+v, want that of the light theme %+v", got, want)
	}
}

// Several panes, with targets and how their commands go; one that is typed into; one that
// somebody reads the history of.
func TestPanesGridGolden(t *testing.T) {
	s := panesState([]string{"$ make", "ok"}, 120, 40, event.Cursor{Y: 2, Visible: true})
	apply(s,
		event.TaskStarted{ID: 1, Kind: event.ShellTask, Pane: "%2"},
		event.PaneOpened{Pane: "web-01:%3", Title: "deploy", Target: "web-01"},
		event.TaskStarted{ID: 2, Kind: event.ShellTask, Pane: "web-01:%3"},
		event.TaskFinished{ID: 2, Outcome: event.Failed, Error: "exit code 3"},
		event.PaneScreen{Pane: "web-01:%3", W: 80, H: 24, Rows: []string{hostile}},
	)
	for _, size := range [][2]int{{118, 28}, {78, 20}, {198, 20}, {40, 12}} {
		p := newTestPanes(t, s)
		p.SetZoomed(true)
		viewtest.Golden(t, "panes-grid", p, size[0], size[1])
	}
	p := newTestPanes(t, s)
	p.Focus(nil)
	press(t, p, "pane-previous", "pane-type")
	apply(s, ask("1", restart))
	p.Update(s, state.Approvals)
	viewtest.Golden(t, "panes-typing", p, 58, 8)
	press(t, p, "pane-type-end", "scroll-up")
	h := event.PaneHistory{Pane: "%3"}
	for i := range 200 {
		h.Rows = append(h.Rows, fmt.Sprintf("\x1b[3%dmrow %d", i%8, i))
	}
	apply(s, h)
	p.Update(s, state.Panes)
	viewtest.Golden(t, "panes-history", p, 58, 8)
}

func TestConfirmGolden(t *testing.T) {
	c := NewConfirm(dark(t), keymap.Default())
	c.Ask(Question{Title: "Quit? " + hostile, Lines: []string{"2 commands still run:", hostile, strings.Repeat("long ", 40)}, Scope: keymap.Leaving})
	for _, size := range [][2]int{{76, 10}, {38, 12}, {30, 6}} {
		viewtest.Golden(t, "confirm", c, size[0], size[1])
	}
}
