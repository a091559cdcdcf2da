package prompt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"buddy/app/keymap"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/edit"
	"buddy/views/viewtest"
)

// viPrompt returns a prompt in normal mode; | in text is the cursor.
func viPrompt(t testing.TB, text string) *Prompt {
	t.Helper()
	p := New(viewtest.Dark(t), keymap.Default())
	p.SetVi(true)
	before, after, ok := strings.Cut(text, "|")
	p.EndInsert()
	p.SetText(before + after)
	if !ok {
		return p
	}
	viType(p, fmt.Sprintf("%dG0", strings.Count(before, "\n")+1))
	for line := before[strings.LastIndexByte(before, '\n')+1:]; line != ""; line = edit.DropLast(line) {
		viType(p, "l")
	}
	return p
}

// viType types runes; ^[ is Esc and ^R is Ctrl+R.
func viType(p *Prompt, keys string) {
	keys = strings.NewReplacer("^[", "\x1b", "^R", "\x12", "^H", "\x7f", "^M", "\n", "^U", "\x15").Replace(keys)
	handle := func(ev *tcell.EventKey) { viewtest.Key(p, ev) }
	for _, r := range keys {
		switch r {
		case '\x1b':
			p.EndInsert()
		case '\x7f':
			handle(tcell.NewEventKey(tcell.KeyBackspace2, 0, 0))
		case '\n':
			handle(tcell.NewEventKey(tcell.KeyCtrlJ, 0, tcell.ModCtrl))
		case '\x15':
			handle(tcell.NewEventKey(tcell.KeyCtrlU, 0, tcell.ModCtrl))
		case '\x12':
			handle(tcell.NewEventKey(tcell.KeyCtrlR, 0, tcell.ModCtrl))
		default:
			handle(tcell.NewEventKey(tcell.KeyRune, r, 0))
		}
	}
}

func TestViModes(t *testing.T) {
	p := New(viewtest.Dark(t), keymap.Default())
	if p.Mode() != "" || p.EndInsert() {
		t.Error("vi is on without being asked for")
	}
	p.SetVi(true)
	var sent string
	p.OnSubmit = func(text string) { sent = text }
	viType(p, "hello")
	if p.Mode() != "INSERT" || p.Scope() != keymap.Prompt {
		t.Errorf("begins in %s, %s", p.Mode(), p.Scope())
	}
	if !p.EndInsert() || p.Mode() != "NORMAL" || p.Scope() != keymap.Vi || p.EndInsert() {
		t.Errorf("Esc leads to %s, %s", p.Mode(), p.Scope())
	}
	viewtest.Press(t, p, "send")
	if sent != "hello" || p.Mode() != "INSERT" {
		t.Errorf("sent %q, then %s", sent, p.Mode())
	}
	p.EndInsert()
	viType(p, "k")
	if p.Text() != "hello" {
		t.Errorf("k shows %q, want the earlier prompt", p.Text())
	}
	viType(p, "j")
	if p.Text() != "" {
		t.Errorf("j shows %q, want the draft", p.Text())
	}
	viewtest.Text(t, p, 20, 3)
}

// The selection is highlighted over lines, with a cell for a selected line end.
func TestViSelectionShows(t *testing.T) {
	selected := draw.CellStyle(viewtest.Dark(t).Style(themes.Selection))
	for _, tt := range []struct{ before, keys, want string }{
		{"a|bc\ncd", "vl", "bc"},
		{"a|bc\n\ncd", "vjj", "bc  cd"},
		{"a|bc\ncd", "V", "abc"},
		{"a|bc\ncd", "v^[", ""},
		{"a 日|本 b", "vB", "日本"},
	} {
		p := viPrompt(t, tt.before)
		viType(p, tt.keys)
		cells, _, _ := viewtest.Screen(t, p, 20, 5).GetContents()
		got := ""
		for _, c := range cells {
			if c.Style == selected {
				got += string(c.Runes)
			}
		}
		if got != tt.want {
			t.Errorf("%q after %q shows %q as selected, want %q", tt.before, tt.keys, got, tt.want)
		}
		if tt.keys != "v^[" && !strings.HasPrefix(p.Mode(), "V") {
			t.Errorf("mode %s", p.Mode())
		}
	}
}

// No sequence of keys panics, and Esc leads back to normal mode.
func FuzzViPrompt(f *testing.F) {
	f.Add("foo bar\nbaz", "dwu^Rjddp3x")
	f.Add("日本 👨‍👩‍👧", "$xPrxcwa^[fxt;,,")
	f.Add("f(a, \"b\")\n{\n  x\n}\n\ny", "ci(x^[.2jdi{u^Rvipd3ixy^H^[..")
	f.Add("Foo Bar\n\nbaz", "wve~.VjdpRxyz^H^H^[3.gvJGp2gg%daw.")
	f.Add("é\u0301x", "f\u0301xrx~R\u0301^H^[")
	f.Fuzz(func(t *testing.T, text, keys string) {
		if len(text)+len(keys) > 500 {
			return
		}
		keys = strings.Map(func(r rune) rune {
			if r < ' ' && !strings.ContainsRune("\n\x12\x15\x1b", r) {
				return -1 // Enter sends, others are no keys of vi
			}
			return r
		}, keys)
		p := viPrompt(t, strings.ReplaceAll(text, "|", ""))
		viType(p, keys)
		if p.search != nil {
			viewtest.Press(t, p, "search-cancel")
		}
		p.EndInsert()
		p.EndInsert()
		if p.Mode() != "NORMAL" {
			t.Errorf("%q after %q: %s", text, keys, p.Mode())
		}
	})
}
