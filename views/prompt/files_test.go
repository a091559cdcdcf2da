package prompt

import (
	"strings"
	"testing"

	"buddy/app/keymap"
	"buddy/views/draw"
	"buddy/views/viewtest"
)

// A late answer is dropped; names with invisible characters are not offered.
func TestPromptFiles(t *testing.T) {
	p := newTestPrompt(t)
	var asked []string
	p.OnFiles = func(query string) { asked = append(asked, query) }
	viewtest.Press(t, p, "'see @ta")
	if got := strings.Join(asked, ","); got != ",t,ta" || p.Popup().Open() {
		t.Errorf("asked for %q, open %v", got, p.Popup().Open())
	}
	p.SetFiles("t", []string{"old.go"})
	if p.Popup().Open() {
		t.Error("the answer to an earlier query is shown")
	}
	p.SetFiles("ta", []string{"evil\x1b[31m.go", "new\nline", "bidi\u202e", "tax.go", "a b/tax.go"})
	w, h := p.Popup().Size(24)
	if text := viewtest.Text(t, p.Popup(), w, h); p.Scope() != keymap.Popup || h != 4 || !strings.Contains(text, "▸@tax.go") || !strings.Contains(text, `@"a b/tax.go"`) {
		t.Errorf("scope %s, %d rows:\n%s", p.Scope(), h, text)
	}
	viewtest.Press(t, p, "popup-down", "popup-run")
	if got := p.Text(); got != `see @"a b/tax.go" ` || p.Popup().Open() {
		t.Errorf("text %q", got)
	}
	viewtest.Press(t, p, "undo")
	if got := p.Text(); got != "see @ta" {
		t.Errorf("after undo %q", got)
	}
	p.SetFiles("ta", []string{"late.go"})
	if p.Popup().Open() {
		t.Error("undo opened the list")
	}
	p.SetText("x")
	viewtest.Press(t, p, "line-start", "'@", "'t")
	p.SetFiles("t", []string{"tax.go"})
	viewtest.Press(t, p, "popup-accept")
	if got := p.Text(); got != "@tax.go x" {
		t.Errorf("before a word: %q", got)
	}
	p.SetText("")
	viewtest.Press(t, p, "'see @\"t")
	p.SetFiles("t", []string{"a b/tax.go"})
	viewtest.Press(t, p, "popup-accept")
	if got := p.Text(); got != `see @"a b/tax.go" ` {
		t.Errorf("in quotes: %q", got)
	}
	viewtest.Press(t, p, "'mail ann@")
	p.SetText("/status")
	if asked = nil; p.word.on {
		t.Error("a command is taken for a path")
	}
	viewtest.Press(t, p, "' me@x.org \"@", "newline", "'@")
	if got := strings.Join(asked, ","); got != "," { // a quote, a newline
		t.Errorf("asked %d times: %q", len(asked), asked)
	}
}

// Enter before the answer to the last typed character accepts only words that start with the typed text.
func TestArgumentsBeforeTheirAnswer(t *testing.T) {
	p := newTestPrompt(t)
	p.SetCommands([]draw.CommandHelp{{Name: "/workflow", Completes: true}, {Name: "/help"}})
	var asked []string
	p.OnArguments = func(line string) { asked = append(asked, line) }
	viewtest.Press(t, p, "'/workflow ")
	p.SetArguments("/workflow ", []draw.CommandHelp{{Name: "audit", Help: "evil\x1b[31m"}, {Name: "de\x1bploy"}, {Name: "deploy"}})
	if w, h := p.Popup().Size(24); h != 4 || strings.Contains(viewtest.Text(t, p.Popup(), w, h), "\x1b") {
		t.Errorf("%d rows are offered", h)
	}
	viewtest.Press(t, p, "'d", "popup-run")
	if got := p.Text(); got != "/workflow deploy " {
		t.Errorf("text %q", got)
	}
	if got := strings.Join(asked, "|"); got != "/workflow |/workflow d|/workflow deploy " {
		t.Errorf("asked for %q", got)
	}
	p.SetArguments("/workflow d", []draw.CommandHelp{{Name: "late"}})
	if p.Popup().Open() {
		t.Error("a late answer is shown")
	}
}
