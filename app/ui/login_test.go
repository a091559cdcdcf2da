package ui

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/apptest"
	"buddy/app/compose"
	"buddy/app/layout"
	"buddy/config"
)

// TestLoginOnScreen: a typed or pasted API key is on no screen, in no command, history or draft; it is stored, and its
// model replaces the demo.
func TestLoginOnScreen(t *testing.T) {
	apptest.Home(t)
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 100, 30)
		x.feed(event.ModelSwitched{Profile: model.Demo, Model: model.Demo, API: model.Demo})
		var recorded []string
		x.setup = &compose.Setup{Problem: "no model could be used"}
		kept := func() string {
			all, err := os.ReadFile(config.Auth().Path())
			if err != nil {
				t.Error(err)
			}
			return string(all)
		}
		x.Type("/login\n")
		x.Want("Add an API key or log in", "OpenAI", "no key")
		x.Type("openai\n")
		x.Want("Log in to OpenAI")
		x.Press("Esc")
		x.Type("/login nowhere\n")
		x.Want("unknown provider or profile")
		x.Type("\x15/login openai sk-in-the-prompt\n")
		x.Want("Log in to OpenAI", "Type the key here")
		x.unwanted("sk-in-the-prompt")
		x.Press("Esc")
		x.Press("Up")
		x.unwanted("sk-in-the-prompt")
		x.Type("\x15/login openai\n")
		x.Want("Log in to OpenAI")
		x.Type("sk-typed")
		x.Paste("-and-pasted")
		x.Want("••••••")
		x.Press("F1", "F4", "Tab")
		x.unwanted("next pane")
		if x.u.overlays.help || x.u.overlays.listOpen() || x.u.arranged.focus != layout.Prompt {
			t.Error("a key did something behind the dialog")
		}
		if text := x.Screen(); strings.Contains(text, "sk-typed") || strings.Contains(text, "pasted") {
			t.Errorf("the screen shows the key:\n%s", text)
		}
		x.Type("\n")
		if !strings.Contains(kept(), `"sk-typed-and-pasted"`) {
			t.Errorf("%q is kept", kept())
		}
		if s := strings.Join(recorded, "\n") + x.u.v.prompt.Text() + x.Screen(); strings.Contains(s, "sk-") {
			t.Errorf("the key is in %q", s)
		}
		x.wantSent(event.SwitchModel{Profile: "openai"})
		x.setup.Problem = "" // as with --model demo
		x.Type("/login openai\n")
		x.Type("sk-typed-again\n")
		x.wantSent()
		x.Want("switches to it")
	})
}
