package views

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/themes"
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
	loud := append(slices.Clone(full), event.ModeChanged{Mode: action.ModeAll, Until: viewtest.MS(-600)}, viewtest.Ask("1", viewtest.Restart), viewtest.Ask("2", viewtest.Restart))
	remote := created
	remote.Target, remote.Cwd = "root@web-02 (ssh)", "/var/www/a/very/long/directory/name/that/goes/on"
	remote.Model = "org/" + viewtest.Hostile
	paid := append(slices.Clone(full), event.MetricsUsage{SessionPrompt: 12_345, SessionCompletion: 1_234, SessionCost: 420_000, SessionUnpriced: 1})
	limited := append(slices.Clone(full), event.MetricsUsage{SessionPrompt: 12_345, SessionCompletion: 1_234, Limits: []model.RateLimit{{Of: "requests", Limit: 60, Remaining: 2}, {Of: "input tokens", Limit: 1000, Remaining: 10}, {Of: "tokens", Limit: 1000, Remaining: 500}}})
	hard := created
	hard.Effort = "high"
	for name, events := range map[string][]event.Event{"goal": append(slices.Clone(full), event.GoalChanged{State: event.GoalActive, Used: event.GoalUse{Turns: 3}, Limit: event.GoalUse{Turns: 20}}), "effort": append([]event.Event{hard}, full[1:]...), "empty": nil, "full": full, "paid": paid, "limited": limited, "loud": loud, "hostile": {remote}} {
		for _, w := range []int{200, 120, 80, 60, 40, 20} {
			h := newHeader(t)
			var s state.State
			h.Update(&s, viewtest.Feed(&s, events...))
			h.SetApprovalLeft(true)
			viewtest.Golden(t, "header-"+name, h, w, 1)
		}
	}
}

// The header names the model that answers: during a fallback that one, without its unknown effort.
func TestHeaderNamesTheModelThatAnswers(t *testing.T) {
	hard := created
	hard.Effort = "high"
	h := newHeader(t)
	var s state.State
	for _, step := range []struct {
		e    event.Event
		want string
	}{
		{hard, "● gpt-5.3-codex · high   "},
		{event.ModelFallback{From: "main", To: "spare", Model: "org/m-2"}, "● org/m-2   "},
		{event.FallbackEnded{From: "spare", To: "main"}, "● gpt-5.3-codex · high   "},
	} {
		h.Update(&s, viewtest.Feed(&s, step.e))
		if got := viewtest.Text(t, h, 120, 1); !strings.Contains(got, step.want) {
			t.Errorf("%T: %q", step.e, got)
		}
	}
}

// At any width nothing overlaps, and the mode and the waiting approval stay.
func TestHeaderAnyWidth(t *testing.T) {
	h := newHeader(t)
	var s state.State
	h.Update(&s, viewtest.Feed(&s, created, event.ContextUsage{Limit: 1, Percent: 250}, event.ModeChanged{Mode: action.ModeAll}, viewtest.Ask("1", viewtest.Restart)))
	h.SetApprovalLeft(true)
	for w := 24; w <= 200; w++ {
		got := viewtest.Text(t, h, w, 1)
		if !strings.Contains(got, " all") || !strings.Contains(got, "‖ 1 approval") {
			t.Errorf("%d columns: %q", w, got)
		}
	}
}

// Items are shortened by rank and by words; the mode has the reason for staying.
func TestHeaderNeverHasHalfAWord(t *testing.T) {
	titled := created
	titled.Title, titled.Model = "the checkout taxes are rounded in the wrong direction", "vendor/a-model-of-some-length"
	words := map[string]bool{"buddy": true, "●": true, "local": true, "~/src/shop": true, "shop": true, "ctx": true, "34%": true, "12k": true, "tokens": true, "auto": true, "·": true, "sandbox": true, "…": true, titled.Model: true, "a-model-of-some-length": true}
	for word := range strings.FieldsSeq(titled.Title) {
		words[word] = true
	}
	h := newHeader(t)
	var s state.State
	h.Update(&s, viewtest.Feed(&s, titled, event.ContextUsage{Limit: 100, Percent: 34}, event.MetricsUsage{SessionPrompt: 12_000}, event.ModeChanged{Mode: action.ModeAuto}))
	for w := 16; w <= 200; w++ {
		got := viewtest.Text(t, h, w, 1)
		for word := range strings.FieldsSeq(got) {
			if !words[word] && !strings.HasPrefix(word, "▓") {
				t.Errorf("%d columns: %q in %q", w, word, got)
			}
		}
		if !strings.Contains(got, "auto · sandbox") {
			t.Errorf("%d columns: no mode in %q", w, got)
		}
	}
}

// The context is highlighted from 70, 80 and 90 % on, with advice; the percentage stays at any width.
func TestHeaderHealthOfTheContext(t *testing.T) {
	for _, c := range []struct {
		health event.Health
		use    int
		role   themes.Role
		want   string
	}{
		{event.Healthy, 69, themes.Header, "ctx ▓▓▓▓▓▓░░ 69%   "},
		{event.Hint, 70, themes.Notice, " ctx ▓▓▓▓▓▓░░ 70% · /compact soon "},
		{event.Warned, 80, themes.Warning, " ctx ▓▓▓▓▓▓░░ 80% · /compact "},
		{event.Critical, 93, themes.Error, " ctx ▓▓▓▓▓▓▓░ 93% · /compact now "},
	} {
		h := newHeader(t)
		var s state.State
		h.Update(&s, viewtest.Feed(&s, created, event.ContextUsage{Estimated: c.use, Limit: 100, Percent: c.use, Health: c.health}, event.ModeChanged{Mode: action.ModeAsk}))
		if got := viewtest.Text(t, h, 160, 1); !strings.Contains(got, c.want) {
			t.Errorf("%d %%: %q, want %q", c.use, got, c.want)
		}
		for _, sp := range h.context().forms[0] {
			if sp.Style.Role != c.role {
				t.Errorf("%d %%: drawn as role %d, want %d", c.use, sp.Style.Role, c.role)
			}
		}
		for w := 40; c.health != event.Healthy && w <= 160; w++ {
			if got := viewtest.Text(t, h, w, 1); !strings.Contains(got, fmt.Sprintf("%d%%", c.use)) {
				t.Errorf("%d %% in %d columns: %q", c.use, w, got)
			}
		}
	}
}

// Tokens and costs are shown unless the settings hide them.
func TestHeaderWithoutTokens(t *testing.T) {
	h := newHeader(t)
	var s state.State
	h.Update(&s, viewtest.Feed(&s, created, event.MetricsUsage{SessionPrompt: 4000, SessionCompletion: 200, SessionCost: 30_000}))
	if got := viewtest.Text(t, h, 160, 1); !strings.Contains(got, "$0.03") {
		t.Errorf("%q", got)
	}
	h.Shown.Tokens = false
	if got := viewtest.Text(t, h, 160, 1); strings.Contains(got, "$") {
		t.Errorf("%q", got)
	}
}

// The name of a rate limit comes from a provider or an imported session: it can't control the terminal.
func TestHeaderShowsHostileLimits(t *testing.T) {
	h := newHeader(t)
	var s state.State
	h.Update(&s, viewtest.Feed(&s, created, event.MetricsUsage{Limits: []model.RateLimit{{Of: "a\x1b[31mb", Limit: 10}}}))
	for _, form := range h.limit().forms {
		for _, sp := range form {
			if strings.Contains(sp.Text, "\x1b") {
				t.Errorf("%q", sp.Text)
			}
		}
	}
	if got := viewtest.Text(t, h, 160, 1); !strings.Contains(got, "b: 100% used") {
		t.Errorf("%q", got)
	}
}

func newHeader(t *testing.T) *Header {
	h := NewHeader(viewtest.Dark(t), keymap.Default(), "/home/u", time.UTC)
	h.Shown.Tokens = true
	return h
}

func TestStatusLine(t *testing.T) {
	started := event.TaskStarted{ID: 4, Kind: event.MainTask, Title: "why"}
	call := event.ToolRequested{CallID: "c1", Name: "run_shell\x1b"}
	command := event.ToolRequested{CallID: "c1", Name: "shell", Action: action.Action{Kind: action.Shell, Command: "go test ./checkout/... -run TestTheTaxOfAllOfThem\necho"}}
	message := event.ModelMessage{Message: model.Message{Content: "done"}}
	request := event.RequestStarted{}
	words := strings.Repeat("four", 500)
	for _, c := range []struct {
		name   string
		events []event.Event
		want   string
	}{
		{"nothing", nil, ""},
		{"waiting for the model", []event.Event{started, request}, "◑ Waiting for the model · 31s · quiet for 31 s|Esc interrupts"},
		{"a follow-up", []event.Event{started, message, event.TurnFinished{}, event.TurnFinished{}}, "◑ Waiting for the model · 31s|Esc interrupts"},
		{"thinking", []event.Event{started, event.ReasoningDelta{Text: "hm"}}, "◑ Thinking · 31s · quiet for 31 s|Esc interrupts"},
		{"writing", []event.Event{started, request, event.TextDelta{Text: "so"}}, "◑ Writing · 31s · quiet for 31 s|Esc interrupts"},
		{"writing a call", []event.Event{started, request, event.TextDelta{Text: "so"}, event.CallDelta{Text: "{"}}, "◑ Writing a tool call · 31s · quiet for 31 s|Esc interrupts"},
		{"tokens", []event.Event{started, request, event.TextDelta{Text: words}}, "◑ Writing · 31s · quiet for 31 s · 500 tokens|Esc interrupts"},
		{"a new attempt counts anew", []event.Event{started, request, event.TextDelta{Text: words}, event.ModelRetry{Attempt: 1, Short: "529 overloaded"}, event.ModelAlive{}}, "◑ Waiting for the model · 31s · quiet for 31 s|Esc interrupts"},
		{"pings", []event.Event{started, request, event.ModelAlive{}}, "◑ Waiting for the model · 31s · quiet for 31 s|Esc interrupts"},
		{"waits to try again, which the conversation says", []event.Event{started, event.ModelRetry{Attempt: 2, WaitMS: 31_000 + 12_500}}, ""},
		{"tries again", []event.Event{started, event.ModelRetry{Attempt: 2, WaitMS: 43_500}, event.ModelAlive{}, event.TextDelta{Text: "so"}, message}, "◑ Waiting for the model · 31s|Esc interrupts"},
		{"approval", []event.Event{started, message, call, viewtest.Ask("1", viewtest.Restart)}, "‖ Waiting for your approval · 31s|Esc interrupts"},
		{"running", []event.Event{started, message, call, event.ToolStarted{CallID: "c1"}, event.ToolOutput{CallID: "c1", Text: strings.Repeat("x", 3000)}}, "◑ Running run_shell␛ · 31s · 3 KB|Esc interrupts"},
		{"a command in a pane", []event.Event{started, message, command, event.ToolStarted{CallID: "c1", Pane: "%1"}}, "◑ Running go test ./checkout/... -run Tes… · 31s|Esc interrupts · F6 types into it"},
		{"a command that waits for keys", []event.Event{started, message, command, event.ToolStarted{CallID: "c1", Pane: "%1"}, event.ToolWaits{CallID: "c1", Waits: true}}, "‖ Waiting for your input: go test ./checkout/... -run Tes… · 31s|F6 to type · Esc interrupts"},
		{"that waits no longer", []event.Event{started, message, command, event.ToolStarted{CallID: "c1", Pane: "%1"}, event.ToolWaits{CallID: "c1", Waits: true}, event.ToolWaits{CallID: "c1"}}, "◑ Running go test ./checkout/... -run Tes… · 31s|Esc interrupts · F6 types into it"},
		{"that goes on", []event.Event{started, message, command, event.ToolStarted{CallID: "c1", Pane: "%1"}, event.ToolWaits{CallID: "c1", Waits: true}, event.ToolOutput{CallID: "c1", Text: "ok"}}, "◑ Running go test ./checkout/... -run Tes… · 31s · 2 bytes|Esc interrupts · F6 types into it"},
		{"connecting", []event.Event{started, request, event.CallDelta{Text: "{"}, event.TargetConnecting{Target: "web"}, event.TargetConnecting{Target: "db"}, event.TargetConnecting{Target: "db", Ended: true}}, "◑ Connecting to web · 31s|Esc interrupts"},
		{"compacting", []event.Event{started, event.TaskProgress{ID: 4, Text: "summarising 12 messages"}}, "◑ Compacting: summarising 12 messages · 31s|Esc interrupts"},
		{"cancelling", []event.Event{started, event.TaskCancelling{ID: 4}}, "◌ Stopping · 31s"},
		{"deadline", []event.Event{event.TaskStarted{ID: 4, Kind: event.MainTask, Deadline: viewtest.MS(-90)}}, "◑ Waiting for the model · 31s · 01:30 left|Esc interrupts"},
		{"several", []event.Event{started, event.TaskStarted{ID: 5, Kind: event.ShellTask}, event.TaskStarted{ID: 6, Kind: event.ShellTask}}, "◑ Waiting for the model · 31s|Esc interrupts"},
		{"background only", []event.Event{event.TaskStarted{ID: 5, Kind: event.ShellTask, Title: "npm run \x1b[31mdev\nnext"}}, ""},
		{"background without a title", []event.Event{event.TaskStarted{ID: 5, Kind: event.ShellTask}}, ""},
		{"background with a deadline", []event.Event{event.TaskStarted{ID: 5, Kind: event.ShellTask}, event.TaskDeadline{ID: 5, Deadline: viewtest.MS(-90)}}, ""},
		{"background being cancelled", []event.Event{event.TaskStarted{ID: 5, Kind: event.ShellTask}, event.TaskCancelling{ID: 5}}, ""},
		{"several in the background", []event.Event{event.TaskStarted{ID: 5, Kind: event.ShellTask}, event.TaskStarted{ID: 6, Kind: event.ShellTask}}, ""},
		{"queued shows above", []event.Event{started, event.PromptSubmitted{ID: 1, Queued: true}}, "◑ Waiting for the model · 31s|Esc interrupts"},
		{"interrupted", []event.Event{event.Interrupted{CanContinue: true}}, ""},
		{"finished", []event.Event{started, event.TaskFinished{ID: 4, Outcome: event.Completed}}, ""},
	} {
		l := NewStatusLine(viewtest.Dark(t), keymap.Default(), viewtest.Clock)
		l.SetStops("Esc", true)
		var s state.State
		for _, ev := range c.events {
			l.Update(&s, s.Apply(event.Envelope{Time: viewtest.MS(31), Task: 4, Payload: ev}))
		}
		row := strings.TrimSpace(viewtest.Text(t, l, 110, 1))
		left, right, _ := strings.Cut(row, "   ")
		if got := strings.TrimSuffix(left+"|"+strings.TrimSpace(right), "|"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if want := len(s.Tasks) > 0 && c.name != "finished"; l.Busy() != want {
			t.Errorf("%s: Busy() = %v, want %v", c.name, l.Busy(), want)
		}
	}
}

// TestStatusLineOwn: the output of the person's command ends the line. It gives way to the work and its keys, and to
// hints; its colours stay, and nothing else of it reaches the terminal.
func TestStatusLineOwn(t *testing.T) {
	const hostile = "\x1b]0;title\a\x1b[2J\x1b[5;5H\x1b[31mred\x1b[0m\ttab\x1b[?1049h \u202e\x1bP$q\x1b\\\x07\v end"
	l := NewStatusLine(viewtest.Dark(t), keymap.Default(), viewtest.Clock)
	l.SetOwn(hostile)
	const shown = "red tab \u2039U+202E\u203a␇␋ end"
	text := func(w int) string { return strings.Join(strings.Fields(viewtest.Text(t, l, w, 1)), " ") }
	if got := text(100); got != shown {
		t.Errorf("%q, want %q", got, shown)
	}
	for _, sp := range l.own {
		if _, coloured := sp.Style.FG.Palette(); coloured != (sp.Text == "red") {
			t.Errorf("the colour of %q: %v", sp.Text, sp.Style.FG)
		}
	}
	if got := text(12); got != "red tab \u2039U+…" {
		t.Errorf("12 columns: %q", got)
	}
	var s state.State
	l.Update(&s, viewtest.Feed(&s, event.TaskStarted{ID: 4, Kind: event.MainTask}))
	l.SetStops("Esc", true)
	for w, want := range map[int]string{100: " · " + shown + " Esc interrupts", 62: " Esc interrupts"} {
		if got := text(w); !strings.HasPrefix(got, "◑ Waiting for the model · 0s") || !strings.HasSuffix(got, "0s"+want) {
			t.Errorf("%d columns: %q", w, got)
		}
	}
	l.SetHint("a hint")
	if got := text(100); got != "a hint" {
		t.Errorf("%q", got)
	}
}

// TestStatusLineReading: while a local server processes the prompt its progress replaces the wait, with one clock: the
// remaining time, once the server's speed is known. The next prompt starts with that speed.
func TestStatusLineReading(t *testing.T) {
	started := event.ModelReading{Total: 4100, Cached: 100, Done: 100}
	half := event.ModelReading{Total: 4100, Cached: 100, Done: 2100, TookMS: 20_000}
	all := event.ModelReading{Total: 4100, Cached: 100, Done: 4100, TookMS: 40_000}
	l := NewStatusLine(viewtest.Dark(t), keymap.Default(), viewtest.Clock)
	for _, c := range []struct {
		ago    int // of the last event, in seconds
		events []event.Event
		want   string
	}{
		{4, []event.Event{started}, "Reading the prompt · 4100 tokens · 4s"},
		{50, []event.Event{started}, "Reading the prompt · 4100 tokens · 50s"},
		{70, []event.Event{started}, "Reading the prompt · 4100 tokens · 01:10 · quiet for 70 s"},
		{0, []event.Event{started, half}, "Reading the prompt ▓▓▓▓░░░░ 51% · about 20s left"},
		{10, []event.Event{started, half}, "Reading the prompt ▓▓▓▓▓▓░░ 75% · about 10s left"},
		{21, []event.Event{started, half}, "Reading the prompt · 4100 tokens · 21s"},
		{1, []event.Event{started, half, all}, "Waiting for the model · 1s"},
		{0, []event.Event{started, half, all, event.TextDelta{Text: "so"}}, "Writing · 0s"},
		{5, []event.Event{started, half, all, event.ModelMessage{}, event.RequestStarted{}, event.ModelReading{Total: 5000, Cached: 4000, Done: 4000}}, "Reading the prompt ▓▓▓▓▓▓▓░ 90% · about 5s left"},
		{1, []event.Event{started, half, event.ModelFallback{}}, "Waiting for the model · 1s"},
		{1, []event.Event{event.ModelReading{}}, "Waiting for the model · 1s"},
	} {
		var s state.State
		for _, ev := range append([]event.Event{event.TaskStarted{ID: 4, Kind: event.MainTask}, event.RequestStarted{}}, c.events...) {
			l.Update(&s, s.Apply(event.Envelope{Time: viewtest.MS(c.ago), Task: 4, Payload: ev}))
		}
		got, _, _ := strings.Cut(strings.TrimSpace(viewtest.Text(t, l, 110, 1)), "   ")
		if _, got, _ = strings.Cut(got, " "); got != c.want {
			t.Errorf("%d s after %T: %q, want %q", c.ago, c.events[len(c.events)-1], got, c.want)
		}
	}
}

// TestStatusLineRates: streamed text is counted as it arrives.
func TestStatusLineRates(t *testing.T) {
	l := NewStatusLine(viewtest.Dark(t), keymap.Default(), viewtest.Clock)
	var s state.State
	for i, ev := range []event.Event{event.TaskStarted{ID: 4, Kind: event.MainTask}, event.RequestStarted{}, event.TextDelta{Text: strings.Repeat("four", 100)}, event.TextDelta{Text: strings.Repeat("four", 100)}} {
		l.Update(&s, s.Apply(event.Envelope{Time: viewtest.MS(8 - 2*i), Task: 4, Payload: ev}))
	}
	if got := strings.TrimSpace(viewtest.Text(t, l, 80, 1)); !strings.HasSuffix(got, "Writing · 6s · 200 tokens · 100 tokens/s") {
		t.Errorf("%q", got)
	}
}

// TestStatusLineSaysWhatIsHidden: on a small screen the line has what is not visible elsewhere; if it is too narrow,
// keys stay longer than numbers.
func TestStatusLineSaysWhatIsHidden(t *testing.T) {
	for _, c := range []struct {
		width  int
		hidden Hidden
		want   string
	}{
		{90, Hidden{}, ""},
		{90, Hidden{Queue: true}, "1 queued"},
		{90, Hidden{Retries: true}, "↻ 529 overloaded. Retrying in 13 s (3 of 6)|Enter retries now · Esc stops"},
		{64, Hidden{Queue: true}, "1 queued"},
		{45, Hidden{}, ""},
		{30, Hidden{}, ""},
		{12, Hidden{}, ""},
	} {
		l := NewStatusLine(viewtest.Dark(t), keymap.Default(), viewtest.Clock)
		l.SetStops("Esc", false)
		l.SetHidden(c.hidden)
		var s state.State
		for _, ev := range []event.Event{event.TaskStarted{ID: 4, Kind: event.MainTask}, event.PromptSubmitted{ID: 1, Queued: true}, event.ModelRetry{Attempt: 2, Of: 6, WaitMS: 31_000 + 12_500, Short: "529 overloaded"}} {
			l.Update(&s, s.Apply(event.Envelope{Time: viewtest.MS(31), Task: 4, Payload: ev}))
		}
		row := strings.TrimSpace(viewtest.Text(t, l, c.width, 1))
		left, right, _ := strings.Cut(row, "  ")
		if got := strings.TrimSuffix(left+"|"+strings.TrimSpace(right), "|"); got != c.want {
			t.Errorf("%d %+v: %q, want %q", c.width, c.hidden, got, c.want)
		}
	}
}

// TestQueue: each queued prompt has a line, at most three; the last one names the key that edits it.
func TestQueue(t *testing.T) {
	prompt := func(id int, text string) event.Event { return event.PromptSubmitted{ID: id, Text: text, Queued: true} }
	for _, c := range []struct {
		texts []string
		w, h  int
		want  string
	}{
		{[]string{"and add a test\nfor the rounding"}, 60, 1, "⏎ queued  and add a test for the rounding        Up edits it"},
		{[]string{"one", "two\x1b[2J"}, 60, 2, "⏎ queued  one|⏎ queued  two␛[2J                      Up edits the last one"},
		{[]string{"one", "two", "three", "four", "five"}, 40, 4, "⏎ queued  one|⏎ queued  two|⏎ queued  three|+2 more            Up edits the last one"},
		{[]string{"one", "two", "three"}, 40, 2, "⏎ queued  one|+2 more            Up edits the last one"},
		{[]string{"a long text that has no room here"}, 24, 1, "⏎ queued  a long text t…"},
	} {
		q := NewQueue(viewtest.Dark(t), keymap.Default())
		var s state.State
		for i, text := range c.texts {
			q.Update(&s, s.Apply(event.Envelope{Payload: prompt(i+1, text)}))
		}
		var rows []string
		for _, row := range viewtest.ScreenRows(t, q, c.w, c.h) {
			rows = append(rows, strings.TrimSpace(row))
		}
		if got := strings.Join(rows, "|"); got != c.want || q.Rows() != min(len(c.texts), 4) {
			t.Errorf("%q in %d×%d: %q, want %q (%d rows)", c.texts, c.w, c.h, got, c.want, q.Rows())
		}
	}
}

func TestFooterGolden(t *testing.T) {
	for _, scope := range keymap.Scopes() {
		f := NewFooter(viewtest.Dark(t), keymap.Default())
		f.SetScope(scope, false)
		f.SetPanes(true)
		viewtest.Golden(t, "footer-"+string(scope), f, 100, 1)
	}
	for _, w := range []int{40, 12, 2} {
		viewtest.Golden(t, "footer", NewFooter(viewtest.Dark(t), keymap.Default()), w, 1)
	}
}

func tasksState() *state.State {
	s := &state.State{}
	for i, ev := range []event.Event{
		event.TaskStarted{ID: 1, Kind: event.ShellTask, Title: "make all"},
		event.TaskFinished{ID: 1, Outcome: event.Failed, Error: "exit 2:\nno rule"},
		event.TaskStarted{ID: 2, Kind: event.ShellTask, Title: viewtest.Hostile},
		event.TaskFinished{ID: 2, Outcome: event.Cancelled},
		event.TaskStarted{ID: 3, Kind: event.ShellTask, Title: "npm run dev (pane 2)"},
		event.TaskFinished{ID: 3, Outcome: event.Completed},
		event.TaskStarted{ID: 4, Kind: event.MainTask, Title: "why do the checkout tests fail?"},
		event.TaskStarted{ID: 5, Kind: event.ShellTask, Title: "a long one", Deadline: viewtest.MS(-300)},
		event.TaskCancelling{ID: 5},
		event.TaskQueued{ID: 6, Kind: event.ShellTask, Title: "later"},
		viewtest.Ask("1", action.Action{Tool: "edit_file", Path: "checkout/tax.go"}),
		viewtest.Ask("2", viewtest.Restart),
	} {
		s.Apply(event.Envelope{Seq: uint64(i), Time: viewtest.MS(100 - i), Task: 4, Payload: ev})
	}
	return s
}

func newTestTasks(t testing.TB) *Tasks {
	v := NewTasks(viewtest.Dark(t), keymap.Default(), viewtest.Clock)
	v.Update(tasksState(), state.Everything)
	v.Focus(nil)
	return v
}

func TestTasksGolden(t *testing.T) {
	for _, size := range [][2]int{{60, 9}, {40, 5}, {100, 12}} {
		viewtest.Golden(t, "tasks", newTestTasks(t), size[0], size[1])
	}
	viewtest.Golden(t, "tasks-none", NewTasks(viewtest.Dark(t), keymap.Default(), viewtest.Clock), 40, 3)
}

// Cancelling affects the selected task, once, and no ended one.
func TestTasksCancel(t *testing.T) {
	v := newTestTasks(t)
	var cancelled []int
	v.OnCancel = func(id int) { cancelled = append(cancelled, id) }
	viewtest.Press(t, v, "task-cancel")
	for range 10 {
		viewtest.Press(t, v, "item-down", "task-cancel")
	}
	if want := []int{6, 4}; !slices.Equal(cancelled, want) {
		t.Errorf("cancelled %v, want %v", cancelled, want)
	}
}

func TestTasksSelectionStays(t *testing.T) {
	v := newTestTasks(t)
	viewtest.Press(t, v, "item-down", "item-down")
	if selectedTask(v) != 4 {
		t.Fatalf("selected %d, want 4", selectedTask(v))
	}
	s := tasksState()
	viewtest.Feed(s, event.TaskStarted{ID: 7, Kind: event.ShellTask})
	v.Update(s, state.Tasks)
	if selectedTask(v) != 4 {
		t.Errorf("after an update %d is selected, want 4", selectedTask(v))
	}
	if text := viewtest.Text(t, v, 60, 9); strings.Contains(text, "approve") {
		t.Errorf("what waits for the person shows above the prompt, and here again:\n%s", text)
	}
}

// The border describes how to stop background tasks, unless the list has the focus.
func TestTasksSayHowToStop(t *testing.T) {
	v := NewTasks(viewtest.Dark(t), keymap.Default(), viewtest.Clock)
	s := &state.State{}
	border := func() string { return viewtest.Text(t, v, 46, 6) }
	feed := func(events ...event.Event) { v.Update(s, viewtest.Feed(s, events...)) }
	feed(event.TaskStarted{ID: 1, Kind: event.MainTask, Title: "go"})
	if got := border(); strings.Contains(got, "/kill") {
		t.Errorf("Esc stops the main task: %q", got)
	}
	feed(event.TaskStarted{ID: 2, Kind: event.ShellTask, Title: "sh dev.sh"})
	if got := border(); !strings.Contains(got, "/kill 2 stops #2") {
		t.Errorf("one: %q", got)
	}
	feed(event.TaskStarted{ID: 3, Kind: event.ShellTask, Title: "sh api.sh"})
	if got := border(); !strings.Contains(got, "/kill NUMBER stops a task") {
		t.Errorf("two: %q", got)
	}
	v.Focus(nil)
	if got := border(); strings.Contains(got, "/kill") {
		t.Errorf("with the focus: %q", got)
	}
	v.Blur()
	feed(event.TaskFinished{ID: 2, Outcome: event.Completed}, event.TaskCancelling{ID: 3})
	if got := border(); strings.Contains(got, "/kill") {
		t.Errorf("ended: %q", got)
	}
}

// Running tasks are visible in a short list, however many tasks came before, until the person scrolls.
func TestTasksRunningShow(t *testing.T) {
	v := NewTasks(viewtest.Dark(t), keymap.Default(), viewtest.Clock)
	s := &state.State{}
	for id := 1; id <= 9; id++ {
		v.Update(s, viewtest.Feed(s, event.TaskStarted{ID: id, Kind: event.ShellTask, Title: fmt.Sprintf("job %d", id)}))
		if id < 9 {
			v.Update(s, viewtest.Feed(s, event.TaskFinished{ID: id, Outcome: event.Completed}))
		}
		viewtest.Text(t, v, 40, 5)
	}
	if got := viewtest.Text(t, v, 40, 5); !strings.Contains(got, "job 9") {
		t.Errorf("the running task does not show:\n%s", got)
	}
	v.Focus(nil)
	viewtest.Press(t, v, "item-down", "item-down", "item-down", "item-down", "item-down")
	v.Blur()
	if got := viewtest.Text(t, v, 40, 5); !strings.Contains(got, "job 9") {
		t.Errorf("after the selection was moved and left the running task does not show:\n%s", got)
	}
}

// selectedTask returns the id of the selected task, 0 if another row is selected.
func selectedTask(t *Tasks) int {
	row, _ := t.selected()
	return row.ID
}

// TestStatusLineCountsSinceTheQuestion: the time of a question is independent of the task's time; the oldest of several
// questions counts, and after the answer the task's time is shown again.
func TestStatusLineCountsSinceTheQuestion(t *testing.T) {
	l := NewStatusLine(viewtest.Dark(t), keymap.Default(), viewtest.Clock)
	var s state.State
	for _, step := range []struct {
		ago  int // seconds
		ev   event.Event
		want string
	}{
		{600, event.TaskStarted{ID: 4, Kind: event.MainTask}, "Waiting for the model · 10:00"},
		{300, event.ToolRequested{CallID: "c1", Name: "shell"}, "Waiting for the model · 10:00"},
		{31, viewtest.Ask("1", viewtest.Restart), "Waiting for your approval · 31s"},
		{5, viewtest.Ask("2", viewtest.Restart), "Waiting for your approval · 31s"},
		{4, event.ApprovalAnswered{ID: "1", Decision: event.Once, By: "user"}, "Waiting for your approval · 5s"},
		{3, event.ApprovalAnswered{ID: "2", Decision: event.Once, By: "user"}, "Waiting for the model · 10:00"},
		{2, event.QuestionAsked{ID: "3", Text: "Which?"}, "Waiting for your answer · 2s"},
	} {
		l.Update(&s, s.Apply(event.Envelope{Time: viewtest.MS(step.ago), Task: 4, Payload: step.ev}))
		if got := viewtest.Text(t, l, 110, 1); !strings.Contains(got, step.want) {
			t.Errorf("after %T: %q, want %q", step.ev, strings.TrimSpace(got), step.want)
		}
	}
}
