package prompt

import (
	"slices"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/markup"
	"buddy/views/viewtest"
)

func newTestPrompt(t testing.TB) *Prompt {
	p := New(viewtest.Dark(t), keymap.Default())
	p.SetCommands(viewtest.SomeCommands)
	p.Focus(nil)
	return p
}

func TestPromptGolden(t *testing.T) {
	for name, typed := range map[string]string{
		"empty":   "",
		"short":   "and add a test for the rounding",
		"wide":    "日本語のテキストは二倍の幅があり折り返されます 👨‍👩‍👧 🇩🇪 ✅ done",
		"hostile": viewtest.Hostile,
		"lines":   "first line\n\tindented\n\nlast line that is long enough to wrap at forty columns",
		"command": "/status now",
	} {
		for _, size := range [][2]int{{80, 3}, {40, 5}} {
			p := newTestPrompt(t)
			p.SetText(typed)
			viewtest.Golden(t, "prompt-"+name, p, size[0], size[1])
		}
	}
	p := newTestPrompt(t)
	p.Paste("look at ")
	p.Paste(strings.Repeat("a long log\n", 214))
	viewtest.Golden(t, "prompt-chip", p, 40, 1)
	remote := newTestPrompt(t)
	var s state.State
	remote.Update(&s, viewtest.Feed(&s, event.SessionCreated{Target: "root@web-02 (ssh)\x1b"}))
	remote.SetText("uptime")
	viewtest.Golden(t, "prompt-remote", remote, 60, 1)
}

func TestPromptCursor(t *testing.T) {
	for _, c := range []struct {
		text string
		x, y int
	}{
		{"", 2, 0},
		{"日本", 6, 0},
		{"a\nb", 3, 1},
		{strings.Repeat("x", 16), 18, 0},
		{strings.Repeat("x", 17), 19, 0},
		{strings.Repeat("x", 18), 3, 1},
		{"\x1b", 3, 0},
	} {
		p := newTestPrompt(t)
		p.SetText(c.text)
		s := viewtest.Screen(t, p, 20, 3)
		if x, y, visible := s.GetCursor(); x != c.x || y != c.y || !visible {
			t.Errorf("%q: cursor at %d,%d (%v), want %d,%d", c.text, x, y, visible, c.x, c.y)
		}
	}
	p := newTestPrompt(t)
	p.Blur()
	if _, _, visible := viewtest.Screen(t, p, 20, 3).GetCursor(); visible {
		t.Error("the cursor shows without the focus")
	}
}

func TestPromptHeight(t *testing.T) {
	p := newTestPrompt(t)
	for _, c := range []struct {
		text string
		want int
	}{{"", 1}, {"x", 1}, {"a\nb\nc", 3}, {strings.Repeat("word ", 20), 5}, {strings.Repeat("\n", 100), 10}} {
		p.SetText(c.text)
		if got := p.Height(24, 10); got != c.want {
			t.Errorf("Height of %q = %d, want %d", c.text, got, c.want)
		}
	}
}

// The view follows the cursor and wastes no row.
func TestPromptScrolls(t *testing.T) {
	p := newTestPrompt(t)
	p.SetText("1\n2\n3\n4\n5\n6")
	check := func(want string) {
		t.Helper()
		if got := strings.Join(strings.Fields(strings.ReplaceAll(viewtest.Text(t, p, 20, 3), ">", "")), ""); got != want {
			t.Errorf("shows %q, want %q", got, want)
		}
	}
	check("456")
	viewtest.Press(t, p, "line-up", "line-up")
	check("456")
	viewtest.Press(t, p, "line-up")
	check("345")
	viewtest.Press(t, p, "line-up", "line-up")
	check("123")
	p.SetText("1\n2")
	check("12")
}

func TestPromptSends(t *testing.T) {
	p := newTestPrompt(t)
	var sent []string
	changes := 0
	p.OnSubmit = func(text string) {
		sent = append(sent, text)
		if !p.Empty() {
			t.Error("the prompt is not empty when OnSubmit is called")
		}
	}
	p.OnChange = func() { changes++ }
	viewtest.Press(t, p, "send", "'  ", "send")
	viewtest.Press(t, p, "kill-to-start", "'one", "newline", "'two", "send")
	if want := []string{"one\ntwo"}; !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
	if changes != 2+1+7+1 {
		t.Errorf("OnChange was called %d times, want 11", changes)
	}
	p.Paste(strings.Repeat("x\n", 20))
	viewtest.Press(t, p, "send")
	if want := strings.Repeat("x\n", 20); sent[1] != want {
		t.Errorf("a paste is sent as %q, want it whole", sent[1])
	}
}

// Ctrl-D ends on an empty prompt only.
func TestPromptEOF(t *testing.T) {
	p := newTestPrompt(t)
	ended := 0
	p.OnEOF = func() { ended++ }
	viewtest.Press(t, p, "'x", "end-of-input")
	if ended != 0 || p.Text() != "x" {
		t.Errorf("with text: ended %d times, text %q", ended, p.Text())
	}
	viewtest.Press(t, p, "delete-left", "end-of-input")
	if ended != 1 {
		t.Errorf("empty: ended %d times, want once", ended)
	}
}

// The draft is kept while the person looks at earlier prompts.
func TestPromptHistory(t *testing.T) {
	p := newTestPrompt(t)
	p.SetHistory([]string{"first", "second\nof two lines"})
	viewtest.Press(t, p, "'draft")
	for _, c := range []struct{ press, want string }{
		{"line-up", "second\nof two lines"},
		{"line-up", "second\nof two lines"}, // from its second row to its first
		{"line-up", "first"},
		{"line-up", "first"},
		{"line-down", "second\nof two lines"},
		{"line-down", "draft"},
		{"line-down", "draft"},
		{"undo", "second\nof two lines"},
	} {
		viewtest.Press(t, p, c.press)
		if got := p.Text(); got != c.want {
			t.Errorf("after %s: %q, want %q", c.press, got, c.want)
		}
	}
	p.SetText("cleared by Ctrl-C")
	p.Discard()
	viewtest.Press(t, p, "line-up")
	if got := p.Text(); got != "cleared by Ctrl-C" {
		t.Errorf("a discarded draft is %q in the history", got)
	}
}

func TestPromptSearch(t *testing.T) {
	p := newTestPrompt(t)
	p.SetHistory([]string{"Deploy to web-01", "run tests", "deploy to web-02", "run lint"})
	viewtest.Press(t, p, "'draft", "search-history", "'deploy")
	if p.Scope() != keymap.Search {
		t.Fatalf("scope %s, want %s", p.Scope(), keymap.Search)
	}
	viewtest.Golden(t, "prompt-search", p, 40, 2)
	viewtest.Press(t, p, "search-older")
	viewtest.Golden(t, "prompt-search-older", p, 40, 2)
	viewtest.Press(t, p, "search-newer", "search-accept")
	if got := p.Text(); got != "deploy to web-02" {
		t.Errorf("accepted %q", got)
	}
	viewtest.Press(t, p, "undo", "search-history", "'nothing like it")
	viewtest.Golden(t, "prompt-search-none", p, 40, 2)
	viewtest.Press(t, p, "search-cancel")
	if got := p.Text(); got != "draft" {
		t.Errorf("cancelled: %q, want the draft", got)
	}
	viewtest.Press(t, p, "search-history", "'lint", "line-start", "'X")
	if got := p.Text(); got != "Xrun lint" {
		t.Errorf("a key of the prompt during a search: %q, want it to act on the match", got)
	}
}

// The popup matches prefixes and has six rows on a low screen; Up and Down move, Tab and Enter accept, Esc closes.
func TestPromptPopup(t *testing.T) {
	p := newTestPrompt(t)
	var sent []string
	p.OnSubmit = func(text string) { sent = append(sent, text) }
	viewtest.Press(t, p, "'/")
	w, h := p.Popup().Size(20)
	if p.Scope() != keymap.Popup || h != 8 {
		t.Fatalf("scope %s, %d rows, want popup and 8", p.Scope(), h)
	}
	viewtest.Golden(t, "popup", p.Popup(), w, h)
	viewtest.Press(t, p, "popup-up")
	viewtest.Golden(t, "popup-last", p.Popup(), w, h)
	viewtest.Press(t, p, "'S")
	viewtest.Golden(t, "popup-match", p.Popup(), 24, 3)
	viewtest.Press(t, p, "popup-accept")
	if got := p.Text(); got != "/status " || p.Scope() != keymap.Prompt {
		t.Errorf("accepted %q in scope %s", got, p.Scope())
	}
	p.SetText("")
	viewtest.Press(t, p, "'/ki", "popup-run", "'3", "send")
	viewtest.Press(t, p, "'/PS", "popup-run")
	viewtest.Press(t, p, "'/", "popup-run")
	if want := []string{"/kill 3", "/PS", "/"}; !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
	viewtest.Press(t, p, "'/h", "popup-close", "'e")
	if p.Popup().Open() || p.Text() != "/he" {
		t.Errorf("after Esc: open %v, text %q", p.Popup().Open(), p.Text())
	}
	p.SetText("")
	viewtest.Press(t, p, "'/unknown")
	if p.Popup().Open() {
		t.Error("open without a match")
	}
}

// Up moves queued prompts into the editor before history, newest first, whatever is typed; Down restores the previous
// text.
func TestPromptUnqueue(t *testing.T) {
	for name, c := range map[string]struct{ typed, down string }{
		"empty":          {"", "two"}, // edited since
		"typed":          {"x", "x"},
		"several rows":   {"x\ny", "x\ny"},
		"in the history": {"", "two"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newTestPrompt(t)
			p.SetHistory([]string{"older", "old"})
			p.Paste(c.typed)
			if name == "in the history" || name == "several rows" {
				viewtest.Press(t, p, "line-up")
			}
			var s state.State
			p.Update(&s, viewtest.Feed(&s, event.PromptSubmitted{ID: 7, Text: "one", Queued: true}, event.PromptSubmitted{ID: 8, Text: "two", Queued: true}))
			var back []int
			p.OnUnqueue = func(id int) { back = append(back, id) }
			for i, want := range []string{"two", "one", "old"} {
				viewtest.Press(t, p, "line-up")
				if got := p.Text(); got != want || !slices.Equal(back, []int{8, 7}[:min(i+1, 2)]) {
					t.Errorf("%d: %q with %v taken back, want %q", i, got, back, want)
				}
			}
			viewtest.Press(t, p, "line-down")
			if got := p.Text(); got != c.down {
				t.Errorf("then the draft is %q, want %q", got, c.down)
			}
			viewtest.Press(t, p, "line-down")
			if got := p.Text(); got != c.down {
				t.Errorf("after the draft comes %q", got)
			}
		})
	}
}

// Enter on an empty prompt continues interrupted work.
func TestPromptContinues(t *testing.T) {
	p := newTestPrompt(t)
	n := 0
	p.OnContinue = func() { n++ }
	viewtest.Press(t, p, "send")
	var s state.State
	p.Update(&s, viewtest.Feed(&s, event.Interrupted{CanContinue: true}))
	viewtest.Press(t, p, "send")
	if n != 1 {
		t.Errorf("continued %d times, want once", n)
	}
}

func TestPromptStyles(t *testing.T) {
	p := newTestPrompt(t)
	p.SetText("/status x\x1b")
	s := viewtest.Screen(t, p, 40, 1)
	band := draw.CellStyle(viewtest.Dark(t).Style(themes.Prompt))
	tinted := func(char rune, role themes.Role) {
		t.Helper()
		fg, _, attrs := draw.CellStyle(viewtest.Dark(t).Style(role)).Decompose()
		if role == themes.Text {
			fg, _, _ = band.Decompose()
		}
		_, bg, _ := band.Decompose()
		if got, want := viewtest.CellOf(t, s, char), tcell.StyleDefault.Foreground(fg).Background(bg).Attributes(attrs); got != want {
			t.Errorf("%q has style %+v, want %+v", char, got, want)
		}
	}
	tinted('>', themes.Accent)
	tinted('/', themes.Accent)
	tinted('x', themes.Text)
	viewtest.WantRole(t, s, '␛', themes.Control)
	p.SetText("!ls")
	s = viewtest.Screen(t, p, 40, 1)
	tinted('>', themes.Shell)
	tinted('s', themes.Shell)
}

// Pasted text never becomes a shell command; typed text may.
func TestPasteIsNoShellCommand(t *testing.T) {
	for _, c := range []struct{ typed, pasted, sent string }{
		{"", "!rm -rf x", " !rm -rf x"},
		{"", "!rm\n!rm -rf x", " !rm\n!rm -rf x"},
		{"!", "rm -rf x", "!rm -rf x"},
		{"why does ", "!ls", "why does !ls"},
	} {
		p := newTestPrompt(t)
		sent := ""
		p.OnSubmit = func(text string) { sent = text }
		for _, r := range c.typed {
			viewtest.Key(p, keymap.Typed(r).Event())
		}
		p.Paste(c.pasted)
		viewtest.Press(t, p, "send")
		if sent != c.sent {
			t.Errorf("typed %q and pasted %q: sent %q, want %q", c.typed, c.pasted, sent, c.sent)
		}
	}
}

// A backslash before Enter starts a new line, except in a shell command.
func TestBackslashBeforeEnter(t *testing.T) {
	for text, want := range map[string]string{"line one\\": "line one\nx", "!ls \\": "!ls \\\nx"} {
		p := newTestPrompt(t)
		sent := ""
		p.OnSubmit = func(text string) { sent = text }
		p.SetText(text)
		viewtest.Press(t, p, "send")
		viewtest.Press(t, p, "'x")
		viewtest.Press(t, p, "send")
		if sent != want {
			t.Errorf("%q: sent %q, want %q", text, sent, want)
		}
	}
}

// No control or bidi character reaches a cell, whatever is typed.
func TestPromptIsInert(t *testing.T) {
	p := newTestPrompt(t)
	p.SetText(viewtest.Hostile + "\x00\x7f\u2028\u2066\ufeff\U000e0041")
	cells, _, _ := viewtest.Screen(t, p, 60, 6).GetContents()
	for _, c := range cells {
		for i, r := range c.Runes {
			if markup.Visible(r) != "" || r == '\u200d' && i == 0 {
				t.Errorf("%U is in a cell", r)
			}
		}
	}
	if got := p.Text(); !strings.HasPrefix(got, viewtest.Hostile) {
		t.Errorf("the text itself changed: %q", got)
	}
}

// BenchmarkPromptKey measures a key, the layout and a draw with 1 MB in the prompt; the limit is 0.5 ms.
func BenchmarkPromptKey(b *testing.B) {
	for name, text := range map[string]string{
		"empty": "", "1MB-lines": strings.Repeat("some words of a line\n", 1<<20/21), "1MB-line": strings.Repeat("some words of a line ", 1<<20/21),
	} {
		b.Run(name, func(b *testing.B) {
			p := newTestPrompt(b)
			p.SetText(text)
			screen := viewtest.Screen(b, p, 120, 10)
			ev := tcell.NewEventKey(tcell.KeyRune, 'x', 0)
			b.ReportAllocs()
			for b.Loop() {
				viewtest.Key(p, ev)
				p.SetRect(0, 0, 120, p.Height(120, 10))
				p.Draw(screen)
			}
		})
	}
}

// SetTheme applies to the prompt.
func TestPromptSetTheme(t *testing.T) {
	light, err := themes.Load("", "light")
	if err != nil {
		t.Fatal(err)
	}
	p := newTestPrompt(t)
	p.SetTheme(light)
	_, bg, _ := draw.CellStyle(light.Style(themes.Prompt)).Decompose()
	if got, want := viewtest.CellOf(t, viewtest.Screen(t, p, 20, 1), '>'), draw.CellStyle(light.Style(themes.Accent)).Background(bg); got != want {
		t.Errorf("style %+v, want that of the light theme %+v", got, want)
	}
}
