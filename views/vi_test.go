package views

import (
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"buddy/app/keymap"
	"buddy/views/viewtest"
)

// viPrompt is a prompt in normal mode; | in text is where the cursor stands.
func viPrompt(t testing.TB, text string) *Prompt {
	t.Helper()
	p := NewPrompt(dark(t), keymap.Default())
	p.SetVi(true)
	before, after, ok := strings.Cut(text, "|")
	p.editor.SetText(before + after)
	p.vi.normal = true
	if ok {
		line := strings.Count(before, "\n")
		p.editor.cur = place{line, len(before) - strings.LastIndexByte(before, '\n') - 1}
	}
	return p
}

// viText is the text of a prompt with | at the cursor.
func viText(p *Prompt) string {
	e := p.editor
	return string(e.raw(place{}, e.cur)) + "|" + string(e.raw(e.cur, e.end()))
}

// viType types runes; ^[ is Esc and ^R is Ctrl+R.
func viType(p *Prompt, keys string) {
	keys = strings.NewReplacer("^[", "\x1b", "^R", "\x12").Replace(keys)
	handle := p.InputHandler()
	for _, r := range keys {
		switch r {
		case '\x1b':
			p.EndInsert()
		case '\x12':
			handle(tcell.NewEventKey(tcell.KeyCtrlR, 0, tcell.ModCtrl), nil)
		default:
			handle(tcell.NewEventKey(tcell.KeyRune, r, 0), nil)
		}
	}
}

func TestVi(t *testing.T) {
	tests := []struct{ name, before, keys, after string }{
		{"h", "ab|c", "h", "a|bc"},
		{"h stops at the start of the line", "a\n|b", "3h", "a\n|b"},
		{"l", "|abc", "2l", "ab|c"},
		{"l stops at the last character", "|abc", "9l", "ab|c"},
		{"wide characters", "|日本👨‍👩‍👧x", "2l", "日本|👨‍👩‍👧x"},
		{"w", "|foo.bar baz", "w", "foo|.bar baz"},
		{"3w", "|foo.bar baz", "3w", "foo.bar |baz"},
		{"w over a line end", "fo|o\n  bar", "w", "foo\n  |bar"},
		{"w stops at an empty line", "|a\n\nb", "w", "a\n|\nb"},
		{"b", "foo.bar |baz", "2b", "foo|.bar baz"},
		{"b in a word", "foo ba|r", "b", "foo |bar"},
		{"e", "|foo bar", "e", "fo|o bar"},
		{"2e", "|foo bar", "2e", "foo ba|r"},
		{"0", "  foo b|ar", "0", "|  foo bar"},
		{"^", "  foo b|ar", "^", "  |foo bar"},
		{"$", "|foo\nbar", "$", "fo|o\nbar"},
		{"10l is ten", "|abcdefghijklm", "10l", "abcdefghij|klm"},
		{"j and k", "a|b\ncd", "jk", "a|b\ncd"},
		{"x", "a|bc", "x", "a|c"},
		{"2x at the end", "a|b", "2x", "|a"},
		{"x on nothing", "|", "x", "|"},
		{"dw", "|foo bar", "dw", "|bar"},
		{"dw keeps the line end", "a |foo\nbar", "dw", "a| \nbar"},
		{"2dw", "|a b c", "2dw", "|c"},
		{"d2w", "|a b c", "d2w", "|c"},
		{"db", "foo |bar", "db", "|bar"},
		{"de", "|foo bar", "de", "| bar"},
		{"d$", "fo|o bar", "d$", "f|o"},
		{"d0", "foo |bar", "d0", "|bar"},
		{"dfo", "|foo bar", "dfo", "|o bar"},
		{"dto", "|foo bar", "dtb", "|bar"},
		{"dFo", "foo b|ar", "dFo", "fo|ar"},
		{"dd", "a\n|b\nc", "dd", "a\n|c"},
		{"2dd", "|a\nb\nc", "2dd", "|c"},
		{"dd of the last line", "a\n|b", "dd", "|a"},
		{"dd of all", "|a", "dd", "|"},
		{"dj", "|a\nb\nc", "dj", "|c"},
		{"cw", "|foo bar", "cwx^[", "|x bar"},
		{"cw as ce", "|foo  bar", "cwxy^[", "x|y  bar"},
		{"cc", "a\n|bcd\ne", "ccx^[", "a\n|x\ne"},
		{"D", "ab|cd\ne", "D", "a|b\ne"},
		{"C", "ab|cd", "Cxy^[", "abx|y"},
		{"A", "|ab", "Ac^[", "ab|c"},
		{"I", "  a|b", "Ix^[", "  |xab"},
		{"a", "|ab", "ax^[", "a|xb"},
		{"i", "a|b", "ix^[", "a|xb"},
		{"o", "|a\nb", "ox^[", "a\n|x\nb"},
		{"O", "a\n|b", "Ox^[", "a\n|x\nb"},
		{"u", "|foo bar", "dwu", "|foo bar"},
		{"^R", "|foo bar", "dwu^R", "|bar"},
		{"xp swaps", "|ab", "xp", "b|a"},
		{"P", "a|b", "xP", "|ba"},
		{"3p", "|ab", "x3p", "baa|a"},
		{"yyp", "|a\nb", "yyp", "a\n|a\nb"},
		{"yyp on the last line", "a\n|b", "yyp", "a\nb\n|b"},
		{"yyP", "a\n|b", "yyP", "a\n|b\nb"},
		{"ywP", "|foo bar", "yw$p", "foo barfoo| "},
		{"yw leaves the text", "foo |bar", "yb", "|foo bar"},
		{"r", "a|bc", "rx", "a|xc"},
		{"2r", "|abc", "2rx", "x|xc"},
		{"9r does nothing", "|abc", "9rx", "|abc"},
		{"f", "|foo bar", "fb", "foo |bar"},
		{"t", "|foo bar", "tb", "foo| bar"},
		{"f of nothing", "|foo", "fz", "|foo"},
		{"2fo", "|foo", "2fo", "fo|o"},
		{";", "|a.b.c", "f.;", "a.b|.c"},
		{", goes back", "|a.b.c", "f.;,", "a|.b.c"},
		{"t and ;", "|a.b.c.", "t.;", "a.|b.c."},
		{"an operator needs a motion", "|foo bar", "dil", "f|oo bar"},
		{"another operator ends the first", "|foo bar", "dyw", "foo |bar"},
		{"a count ends with Esc", "|abcdef", "3^[l", "a|bcdef"},
		{"an operator ends with Esc", "|abcdef", "d^[l", "a|bcdef"},
		{"what is no command is nothing", "|abc", "zq", "|abc"},
		{"/ on an empty prompt", "|", "/st", "/st|"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := viPrompt(t, tt.before)
			viType(p, tt.keys)
			if got := viText(p); got != tt.after {
				t.Errorf("%q after %q is %q, want %q", tt.before, tt.keys, got, tt.after)
			}
		})
	}
}

func TestViModes(t *testing.T) {
	p := NewPrompt(dark(t), keymap.Default())
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
	press(t, p, "send")
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

func FuzzVi(f *testing.F) { // no keys in any order panic, and the cursor stays on a cluster
	f.Add("foo bar\nbaz", "dwu^Rjddp3x")
	f.Add("日本 👨‍👩‍👧", "$xPrxcwa^[fxt;,,")
	f.Fuzz(func(t *testing.T, text, keys string) {
		if len(text)+len(keys) > 500 {
			return
		}
		p := viPrompt(t, strings.ReplaceAll(text, "|", ""))
		viType(p, keys)
		e := p.editor
		if e.cur.line >= len(e.lines) || e.cur.col > len(e.here().text) || e.snap(e.cur) != e.cur {
			t.Errorf("%q after %q: cursor %+v in %q", text, keys, e.cur, p.Text())
		}
	})
}
