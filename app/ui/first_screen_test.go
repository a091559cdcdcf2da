package ui

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/apptest"
	"buddy/app/layout"
	"buddy/app/slash"
	"buddy/views/dialog"
)

func TestRecentSessionsOpenWithDigitAndEnter(t *testing.T) {
	const first, second = "0001-0000-0000-0000", "0002-0000-0000-0000"
	for _, c := range []struct {
		name, typed string
		notice      bool   // one was shown before
		busy        bool   // the conversation has started
		opens       string // the session
		sends       string
	}{
		{name: "a digit alone", typed: "2"},
		{name: "a digit and Enter", typed: "1\n", opens: first},
		{name: "below a notice", typed: "2\n", notice: true, opens: second},
		{name: "a prompt that begins with one", typed: "2 tests fail\n", sends: "2 tests fail"},
		{name: "a digit without a session", typed: "3\n", sends: "3"},
		{name: "a digit when the conversation has begun", typed: "1\n", busy: true, sends: "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := open(t, 80, 24)
				x.u.deps.Later(func() { OfferRecent(x.u, []Recent{{first, "one"}, {second, "two"}}) })
				if c.notice {
					x.feed(event.Warning{Text: "a limit is reached"})
					x.Want("a limit is reached", " 1  one", " 2  two")
				}
				if c.busy {
					x.feed(event.PromptSubmitted{ID: 1, Text: "first"})
				}
				x.Settle()
				x.Type(c.typed)
				x.Settle()
				time.Sleep(dialog.LetterPause + 50*time.Millisecond)
				x.Settle()
				var want slash.Next
				if c.opens != "" {
					want = slash.Next{Again: true, Resume: c.opens}
				}
				if x.left != want {
					t.Errorf("left for %+v, want %+v", x.left, want)
				}
				if c.sends != "" {
					x.wantSent(event.Submit{Text: c.sends})
				} else {
					x.wantSent()
				}
			})
		})
	}
}

// Without a model the user chooses by a digit; the choices disappear when a model answers.
func TestChoicesWithoutModel(t *testing.T) {
	apptest.Home(t)
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 80, 24)
		x.feed(event.ModelSwitched{Profile: model.Demo, Model: model.Demo, API: model.Demo})
		x.u.deps.Later(func() {
			SetFirst(x.u, First{Missing: "No API key found.", Local: "Ollama"})
			OfferRecent(x.u, []Recent{{"0001", "one"}})
		})
		x.Settle()
		x.Want("No API key found.", " 1  Add an API key", " 2  Use a model on this machine  (Ollama)", " 3  Try the tour (20 s)", " 4  one")
		x.Type("1")
		time.Sleep(time.Minute)
		x.Settle()
		x.Want("> 1", " 1  Add an API key")
		x.Press("Enter")
		x.Want("OpenAI", "no key")
		x.Press("Esc")
		x.Type("2\n")
		x.Want("Models on this machine")
		x.Press("Esc")
		x.Type("3 tests fail\n")
		x.wantSent(event.Submit{Text: "3 tests fail"})
		x.Type("3\n")
		x.wantSent(event.Submit{Text: "tour"})
		x.feed(event.ModelSwitched{Profile: "openai", Model: "gpt", API: "responses"})
		x.unwanted("Add an API key")
	})
}

// Enter selects the model of the only local server, or opens the list of local models; a prompt is sent as always, and
// nothing is selected once the conversation has started.
func TestEnterTakesTheLocalModel(t *testing.T) {
	for _, c := range []struct {
		name, use string
		begun     bool
		switches  bool
	}{{"one model", "ollama/qwen3", false, true}, {"several", "", false, false}, {"begun", "ollama/qwen3", true, false}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := open(t, 80, 24)
				x.u.deps.Later(func() {
					SetFirst(x.u, First{Missing: "No API key found.", Local: "Ollama", Offer: "use qwen3 of Ollama on this machine", Use: c.use})
				})
				x.Settle()
				x.Want("Press Enter to use qwen3 of Ollama on this machine.", " 1  Add an API key")
				if c.begun {
					x.feed(event.PromptSubmitted{ID: 1, Text: "first"})
				}
				x.Press("Enter")
				x.Settle()
				if c.switches {
					x.wantSent(event.SwitchModel{Profile: "ollama/qwen3"})
					x.feed(event.ModelSwitched{Profile: "ollama/qwen3", Model: "qwen3", API: "completions"})
					x.unwanted("use qwen3 of")
				}
				x.wantSent()
				if c.use == "" {
					x.Want("Models on this machine")
				}
			})
		})
	}
}

// Any key closes the cheat sheet; a character starts a prompt.
func TestCheatSheet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			key, prompt string
			help        bool
		}{{"h", "h", false}, {"?", "?", false}, {"Space", " ", false}, {"Esc", "", false}, {"Ctrl+C", "", false}, {"Enter", "", false}, {"F1", "", true}} {
			x := open(t, 80, 24)
			x.feed(event.TaskStarted{ID: 1, Kind: event.MainTask})
			x.Type("?")
			x.Want("any key closes", "new line", "paste a picture")
			x.Press(c.key)
			x.unwanted("any key closes")
			if got := x.u.v.prompt.Text(); got != c.prompt || x.u.overlays.help != c.help {
				t.Errorf("%s: the prompt is %q, help %v", c.key, got, x.u.overlays.help)
			}
			x.wantSent() // the task was not stopped
		}
	})
}

// In the conversation, too, the key that closes the sheet has no other effect: no block unfolds.
func TestCheatSheetInTheConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 80, 24)
		code := 0
		output := strings.Repeat("a row\n", 30)
		x.feed(event.PromptSubmitted{ID: 1, Text: "list them"}, event.TaskStarted{ID: 1, Kind: event.MainTask, Title: "list them"},
			event.ToolRequested{CallID: "c1", Name: "run_shell", Action: ls}, event.ToolStarted{CallID: "c1", Name: "run_shell"},
			event.ToolResult{CallID: "c1", Name: "run_shell", Result: output, Tail: output, ExitCode: &code}, event.TaskFinished{ID: 1, Outcome: event.Completed})
		focusOn(layout.Conversation)(x)
		x.Settle()
		before := x.Screen()
		for _, key := range []string{"Enter", "Esc"} {
			x.Type("?")
			x.Want("any key closes")
			x.Press(key)
			if got := x.Screen(); got != before {
				t.Errorf("%s: the screen is\n%s\nwant\n%s", key, got, before)
			}
		}
		x.Press("Enter")
		if x.Screen() == before {
			t.Error("without the sheet, Enter unfolds nothing")
		}
	})
}
