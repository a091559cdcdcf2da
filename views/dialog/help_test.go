package dialog

import (
	"strings"
	"testing"

	"buddy/app/keymap"
	"buddy/texts"
	"buddy/views/draw"
	"buddy/views/viewtest"
)

func TestHelpGolden(t *testing.T) {
	h := NewHelp(viewtest.Dark(t), keymap.Default())
	h.SetCommands(viewtest.SomeCommands)
	viewtest.Golden(t, "help", h, 90, 24)
	viewtest.Golden(t, "help", h, 40, 12)
	h.SetScope(keymap.Tasks)
	viewtest.Press(t, h, "page-down", "page-down", "page-up", "page-up", "scroll-down")
	viewtest.Golden(t, "help-tasks", h, 80, 12)
	viewtest.Press(t, h, "scroll-bottom")
	viewtest.Golden(t, "help-end", h, 80, 12)
	closed := 0
	h.OnClose = func() { closed++ }
	viewtest.Press(t, h, "back")
	if closed != 1 {
		t.Errorf("closed %d times, want 1", closed)
	}
}

// Every action and every command is on the help screen.
func TestHelpIsComplete(t *testing.T) {
	h := NewHelp(viewtest.Dark(t), keymap.Default())
	h.SetCommands(viewtest.SomeCommands)
	_, rows := h.Size(90, 1000)
	text := texts.OneLine(strings.ReplaceAll(viewtest.Text(t, h, 90, rows), "│", " "))
	for _, s := range keymap.Scopes() {
		for e := range keymap.Default().In(s) {
			if !strings.Contains(text, e.Help) {
				t.Errorf("%s is not in the help", e.Action)
			}
		}
	}
	for _, c := range viewtest.SomeCommands {
		if !strings.Contains(text, c.Name+" "+c.Help) {
			t.Errorf("%s is not in the help", c.Name)
		}
	}
}

// People find a command by the name that another program gives it.
func TestHelpFindsOtherNames(t *testing.T) {
	for _, word := range []string{"cron", "Every", "loop"} {
		h := NewHelp(viewtest.Dark(t), keymap.Default())
		h.SetCommands([]draw.CommandHelp{{Name: "/loop", Help: "repeat a prompt", Means: []string{"cron", "every"}}, viewtest.SomeCommands[0]})
		h.look(word)
		if text := viewtest.Text(t, h, 90, 60); !strings.Contains(text, "/loop") || strings.Contains(text, "/approve") {
			t.Errorf("%s finds:\n%s", word, text)
		}
	}
}
