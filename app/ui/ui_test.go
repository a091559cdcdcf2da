package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/undo"
	"buddy/app/apptest"
	"buddy/app/commands"
	"buddy/app/compose"
	"buddy/app/keymap"
	"buddy/app/screen"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/sessions"
	"buddy/themes"
	"buddy/views"
	"buddy/views/dialog"
	"buddy/views/draw"
)

// testUI is the full screen on a terminal in memory, fed by the test.
type testUI struct {
	*apptest.UI
	since    []undo.Change
	sinceErr error // why files were not compared
	t        *testing.T
	u        *UI
	events   chan event.Envelope
	seq      uint64

	mu     sync.Mutex // guards the fields below
	sent   []event.Command
	copied string

	left    slash.Next
	shape   Shape
	noticed string
	store   sessions.Store
	setup   *compose.Setup
	exports []string
	edited  string               // the name of the text that was opened in the editor
	openErr error                // of the editor
	opened  []string             // files opened there, with the line
	kept    string               // an API key that was entered
	diff    string               // shown by /diff
	lists   map[string]show.List // answers of commands, by their words
	shown   map[string]show.Document
	ran     []string // other commands that were run
}

// runSession runs the commands about saved sessions; ok is false for any other line.
func (x *testUI) runSession(line string) (a show.Answer, err error, ok bool) {
	verb, arg, _ := strings.Cut(strings.TrimPrefix(line, "session "), " ")
	switch {
	case line == "clear" || line == "session new":
		return show.Answer{Leave: &show.Leave{}}, nil, true
	case !strings.HasPrefix(line, "session "):
		return a, nil, false
	case verb == "resume" && len(arg) == 19:
		return show.Answer{Leave: &show.Leave{Session: arg}}, nil, true
	case verb == "resume" && arg == "7f":
		return show.Answer{Leave: &show.Leave{Session: "7f3a-1111"}}, nil, true
	case verb == "resume":
		return a, fmt.Errorf("no session %q", arg), true
	case verb == "fork":
		return show.Answer{Leave: &show.Leave{Session: "copy" + arg}}, nil, true
	case verb == "export":
		x.exports = append(x.exports, arg)
		return show.Say("written: session.md"), nil, true
	case verb == "rename":
		Send(x.u, event.Rename{Title: arg})
		return a, nil, true
	}
	return a, fmt.Errorf("%q is not known", verb), true
}

// run answers with a list, or records the command.
func (x *testUI) run(now slash.Now, words []string) (show.Answer, error) {
	line := strings.Join(words, " ")
	if line == "model" || line == "model all" || line == "model local" {
		list := testModels()
		if line == "model local" {
			list.Title = "Models on this machine"
		}
		return show.Answer{List: &list}, nil
	}
	if list, ok := x.lists[line]; ok {
		list.Rows = slices.Clone(list.Rows)
		return show.Answer{List: &list}, nil
	}
	switch words[0] {
	case "quit", "detach", "undo", "rewind", "findings", "login", "usage":
		return commands.Run(x.t.Context(), &commands.Session{
			Setup: x.setup, Now: &now, Say: func(text string) { x.noticed = text }, Since: func() ([]undo.Change, error) { return x.since, x.sinceErr }, Send: func(c event.Command) { Send(x.u, c) },
		}, words...)
	}
	if answer, err, ok := x.runSession(line); ok {
		return answer, err
	}
	if d, ok := x.shown[line]; ok {
		return show.Answer{Document: &d}, nil
	}
	x.ran = append(x.ran, line)
	if line == "config edit" {
		return show.Answer{Open: "/home/ann/buddy.toml"}, nil
	}
	if line == "trust apply" {
		return show.Answer{Leave: &show.Leave{Session: "7f3a-0000"}}, nil
	}
	if line == "diff" && x.diff != "" {
		return show.Answer{Text: &show.Text{Title: "in 1 file", Body: x.diff, Form: show.Diff}}, nil
	}
	if words[0] == "model" && len(words) == 2 {
		Send(x.u, event.SwitchModel{Profile: words[1]})
		return show.Answer{}, nil
	}
	return show.Say(strings.Join(words[:min(2, len(words))], " ") + " done\n--- a diff"), nil
}

// open starts the screen. Call it in a synctest bubble.
func open(t *testing.T, cols, rows int) *testUI { return openOn(t, cols, rows, sessions.Store{}) }

// openOn is open with saved sessions.
func openOn(t *testing.T, cols, rows int, store sessions.Store) *testUI {
	t.Helper()
	theme, err := themes.Load("", "dark")
	if err != nil {
		t.Fatal(err)
	}
	x := &testUI{t: t, store: store, setup: &compose.Setup{}, events: make(chan event.Envelope, 1000)}
	x.UI = apptest.Start(t, cols, rows, func(ctx context.Context, s *screen.Screen) error {
		d := Deps{
			Looks: Looks{Theme: theme, Header: views.Shown{Tokens: true}},
			Terminal: Terminal{
				Repaint: s.Sync, AskBackground: s.AskBackground, Copy: func(text string) { x.copied = text },
				Suspend: func() error { return nil },
				OpenAt: func(path string, line int) error {
					x.opened = append(x.opened, fmt.Sprintf("%s:%d", path, line))
					return x.openErr
				},
				Attention: Attention{How: screen.CallOSC9, Notify: s.Notify, SetTitle: s.SetTitle},
			},
			Timing: Timing{Now: time.Now, Background: func(func() func()) {}},
			Drafting: Drafting{
				Draft: func() {}, Record: func(string) {},
				Files: func(query string, answer func([]string)) { x.u.deps.Later(func() { answer(testFiles(query)) }) },
				Arguments: func(line string, answer func([]draw.CommandHelp)) {
					x.u.deps.Later(func() { answer(testArguments(line)) })
				},
				Attach:           func(string) ([]model.Image, error) { return nil, nil },
				ClipboardPicture: func() (string, error) { return "/pics/clip.png", nil },
			},
			Keys: keymap.Default(), Home: "/home/ann",
			Send:      func(c event.Command) { x.mu.Lock(); x.sent = append(x.sent, c); x.mu.Unlock() },
			KeepShape: func(s Shape) { x.shape = s },
		}
		quit, tick, post := func() {}, func(bool) {}, func(func()) {}
		d.Later = func(f func()) { post(f) }
		d.After = func(wait time.Duration, f func()) { time.AfterFunc(wait, func() { post(f) }) }
		d.Leave, d.Tick = func(n slash.Next) { x.left = n; quit() }, func(on bool) { tick(on) }
		d.Run = x.run
		d.Saved = SavedSessions{Saved: slash.SavedIn(x.store), Running: func() map[string]string { return nil }}
		d.File.Transcript = func() (string, error) { return "[user]\nin this session\n→ use_tool {\"name\":\"x\"}\n", nil }
		x.u = New(d)
		x.u.deps.Background = func(work func() func()) { work()() } // colours code in place
		l := x.u.Loop(s, x.events, func() {})
		quit, tick, post = l.Quit, l.SetTicking, l.Post
		l.SetFocus(x.u)
		return l.Run(ctx)
	})
	x.feed(event.SessionCreated{Cwd: "/home/ann/shop", Target: "local", Model: "demo"}, event.ModeChanged{Mode: action.ModeAsk})
	return x
}

// feed sends events of task 1 and waits until they are drawn.
func (x *testUI) feed(payloads ...event.Event) {
	for _, p := range payloads {
		x.seq++
		x.events <- event.Envelope{Seq: x.seq, Time: time.Now().UnixMilli(), Session: "7f3a-0000", Task: 1, Payload: p}
	}
	x.Settle()
}

// decide presses keys of a dialog and waits until none is kept back.
func (x *testUI) decide(keys ...string) {
	x.Press(keys...)
	time.Sleep(dialog.LetterPause)
	x.Settle()
}

// wantSent checks the commands sent since the last time, except WatchPanes.
func (x *testUI) wantSent(want ...event.Command) {
	x.t.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	got := slices.DeleteFunc(x.sent, func(c event.Command) bool { _, ok := c.(event.WatchPanes); return ok })
	x.sent = nil
	if fmt.Sprint(got) != fmt.Sprint(want) {
		x.t.Errorf("commands %#v, want %#v\n%s", got, want, x.Screen())
	}
}

// didRun checks the table's commands that were run since the last time.
func (x *testUI) didRun(want ...string) {
	x.t.Helper()
	x.Settle()
	if !slices.Equal(x.ran, want) {
		x.t.Errorf("ran %q, want %q\n%s", x.ran, want, x.Screen())
	}
	x.ran = nil
}

func (x *testUI) unwanted(texts ...string) {
	x.t.Helper()
	for _, text := range texts {
		if strings.Contains(x.Screen(), text) {
			x.t.Errorf("%q is on the screen:\n%s", text, x.Screen())
		}
	}
}

var running = []event.Event{
	event.PromptSubmitted{ID: 1, Text: "list the files"},
	event.TaskStarted{ID: 1, Kind: event.MainTask, Title: "list the files"},
	event.ModelMessage{Message: model.Message{Content: "I will look."}},
	event.ToolRequested{CallID: "c1", Name: "run_shell", Action: ls},
}

var (
	ls    = action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Command: "ls -la", Why: "to see them", Risk: action.Low}
	asked = event.ApprovalAsked{ID: "a1", CallID: "c1", Action: ls, Verdict: action.Verdict{Decision: action.Ask, Reason: "every shell command is asked about", Rule: "shell"}}
)

func TestExchangeOnScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.Want("buddy runs commands", "local ~/shop", "● demo", "F1 help")
		x.Type("list the files")
		x.Press("Enter")
		x.wantSent(event.Submit{Text: "list the files"})
		x.feed(running...)
		x.feed(asked)
		x.Want("▌ list the files", "I will look.", "Run this command?", "ls -la", "to see them")
		x.rest()
		x.decide("y")
		x.wantSent(event.AnswerApproval{ID: "a1", Decision: event.Once})
		x.feed(event.ApprovalAnswered{ID: "a1", CallID: "c1", Decision: event.Once, By: "user"},
			event.ToolStarted{CallID: "c1", Name: "run_shell"},
			event.PaneOpened{Pane: "%1", Title: "shared", Target: "local", Attach: "tmux attach"},
			event.ToolOutput{CallID: "c1", Stream: "stdout", Text: "total 16\n", BytesTotal: 9},
			event.PaneScreen{Pane: "%1", W: 120, H: 40, Rows: []string{"$ ls -la", "total 16"}})
		x.unwanted("Run this command?", "shell ◐")
		time.Sleep(1100 * time.Millisecond)
		x.Want("shell ◐", "total 16")
		code := 0
		x.feed(event.ToolResult{CallID: "c1", Name: "run_shell", Result: "{}", ExitCode: &code, DurationMS: 40, Tail: "total 16\n"},
			event.TextDelta{Text: "There are "}, event.TextDelta{Text: "**16**."},
			event.ModelMessage{Message: model.Message{Content: "There are **16**."}},
			event.TaskFinished{ID: 1, Outcome: event.Completed})
		x.Want("There are 16.")
		x.unwanted("#1", "┬─ Tasks", "├─ Tasks") // it is in the conversation
	})
}

func TestKeysMeantForThePromptNeverApprove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(running...)
		x.Type("yes ")
		x.feed(asked)
		x.Type("y") // the prompt is not empty
		x.Want("> yes y", "Run this command?", "Press F8 to answer")
		x.rest()
		x.Type("n")
		x.Press("Enter")
		x.wantSent(event.Submit{Text: "yes yn"})
		x.rest()
		x.Want("Run this command?", "Press F8 to answer") // after a prompt the next one may follow
		x.Type("yes, and")
		x.wantSent()
		x.Want("> yes, and")
		x.Press("Ctrl+U", "F8")
		time.Sleep(draw.GracePeriod)
		x.Settle()
		x.unwanted("Press F8 to answer")
		x.decide("n")
		x.wantSent(event.AnswerApproval{ID: "a1", Decision: event.Deny})
	})
}

// A second y for copying in the conversation while an approval opens is no answer.
func TestKeysMeantForTheConversationNeverApprove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(running...)
		x.Press("Tab")
		x.feed(asked)
		x.rest()
		x.Press("y") // copies, and the prompt has the focus again
		x.rest()
		x.Want("Run this command?", "Press F8 to answer")
		x.Press("y")
		x.wantSent()
		x.Want("> y")
	})
}

func TestEscLeavesTheApprovalOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(running...)
		x.feed(asked)
		x.rest()
		x.Press("Esc")
		x.rest()
		x.Want("Run this command?", "Press F8 to answer")
		x.Type("first the tests")
		x.Want("> first the tests")
		x.wantSent()
		x.Press("F8")
		x.decide("d")
		x.Type("use make")
		x.Press("Enter")
		x.wantSent(event.AnswerApproval{ID: "a1", Decision: event.Deny, Reason: "use make"})
	})
}

func TestCtrlC(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(running...)
		x.Type("a draft")
		x.Press("Ctrl+C")
		x.wantSent(event.Cancel{Task: 1})
		x.Want("> a draft", "Ctrl+C again")
		x.feed(event.TaskFinished{ID: 1, Outcome: event.Cancelled})
		x.Press("Right") // any other key cancels the confirmation
		x.Press("Ctrl+C")
		x.unwanted("a draft")
		x.Press("Up") // the history has it
		x.Want("> a draft")
		x.Press("Ctrl+C", "Ctrl+C")
		x.Want("Ctrl+C again")
		if !x.Running() {
			t.Fatal("quit after one Ctrl-C")
		}
		x.Press("Ctrl+C")
		if err := x.Ended(); err != nil {
			t.Error(err)
		}
	})
}

// Esc first closes what is over the prompt, then stops the main task, whatever is typed; the pending request is not
// denied.
func TestEscInterrupts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(running...)
		x.feed(asked)
		x.Type("/s")
		x.Press("Esc")
		x.wantSent()
		x.Press("Esc")
		x.wantSent(event.Cancel{})
		x.Want("> /s")
	})
}

func TestQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(event.PromptSubmitted{ID: 1, Text: "go"}, event.TaskStarted{ID: 1, Kind: event.MainTask, Title: "go"},
			event.QuestionAsked{ID: "q", Text: "Which port?", Choices: []string{"80", "8080"}})
		x.Want("Which port?", "2  8080")
		x.unwanted("warning")
		x.Paste("/ps")
		x.Press("Enter")
		x.didRun("ps")
		x.rest()
		x.Want("❯ 1  80", "or type your answer")
		x.Paste("2")
		x.Want(" answer\n", "Enter sends what you typed as your answer. F8 goes back to the choices.")
		x.unwanted("❯", "Press F8 to answer", "Typing goes to")
		x.Press("Enter")
		x.wantSent(event.Answer{ID: "q", Text: "8080"})
		x.feed(event.QuestionAnswered{ID: "q", Text: "8080", By: "user"})
		x.Paste("go on")
		x.Press("Enter")
		x.wantSent(event.Submit{Text: "go on"})
	})
}

// While a dialog has the keys, Up selects a choice and takes no queued prompt back, so the queue does not offer it.
func TestQueueNamesItsKeyOnlyWhereItWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 80, 24)
		x.feed(event.PromptSubmitted{ID: 1, Text: "go"}, event.TaskStarted{ID: 1, Kind: event.MainTask, Title: "go"},
			event.PromptSubmitted{ID: 2, Text: "and the rest", Queued: true})
		x.Want("queued  and the rest", "Up edits it")
		x.feed(event.QuestionAsked{ID: "q", Text: "Which port?", Choices: []string{"80", "8080"}})
		x.Want("Up edits it")
		x.Press("F8")
		x.Want("queued  and the rest", "or type your answer")
		x.unwanted("Up edits it")
		x.Press("F8")
		x.Want("Up edits it")
	})
}

func TestCommands(t *testing.T) {
	tests := []struct {
		line string
		sent event.Command // nil: none
		want string        // on the screen
	}{
		{"/KILL 3", event.Cancel{Task: 3}, ""},
		{"/bg look around", event.Submit{Text: "look around", Background: true}, ""},
		{"/bg", event.Background{}, ""},
		{"/kill", event.Cancel{Only: true}, ""},
		{"/kill #3", event.Cancel{Task: 3}, ""},
		{"/kill all", nil, `/kill: "all" is not a task's number`},
		{"/approve all 10m", event.SetMode{Mode: action.ModeAll, Duration: 10 * time.Minute}, ""},
		{"/approve 5m", event.SetMode{Mode: action.ModeAll, Duration: 5 * time.Minute}, ""},
		{"/mode none", event.SetMode{Mode: action.ModeNone}, ""},
		{"/approve sometimes", nil, `unknown mode "sometimes" (have: ask, strict, edits, auto, plan, all, none, or a duration`},
		{"/compact", event.Compact{}, ""},
		{"/timeout 5m", event.SetTimeout{Duration: 5 * time.Minute}, ""},
		{"/timeout 90 #2", event.SetTimeout{Task: 2, Duration: 90 * time.Second}, ""},
		{"/timeout soon", nil, `"soon" is not a time`},
		{"/timeout 5m all", nil, `"all" is not a task's number`},
		{"/loop 10m look --runs 3", event.StartLoop{Prompt: event.Submit{Text: "look"}, Every: 10 * time.Minute, Runs: 3, Limit: event.GoalUse{Cost: 5 * model.Dollar, TimeMS: 86_400_000}}, ""},
		{"/loop stop", event.StopLoop{}, ""},
		{"/loop 1s look", nil, "/loop: the interval 1s is too short (at least 10s)"},
		{"/pin", event.Pin{Back: 1}, ""},
		{"/unpin 3", event.Pin{Back: 3, Off: true}, ""},
		{"/pin last", nil, `"last"`},
		{"/model demo", event.SwitchModel{Profile: "demo"}, ""},
		{"/session resume 99", nil, `no session "99"`},
		{"/session burn", nil, `"burn" is not known`},
		{"/theme nope", nil, `unknown theme "nope"`},
		{"/help", nil, "Help"},
		{"/nonsense", nil, "Unknown command /nonsense"},
		{"/etc/hosts is what?", event.Submit{Text: "/etc/hosts is what?"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := open(t, 120, 32)
				x.Paste(tt.line)
				x.Press("Enter")
				if tt.sent == nil {
					x.wantSent()
				} else {
					x.wantSent(tt.sent)
				}
				x.Want(tt.want)
			})
		})
	}
}

func TestChangingTheSession(t *testing.T) {
	for line, want := range map[string]slash.Next{
		"/session resume 7f": {Again: true, Resume: "7f3a-1111", Detach: true},
		"/session new":       {Again: true, Detach: true},
		"/clear":             {Again: true, Detach: true},
		"/detach":            {Detach: true},
		"/quit":              {Kill: true},
	} {
		t.Run(line, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := open(t, 120, 32)
				x.feed(running...)
				x.Type(line + "\n")
				if line == "/quit" {
					x.Want("1 task is still running", "list the files", "1  Detach")
					x.rest()
					x.Press("F8", "k")
				}
				if err := x.Ended(); err != nil || x.left != want {
					t.Errorf("left for %+v, %v, want %+v", x.left, err, want)
				}
			})
		})
	}
}

func TestThemeChangesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.Type("/theme light\n")
		x.Want(`To keep it, set [ui] theme = "light"`)
		x.feed(running...)
		if x.u.deps.Theme.Name != "light" {
			t.Errorf("theme %s", x.u.deps.Theme.Name)
		}
		x.Want("list the files")
	})
}

func TestHelpOpensAndCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 40)
		x.Press("F1")
		x.Want("Help", "What everybody needs", "Close a list")
		x.Type("earlier search")
		x.Want("Search your earlier prompts")
		x.unwanted("Close a list")
		x.Press("F1")
		x.unwanted("What everybody needs", "Search your earlier")
		x.Press("F1", "Esc")
		x.unwanted("What everybody needs", "Search your earlier")
	})
}

func TestTabVisitsWhatThereIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(running...)
		var seen []string
		for range 4 {
			seen = append(seen, x.u.arranged.focus.String())
			x.Press("Tab")
		}
		if got := strings.Join(seen, " "); got != "Prompt Conversation Prompt Conversation" {
			t.Errorf("visited %s", got)
		}
	})
}

func TestHostileText(t *testing.T) {
	hostile := "\x1b[31mred\x1b]0;title\x07 [red]tag[-] \u202egnp.exe \x9b2J\x00"
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 40)
		act := ls
		act.Command, act.Why = "echo "+hostile, hostile
		x.feed(event.PromptSubmitted{ID: 1, Text: hostile}, event.TaskStarted{ID: 1, Kind: event.MainTask, Title: hostile},
			event.ModelMessage{Message: model.Message{Content: hostile}, Reasoning: hostile},
			event.ToolRequested{CallID: "c1", Name: hostile, Action: act},
			event.Notice{Text: hostile}, event.Error{Text: hostile}, event.Warning{Text: hostile},
			event.PaneOpened{Pane: "%1", Title: hostile, Target: hostile, Attach: hostile},
			event.ToolStarted{CallID: "c1", Name: hostile},
			event.ToolOutput{CallID: "c1", Stream: "stdout", Text: hostile},
			event.PaneScreen{Pane: "%1", W: 80, H: 24, Rows: []string{hostile}})
		x.Want("[red]tag[-]", "‹U+202E›gnp.exe")
		x.feed(event.ApprovalAsked{ID: "a1", CallID: "c1", Action: act})
		x.Want("Run this command?", "‹U+202E›gnp.exe", "␛[31mred")
		written, _ := x.Written()
		for _, raw := range []string{"\x1b]0;title", "\u202e", "\u009b", "\x00"} {
			if strings.Contains(string(written), raw) {
				t.Errorf("%q reached the terminal", raw)
			}
		}
	})
}

func TestGiantLine(t *testing.T) { // a 10 MB line of output and of an answer
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(running...)
		giant := strings.Repeat("0123456789", 1<<20)
		x.feed(event.ToolStarted{CallID: "c1", Name: "run_shell"}, event.ToolOutput{CallID: "c1", Stream: "stdout", Text: giant, BytesTotal: int64(len(giant))},
			event.TextDelta{Text: giant})
		x.Type("still here")
		x.Want("> still here", "0123456789")
	})
}

func TestSmallScreens(t *testing.T) {
	for _, size := range [][2]int{{40, 12}, {59, 10}, {80, 24}, {20, 5}, {5, 3}, {1, 1}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := open(t, 120, 32)
				x.feed(running...)
				x.feed(asked)
				x.Resize(size[0], size[1])
				x.Press("F1", "Esc", "Tab", "Tab")
				x.Resize(120, 32)
				x.Want("Run this command?")
			})
		})
	}
}

func TestInterruptedContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(event.Interrupted{Task: 1, Text: "interrupted · press Enter to continue", CanContinue: true})
		x.Press("Enter")
		x.wantSent(event.Continue{})
	})
}

// TestEnterOnALostSession: Enter restarts a session that no process runs, once, and does not send the draft. Quitting
// needs no session.
func TestEnterOnALostSession(t *testing.T) {
	for _, text := range []string{"half a", "!rm -rf", "/bg half a", ""} {
		synctest.Test(t, func(t *testing.T) {
			x := open(t, 120, 32)
			x.u.deps.Later(func() { Lose(x.u, "it has ended", nil) })
			x.Settle()
			x.Type(text)
			x.Press("Enter")
			x.wantSent(event.Continue{})
			if got := x.u.Prompt().Text(); got != text {
				t.Errorf("the prompt has %q, want %q", got, text)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.u.deps.Later(func() { Lose(x.u, "it has ended", nil) })
		x.Settle()
		x.Type("/quit")
		x.Press("Enter")
		x.wantSent()
		if err := x.Ended(); err != nil {
			t.Error(err)
		}
	})
}

// An idle screen writes nothing and wakes nothing up.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(running[:2]...)
		x.feed(event.TaskFinished{ID: 1, Outcome: event.Completed})
		x.Written()
		time.Sleep(time.Hour)
		synctest.Wait()
		if _, writes := x.Written(); writes != 0 {
			t.Errorf("%d times something was written in an idle hour", writes)
		}
	})
}

// 2,000 deltas a second: at most 31 draws, nothing lost or reordered.
func TestFloodOfDeltas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(running[:2]...)
		var want strings.Builder
		for i := range 2000 {
			text := fmt.Sprint(i, " ")
			want.WriteString(text)
			x.seq++
			x.events <- event.Envelope{Seq: x.seq, Payload: event.TextDelta{Text: text}}
			time.Sleep(500 * time.Microsecond)
		}
		x.Settle()
		last := x.u.state.Blocks[len(x.u.state.Blocks)-1]
		if string(last.Text) != want.String() {
			t.Errorf("%d bytes arrived, want %d in order", len(last.Text), want.Len())
		}
		x.Want("1999")
	})
}

// A hint about a task disappears with the task, and so does its confirmation.
func TestHintAboutATaskEndsWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(running...)
		x.Press("Ctrl+C")
		x.Want("Cancelling. Press Ctrl+C again to quit.")
		x.feed(event.TaskFinished{ID: 1, Outcome: event.Cancelled})
		x.unwanted("again")
		x.Press("Ctrl+C")
		x.Want("Ctrl+C again")
		if !x.Running() {
			t.Error("quit by a key that was meant for the task")
		}
	})
}

// Footer, hints and help name the user's key bindings.
func TestBoundKeysShow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		if _, err := x.u.deps.Keys.Rebind(map[string][]string{"interrupt": {"Ctrl+X"}, "help": {"F10"}}); err != nil {
			t.Fatal(err)
		}
		x.Press("Ctrl+X")
		x.Want("Ctrl+X again", "F10 help")
		x.Press("F10", "PgDn", "PgDn", "PgDn")
		x.Want("Help")
	})
}
