package ui

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/show"
	"buddy/sessions"
	"buddy/views/draw"
	"buddy/views/markup"
)

// testModels is a list of three models, one of them without a key.
func testModels() show.List {
	row := func(name, model, window, price, state string) show.Row {
		r := show.Row{ID: name, Cells: []string{name, model, window, price, state}, Mark: name == "demo"}
		if r.Deeds = []show.Deed{{Label: "talk to it", Run: []string{"model", name}, Closes: true}}; state == "needs /login" {
			r.Deeds, r.Line = nil, name+": needs a key: set GROQ_API_KEY"
		}
		return r
	}
	return show.List{Title: "Models", Columns: []string{"name", "model", "window", "in/out per 1M", "state"}, Rows: []show.Row{
		row("fast", "gpt-5.3-codex", "400k", "$1.25 / $10.00", "ready · high"), row("demo", "demo", "–", "–", "ready"), row("groq", "gpt-oss", "–", "–", "needs /login"),
	}}
}

// savedSessions makes a store with sessions of one exchange each, the last one used last. Titles that start with exec
// make sessions of buddy exec.
func savedSessions(t *testing.T, titles ...string) (sessions.Store, []string) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	store, _, err := sessions.Dir(t.TempDir(), sessions.Automatic)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for i, title := range titles {
		id := fmt.Sprintf("%04x-0000-0000-0000", i+1)
		by := ""
		if strings.HasPrefix(title, sessions.Exec) {
			by = sessions.Exec
		}
		j, err := store.Create(sessions.Header{ID: id, Cwd: "/home/ann/shop", Target: "local", Model: "gpt-5.3", By: by})
		if err != nil {
			t.Fatal(err)
		}
		for n, e := range []event.Event{
			event.PromptSubmitted{ID: 1, Text: title},
			event.TaskStarted{ID: 1, Kind: event.MainTask, Title: title},
			event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: "Answer to " + title + "."}},
			event.TaskFinished{ID: 1, Outcome: event.Completed},
		} {
			env := event.Envelope{Seq: uint64(n + 1), Time: time.Now().UnixMilli(), Session: id, Task: 1, Payload: e}
			if err := j.Append(env); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		used := time.Now().Add(time.Duration(i-len(titles)) * time.Hour)
		if err := os.Chtimes(store.File(id), used, used); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return store, ids
}

const wideTitle = "修复 nginx 配置 👩‍🚀 [red]x[-] \x1b[31m"

func TestSessionBrowser(t *testing.T) {
	store, ids := savedSessions(t, "why do the tests fail", "restart the web server", wideTitle)
	synctest.Test(t, func(t *testing.T) {
		x := openOn(t, 120, 32, store)
		x.Type("/session\n")
		x.Want("Sessions · 3", "why do the tests fail", "restart the web server", "修复 nginx", "used", "turns", "┬")
		x.Press("Down", "Down")
		x.Want("▸ why do the tests fail", "Answer to why do the tests fail.")
		x.Press("Home")
		x.Type("web rest") // words in any order; a letter that is not a key filters
		x.Want("Sessions · 1 of 3", "▸ restart the web server", "Answer to restart")
		x.unwanted("why do the tests")
		x.Press("Enter")
		if err := x.Ended(); err != nil || x.left.Resume != ids[1] {
			t.Errorf("left for %+v, %v, want %s", x.left, err, ids[1])
		}
	})
}

// browserOn opens the list of sessions.
func browserOn(t *testing.T, cols, rows int, store sessions.Store) *testUI {
	t.Helper()
	x := openOn(t, cols, rows, store)
	x.Press("F4")
	x.Settle()
	return x
}

func TestSessionsOfExecAreApart(t *testing.T) {
	for _, c := range []struct {
		name        string
		titles      []string
		first, then []string
	}{
		{"both", []string{"by hand", "exec nightly"}, []string{"Sessions · 1", "by hand", "1 more by buddy exec"}, []string{"exec nightly", "e in the list"}},
		{"only of exec", []string{"exec nightly"}, []string{"no sessions of your own; to show the 1 by buddy exec, press Tab, then e"}, []string{"exec nightly"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			store, _ := savedSessions(t, c.titles...)
			synctest.Test(t, func(t *testing.T) {
				x := browserOn(t, 80, 24, store)
				x.Want(c.first...)
				x.unwanted("exec nightly")
				x.Press("Tab", "e")
				x.Settle()
				x.Want(c.then...)
				x.unwanted("by hand")
				x.Press("f", "x", "e") // these do nothing without a selection
				x.Press("Esc")
				x.Settle()
				x.wantSent()
			})
		})
	}
}

// The note in the border is whole, although the border between list and preview begins below it.
func TestSessionsOfExecAreNamedAboveThePreview(t *testing.T) {
	store, _ := savedSessions(t, "by hand", "exec nightly")
	synctest.Test(t, func(t *testing.T) {
		x := browserOn(t, 110, 24, store)
		x.Want("1 more by buddy exec · press e in the list to show them")
		x.Press("Esc")
		x.Settle()
		x.wantSent()
	})
}

// A session that can't be opened is in the list, and its preview explains why and how to repair it.
func TestSessionBrowserNamesDamage(t *testing.T) {
	store, ids := savedSessions(t, "by hand", "the lost one")
	file := store.File(ids[1])
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, append([]byte("x"), text[1:]...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		x := browserOn(t, 140, 24, store)
		x.Want("Sessions · 2", "✗ can't be opened · the lost", "the session can't be read: ", "line 1 is not a session header", "buddy sessions repair")
		x.Press("Esc")
		x.Settle()
		x.wantSent()
	})
}

func TestSessionBrowserKeys(t *testing.T) {
	tests := []struct {
		name string
		do   func(x *testUI)
		want []string
		gone string
	}{
		{"rename", func(x *testUI) { x.Press("Down", "r", "Ctrl+U"); x.Type("a better title\n") }, []string{"▸ a better title", "Sessions · 2"}, "first one"},
		{"rename is given up", func(x *testUI) { x.Press("Down", "r"); x.Type("zzz"); x.Press("Esc") }, []string{"first one", "Sessions · 2"}, "zzz"},
		{"delete", func(x *testUI) { x.Press("Down", "x"); x.Want(`Move "first one" to the trash?`); x.Press("y") }, []string{"Sessions · 1"}, "first one"},
		{"delete is answered with another key", func(x *testUI) { x.Press("Down", "x", "Enter") }, []string{"first one", "Sessions · 2"}, ""},
		{"export", func(x *testUI) { x.Press("Down", "E") }, []string{"written: session.md"}, ""},
		{"fork", func(x *testUI) { x.Press("Down", "f") }, []string{"Fork: the copy ends after", "▸ 1  first one", "completed"}, ""},
		{"search", func(x *testUI) { x.Press("Down", "/"); x.Type("answer TO") }, []string{"0 hits"}, "none is saved"},
		{"search in the filter", func(x *testUI) { x.Type("/answer to first") }, []string{"1 hit", "▸ Answer to first one."}, ""},
		{"search for nothing", func(x *testUI) { x.Type("/") }, []string{"type text to search"}, "first one"},
		{"back from the search", func(x *testUI) { x.Type("/answer"); x.Press("Ctrl+U") }, []string{"Sessions · 2", "first one"}, ""},
		{"a letter that is no key filters", func(x *testUI) { x.Press("Down"); x.Type("irst") }, []string{"> irst", "Sessions · 1 of 2"}, ""},
		{"Tab", func(x *testUI) { x.Press("Tab", "E") }, []string{"written"}, ""},
		{"wheel and click", func(x *testUI) { x.Mouse("wheel down", 10, 8); x.Click(12, 4) }, []string{"▸ second one"}, ""},
		{"No match", func(x *testUI) { x.Type("qqq") }, []string{"No match", "0 of 2"}, ""},
		{"backspace", func(x *testUI) { x.Type("qqq"); x.Press("Backspace", "Backspace", "Backspace") }, []string{"Sessions · 2"}, ""},
		{"paste", func(x *testUI) { x.Paste("first\n") }, []string{"Sessions · 1 of 2"}, ""},
		{"Esc", func(x *testUI) { x.Press("Esc") }, []string{"buddy runs commands"}, "Sessions"},
		{"Ctrl+C", func(x *testUI) { x.Press("Ctrl+C") }, []string{"buddy runs commands"}, "Sessions"},
		{"F4 again", func(x *testUI) { x.Press("F4") }, []string{"buddy runs commands"}, "Sessions"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			store, _ := savedSessions(t, "first one", "second one")
			synctest.Test(t, func(t *testing.T) {
				x := browserOn(t, 80, 24, store)
				tt.do(x)
				x.Settle()
				x.Want(tt.want...)
				if tt.gone != "" {
					x.unwanted(tt.gone)
				}
				x.wantSent()
			})
		})
	}
}

func TestForkFromTheBrowser(t *testing.T) {
	store, ids := savedSessions(t, "first one", "second one")
	synctest.Test(t, func(t *testing.T) {
		x := browserOn(t, 120, 32, store)
		x.Press("Down", "f")
		x.Settle()
		x.Press("Enter")
		if err := x.Ended(); err != nil || x.left.Resume == "" || x.left.Resume == ids[0] {
			t.Fatalf("left for %+v, %v", x.left, err)
		}
	})
	if all, err := store.List(); err != nil || len(all) != 3 {
		t.Errorf("%d sessions, %v, want 3", len(all), err)
	}
}

func TestRenamingTheOpenSession(t *testing.T) {
	store, ids := savedSessions(t, "first one")
	synctest.Test(t, func(t *testing.T) {
		x := openOn(t, 120, 32, store)
		x.u.state.Info.Session = ids[0]
		x.Press("F4")
		x.Want("Sessions · 1") // the list has been read
		x.Press("Tab", "x")
		x.Want("you can't delete the session you are in")
		x.Press("r", "Ctrl+U")
		x.Type("mine\n")
		x.wantSent(event.Rename{Title: "mine"})
	})
}

func TestModelPicker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.Type("/model\n")
		x.Want("Models · 3", "▸*demo", "400k", "$1.25 / $10.00", "high", "needs /login")
		x.Type("codex\n")
		x.wantSent(event.SwitchModel{Profile: "fast"})
		x.unwanted("Models")
		x.feed(event.ModelSwitched{Profile: "fast", Model: "gpt-5.3-codex", Effort: "high"})
		x.Want("● gpt-5.3-codex · high")
		x.feed(event.SessionResumed{Profile: "fast", Model: "gpt-5.3-codex", Effort: "low"})
		x.Want("● gpt-5.3-codex · low")
	})
}

func TestThemePicker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 80, 24)
		name := func(want string) {
			t.Helper()
			if x.Settle(); x.u.deps.Theme.Name != want {
				t.Errorf("theme %s, want %s", x.u.deps.Theme.Name, want)
			}
		}
		x.Type("/theme\n")
		x.Want("Themes · 5", "▸*dark")
		x.Type("light")
		name("light") // a theme shows while moving
		x.Press("Esc")
		name("dark")
		x.Type("/theme\n")
		x.Type("sol\n")
		name("solarized")
		x.Want(`To keep it, set [ui] theme = "solari`)
	})
}

func TestPalette(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.Press("F2")
		x.Want("Commands and actions", "▸ /model")
		x.Type("running tasks and queued prompts\n")
		x.didRun("ps")
		x.Press("F2")
		x.Type("/timeout\n") // the command needs an argument
		x.Want("> /timeout", "DURATION")
		x.Press("Ctrl+C", "F2")
		x.Type("select text with keys")
		x.Want("v", "Conversation")
		x.Press("Enter")
		x.unwanted("Commands and actions")
		x.Press("F2")
		x.Type("cancel the selected task\n")
		x.Want("nothing found in Tasks now")
		x.Press("F2")
		x.Type("this help\n")
		x.Want("F1", "Help")
	})
}

// The list in use stays on top; F8 leads to the approval and back.
func TestApprovalsWaitBelowLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(running...)
		x.Press("F2")
		x.feed(asked)
		x.Want("‖ 1 approval · F8", "Commands and actions")
		x.rest()
		x.Type("y")
		x.wantSent()
		x.Press("F8")
		x.Want("Run this command?")
		x.Press("F8")
		x.Want("Commands and actions")
		time.Sleep(draw.GracePeriod)
		x.decide("F8", "y")
		x.wantSent(event.AnswerApproval{ID: "a1", Decision: event.Once})
	})
}

func TestKeysOfPanesBelowDialogs(t *testing.T) { // keys must not move anything that is covered
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(running...)
		x.Press("F1")
		x.Want("Esc closes")
		x.unwanted("Tab next pane")
		x.Press("Tab", "Esc")
		x.Want("Enter send")
		x.Press("F1", "F4")
		x.Want("Sessions")
		x.unwanted("Esc closes")
		x.Press("F4", "F1", "F2")
		x.Want("Commands and actions")
		x.Press("F2")
		x.feed(asked)
		x.rest()
		x.Press("Tab", "F2", "F4")
		x.Want("Run this command?", "answer first")
		x.unwanted("Tab next pane")
		x.Press("Esc")
		x.unwanted("Commands and actions", "Sessions")
		x.Want("Enter send")
		x.Press("F1", "F8")
		x.Want("Run this command?")
		x.unwanted("Esc closes")
	})
}

func TestUndoAndDiff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.Type("/undo\n")
		x.wantSent(event.Undo{})
		x.Type("/undo 3 --force\n")
		x.wantSent(event.Undo{Steps: 3, Force: true})
		x.Type("/undo all\n")
		x.Want(`unknown argument "all" (have: a number of prompts, and --force)`)
		x.Press("Ctrl+C")
		x.feed(event.FileRestored{Calls: []string{"c1"}, Paths: []string{"/w/a.go", "/w/b.go"}, Steps: 2})
		x.Want("undid the changes of the last 2 prompts: /w/a.go, /w/b.go")

		x.Type("/diff\n")
		x.Want("diff done", "--- a diff")
		x.diff = markup.FileMark + "a.txt  +1 -1 lines, 9 bytes\n@@ -1 +1 @@\n-one\n+two\n" + strings.Repeat(" more\n", 60)
		x.Type("/diff\n")
		x.Want("Changes in 1 file", "✎ a.txt   +1 −1   9 bytes", "1 - one", "1 + two", "y copy  e editor  q close")
		x.Press("End")
		x.unwanted("- one")
		x.Press("y")
		if x.copied != x.diff {
			t.Errorf("copied %q", x.copied)
		}
		x.Mouse("wheel up", 20, 10)
		x.Press("Home")
		x.Want("- one")
		x.Press("q")
		x.unwanted("✎ a.txt")
	})
}

func TestUnknownCommandsSuggest(t *testing.T) {
	for line, want := range map[string]string{
		"/sesion":   "Unknown command /sesion (did you mean /session?)",
		"/STATS":    "Unknown command /stats (did you mean /usage?)",
		"/comp":     "/compact?",
		"/xyzzy123": "Unknown command /xyzzy123 · F2 lists all",
	} {
		synctest.Test(t, func(t *testing.T) {
			x := open(t, 120, 32)
			x.Paste(line)
			x.Press("Esc", "Enter")
			x.wantSent()
			x.Want(want, "> "+line)
		})
	}
}

// Enter does not send a line with an unknown command; once corrected, it is sent.
func TestUnknownCommandIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.Paste("/foo")
		x.Press("Esc", "Enter")
		x.Want("Unknown command /foo")
		x.Type(" and more\n")
		x.wantSent()
		x.Want("> /foo and more", "Unknown command /foo")
		x.Press("Alt+Enter")
		x.Type("a second line\n")
		x.wantSent()
		x.Want("Unknown command /foo", "a second line")
		x.Press("Ctrl+C")
		x.Paste("/foo\nbar")
		x.Press("Enter")
		x.wantSent()
		x.Press("Ctrl+C")
		x.Paste(" /tmp is full")
		x.Press("Enter")
		x.wantSent(event.Submit{Text: " /tmp is full"})
	})
}

func TestTypedShellCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.Type("!ls -la\n")
		x.wantSent(event.Submit{Text: "!ls -la", Shell: true})
		x.Type("!\n")
		x.wantSent(event.Submit{Text: "!"})
		x.feed(running...)
		x.Type("!make\n")
		x.wantSent()
		x.Want("task #1 is running; run your command when it is done", "> !make") // the draft is kept
	})
}

// Esc twice in one read, as over a slow line, is two keys, and the next key is not Alt with that key.
func TestEscTwiceAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 80, 24)
		x.feed(running...)
		x.Terminal.Type("\x1b\x1b")
		time.Sleep(100 * time.Millisecond) // Esc is a key of its own after this time
		x.wantSent(event.Cancel{})         // one cancel is enough
		x.Type("Cab")
		x.Want("> Cab")
		x.Type("\x1b\x1b[D") // Alt+Left of some terminals
		x.Settle()
		x.Want("> Cab")
	})
}

func TestViInThePrompt(t *testing.T) { // with [ui] editor = "vi"
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 80, 24)
		x.u.v.prompt.SetVi(true)
		x.Type("fix the test")
		x.Want("INSERT")
		x.Press("Esc")
		x.Want("NORMAL", "d delete")
		x.Type("bbdw")
		x.Want("> fix test")
		x.Type("cwjust ")
		x.Want("INSERT", "> fix just")
		x.Press("Esc")
		x.feed(running...)
		x.wantSent()
		x.Press("Esc") // in normal mode Esc works as without vi
		x.wantSent(event.Cancel{})
		x.Press("Enter")
		x.wantSent(event.Submit{Text: "fix just "})
		x.Type("/the")
		x.Want("/theme")
		x.Press("Esc") // closes the list
		x.Want("INSERT")
		x.unwanted("switch the colour")
		x.Press("Esc")
		x.Want("NORMAL")
		x.Type("ddione two three")
		x.Press("Esc")
		x.Type("v")
		x.Want("VISUAL")
		x.Type("bb~")
		x.Want("NORMAL", "> one TWO THREE")
		x.Type("VR") // R has no meaning there
		x.Want("V-LINE")
		x.Press("Esc")
		x.Type("0R")
		x.Want("REPLACE")
		x.Type("abc")
		x.Press("Esc")
		x.Want("NORMAL", "> abc TWO")
		x.Type("u.")
		x.Want("> abc TWO")
	})
}

func TestListsAtAllSizes(t *testing.T) { // at all sizes
	for _, size := range [][2]int{{80, 24}, {120, 32}, {200, 60}, {40, 12}, {20, 6}} {
		store, _ := savedSessions(t, "first one", wideTitle)
		synctest.Test(t, func(t *testing.T) {
			x := browserOn(t, size[0], size[1], store)
			if size[0] >= 40 {
				x.Want("修复 nginx")
			}
			x.Press("Down", "f", "Esc", "Tab", "r")
			x.Type("修复👩‍🚀")
			x.Press("Esc")
			x.Resize(size[1]*3, max(6, size[0]/4))
			x.Press("Esc", "F2", "End", "PgUp", "Esc", "Esc")
			x.Type("/theme\n")
			x.Settle()
			x.Press("Down", "Esc")
			if err := x.Quit(); err != nil { // fails if any raw text reached the terminal
				t.Error(err)
			}
		})
	}
}
