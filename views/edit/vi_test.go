package edit

import (
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"buddy/app/keymap"
)

// viEditor passes keys to an editor and its vi like a prompt.
type viEditor struct {
	editor *Editor
	vi     Vi
	keys   *keymap.Map
}

func (p *viEditor) press(ev *tcell.EventKey) {
	e := p.editor
	if p.vi.Normal {
		press := p.keys.Lookup(ev, keymap.Vi)
		done := false
		if p.edit(func() { done = p.vi.Press(e, press, p.line) }); done {
			return
		}
	}
	switch press := p.keys.Lookup(ev, keymap.Prompt); {
	case press.Bound():
		p.edit(func() {
			if !p.vi.TypeAction(e, press.Action) {
				p.line(press.Action)
			}
		})
	case press.Types():
		p.edit(func() { p.vi.TypeText(e, press.Text) })
	}
}

func (p *viEditor) edit(f func()) {
	before := p.editor.gen
	if f(); p.editor.gen != before {
		p.vi.Changed(p.editor)
	}
}

func (p *viEditor) line(a keymap.Action) {
	switch a {
	case keymap.LineUp:
		p.editor.Up()
	case keymap.LineDown:
		p.editor.Down()
	default:
		p.editor.Do(a)
	}
}

func (p *viEditor) escape() { p.edit(func() { p.vi.Escape(p.editor) }) }

// newVi returns an editor in normal mode; | in text is the cursor.
func newVi(text string) *viEditor {
	p := &viEditor{editor: New(), keys: keymap.Default()}
	p.vi.Set(p.editor, true)
	before, after, ok := strings.Cut(text, "|")
	p.escape()
	p.edit(func() { p.editor.SetText(before + after) })
	if ok {
		line := strings.Count(before, "\n")
		p.editor.cur = Place{line, len(before) - strings.LastIndexByte(before, '\n') - 1}
	}
	return p
}

// text returns the text with | at the cursor.
func (p *viEditor) text() string {
	e := p.editor
	return string(e.buf.raw(Place{}, e.cur)) + "|" + string(e.buf.raw(e.cur, e.buf.end()))
}

// types types runes; ^[ is Esc and ^R is Ctrl+R.
func (p *viEditor) types(keys string) {
	keys = strings.NewReplacer("^[", "\x1b", "^R", "\x12", "^H", "\x7f", "^M", "\n", "^U", "\x15").Replace(keys)
	for _, r := range keys {
		switch r {
		case '\x1b':
			p.escape()
		case '\x7f':
			p.press(tcell.NewEventKey(tcell.KeyBackspace2, 0, 0))
		case '\n':
			p.press(tcell.NewEventKey(tcell.KeyCtrlJ, 0, tcell.ModCtrl))
		case '\x15':
			p.press(tcell.NewEventKey(tcell.KeyCtrlU, 0, tcell.ModCtrl))
		case '\x12':
			p.press(tcell.NewEventKey(tcell.KeyCtrlR, 0, tcell.ModCtrl))
		default:
			p.press(tcell.NewEventKey(tcell.KeyRune, r, 0))
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
		{"an operator needs a motion", "|foo bar", "dzl", "f|oo bar"},
		{"or a text object", "|foo bar", "dil", "|foo bar"},
		{"another operator ends the first", "|foo bar", "dyw", "foo |bar"},
		{"a count ends with Esc", "|abcdef", "3^[l", "a|bcdef"},
		{"an operator ends with Esc", "|abcdef", "d^[l", "a|bcdef"},
		{"what is no command is nothing", "|abc", "zq", "|abc"},
		{"/ on an empty prompt", "|", "/st", "/st|"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newVi(tt.before)
			p.types(tt.keys)
			if got := p.text(); got != tt.after {
				t.Errorf("%q after %q is %q, want %q", tt.before, tt.keys, got, tt.after)
			}
		})
	}
}

func TestViMore(t *testing.T) { // further keys that users of vi expect
	tests := []struct{ name, before, keys, after string }{
		{"t; after a wide character", "|xaécdc", "tc;", "xaéc|dc"},
		{"t; after a character of two columns", "|x日c日c", "tc;", "x日c|日c"},
		{"W", "|foo.bar(x) baz", "W", "foo.bar(x) |baz"},
		{"B", "foo.bar(x) b|az", "BB", "|foo.bar(x) baz"},
		{"E", "|foo.bar(x) baz", "E", "foo.bar(x|) baz"},
		{"dW", "|foo.bar(x) baz", "dW", "|baz"},
		{"cW keeps the blank", "|foo.bar baz", "cWx^[", "|x baz"},
		{"gg", "a\n  b\n|c", "gg", "|a\n  b\nc"},
		{"2gg goes to the text", "a\n  b\n|c", "2gg", "a\n  |b\nc"},
		{"G", "|a\nb\n  c", "G", "a\nb\n  |c"},
		{"2G", "|a\nb\nc", "2G", "a\n|b\nc"},
		{"99G is the last", "|a\nb", "99G", "a\n|b"},
		{"dG", "a\n|b\nc", "dG", "|a"},
		{"dgg", "a\n|b\nc", "dgg", "|c"},
		{"d2gg", "a\nb\nc\n|d", "d2gg", "|a"},
		{"g and something else is nothing", "a\n|b", "gx", "a\n|b"},
		{"2$", "|ab\ncd", "2$", "ab\nc|d"},
		{"% forth", "f|(a[1], b)", "%", "f(a[1], b|)"},
		{"% back", "f(a[1], b|)", "%", "f|(a[1], b)"},
		{"% from before", "|f(a[1], b)", "%", "f(a[1], b|)"},
		{"% over lines", "if |{\n  x()\n}", "%", "if {\n  x()\n|}"},
		{"d%", "f|(a(1), b) c", "d%", "f| c"},
		{"d% back", "f(a, b|) c", "d%", "f| c"},
		{"% without a partner", "f|(a", "%", "f|(a"},
		{"J", "|a\n  b\nc", "J", "a| b\nc"},
		{"3J", "|a\nb\nc\nd", "3J", "a b| c\nd"},
		{"J before )", "f(a|\n)", "J", "f(a|)"},
		{"J with an empty line", "|a\n\nb", "JJ", "a| b"},
		{"J on the last line", "|a", "J", "|a"},
		{"~", "|aBc", "~~", "Ab|c"},
		{"3~", "|aBcd", "3~", "AbC|d"},
		{"9~ stops at the end", "|aB\nc", "9~", "A|b\nc"},
		{"X", "ab|c", "X", "a|c"},
		{"9X", "ab|c", "9X", "|c"},
		{"X at the start", "a\n|b", "X", "a\n|b"},
		{"s", "a|bc", "sxy^[", "ax|yc"},
		{"2s", "a|bc", "2sx^[", "a|x"},
		{"s on nothing", "|", "sx^[", "|x"},
		{"S", "a\n|bc\nd", "Sx^[", "a\n|x\nd"},
		{"2S", "a\n|b\nc\nd", "2Sx^[", "a\n|x\nd"},
		{"Yp", "|a\nb", "Yp", "a\n|a\nb"},
		{"R", "|abc", "Rxy^[", "x|yc"},
		{"R beyond the end", "a|b", "Rxyz^[", "axy|z"},
		{"R and backspace", "|abc", "Rxy^H^H^H^[", "|abc"},
		{"R and backspace beyond the end", "a|b", "Rxyz^H^H^[", "a|x"},
		{"3R", "|abcdef", "3Rx^[", "xx|xdef"},
		{"3i", "a|b", "3ix^[", "axx|xb"},
		{"2a", "|ab", "2axy^[", "axyx|yb"},
		{"2A", "|ab", "2Ax^[", "abx|x"},
		{"3o", "|a", "3ox^[", "a\nx\nx\n|x"},
		{"2O", "|a", "2Ox^[", "x\n|x\na"},
		{"3i with a correction", "|a", "3ixy^H^[", "xx|xa"},
		{"a newline in 2i", "|a", "2ix^M^[", "x\nx\n|a"},
		{"3rx", "|abcd", "3rx", "xx|xd"},
		{"diw", "foo b|ar baz", "diw", "foo | baz"},
		{"daw", "foo b|ar baz", "daw", "foo |baz"},
		{"daw at the end", "foo b|ar", "daw", "fo|o"},
		{"d2aw", "|a b c", "d2aw", "|c"},
		{"diw on blanks", "foo|   bar", "diw", "foo|bar"},
		{"daw on blanks", "foo|   bar baz", "daw", "foo| baz"},
		{"ciw", "foo b|ar", "ciwx^[", "foo |x"},
		{"diW", "a foo.b|ar c", "diW", "a | c"},
		{"yiwP", "foo b|ar", "yiwP", "foo ba|rbar"},
		{"iw of wide characters", "日本 |👨‍👩‍👧x", "diw", "日本 |x"},
		{`ci"`, `say "he|llo" now`, `ci"x^[`, `say "|x" now`},
		{`ci" from before`, `s|ay "hello" now`, `ci"x^[`, `say "|x" now`},
		{`ci" of nothing`, `say "|"`, `ci"x^[`, `say "|x"`},
		{`di" with an escape`, `"a \" |b" c`, `di"`, `"|" c`},
		{`da"`, `say "he|llo" now`, `da"`, `say |now`},
		{`da" at the end`, `say "he|llo"`, `da"`, `sa|y`},
		{`di" without one`, `s|ay`, `di"`, `s|ay`},
		{"di'", "a 'b|c' d", "di'", "a '|' d"},
		{"ya`P", "`x|y` z", "ya`P", "`xy`| `xy` z"},
		{"di(", "f(a, (b|), c)", "di(", "f(a, (|), c)"},
		{"2di( is the outer one", "f(a, (b|), c)", "d2i(", "f(|)"},
		{"di) is the same", "f(a|)", "di)", "f(|)"},
		{"dib is the same", "f(a|)", "dib", "f(|)"},
		{"da(", "f|(a) b", "da(", "f| b"},
		{"ci( on the closing one", "f(a|)", "ci(x^[", "f(|x)"},
		{"ci[", "a[1|]", "ci[2^[", "a[|2]"},
		{"da[", "a[1|] b", "da[", "a| b"},
		{"di{", "if {\n  a|\n}", "di{", "if {\n|}"},
		{"ci{", "if {\n  a|\n}", "ci{x^[", "if {\n|x\n}"},
		{"di{ in a line", "{a|}", "di{", "{|}"},
		{"diB", "{a|}", "diB", "{|}"},
		{"da{", "x {\n  a|\n}", "da{", "x| "},
		{"di<", "a<b|c>", "di<", "a<|>"},
		{"di( without one", "a|b)", "di(", "a|b)"},
		{"dip", "a\n\nb\n|c\n\nd", "dip", "a\n\n|\nd"},
		{"dap", "a\n\nb\n|c\n\nd", "dap", "a\n\n|d"},
		{"dap at the end", "a\n\n|b", "dap", "|a"},
		{"dip on an empty line", "a\n|\n\nb", "dip", "a\n|b"},
		{"cip", "a\n|b\n\nc", "cipx^[", "|x\n\nc"},
		{"an object that there is not", "a|b", "diq", "a|b"},
		{"vd", "a|bc", "vd", "a|c"},
		{"v and motions", "|foo bar", "vwd", "|ar"},
		{"v back", "foo |bar", "vbd", "|ar"},
		{"v over lines", "a|b\ncd", "vjd", "|a"},
		{"v with the line end", "a\n|\nb", "vd", "a\n|b"},
		{"vc", "|foo bar", "vecx^[", "|x bar"},
		{"vy", "|foo bar", "veyP", "fo|ofoo bar"},
		{"vr", "|foo\nbar", "vjrx", "|xxx\nxar"},
		{"v~", "|foo bar", "ve~", "|FOO bar"},
		{"vu", "|FOO bar", "veu", "|foo bar"},
		{"vJ", "|a\nb\nc", "vjjJ", "a b| c"},
		{"vo", "a|bc d", "vlohd", "| d"},
		{"viw", "foo b|ar baz", "viwd", "foo | baz"},
		{`va"`, `a "b|c" d`, `va"d`, "a |d"},
		{"vip", "a\n|b\n\nc", "vipd", "|\nc"},
		{"v$d", "a|bc\nd", "v$d", "|a\nd"},
		{"vfx", "a|bcxd", "vfxd", "a|d"},
		{"vx and vs", "|abcd", "lvxvsy^[", "a|yd"},
		{"vp", "|foo bar", "yiwwvep", "foo fo|o"},
		{"vp swaps", "|foo bar", "yiwwvep0P", "ba|rfoo foo"},
		{"v then v", "|abc", "vlvx", "a|c"},
		{"v then ^[", "|abc", "vl^[x", "a|c"},
		{"v%d", "f|(a) b", "v%d", "f| b"},
		{"vGd", "a\n|b\nc", "vGd", "a\n|"},
		{"V", "a\n|b\nc", "Vd", "a\n|c"},
		{"Vj", "|a\nb\nc", "Vjd", "|c"},
		{"Vy p", "|a\nb", "Vyp", "a\n|a\nb"},
		{"Vc", "a\n|b\nc", "Vcx^[", "a\n|x\nc"},
		{"V~", "a|b\nc", "V~", "|AB\nc"},
		{"Vp", "|foo\nbar", "yiwjVp", "foo\n|foo"},
		{"v then V", "a|b\nc", "vVd", "|c"},
		{"vD is for lines", "a|b\nc", "vD", "|c"},
		{"3vl is not more than vl", "|abcd", "v2ld", "|d"},
		{"x.", "|abcd", "x.", "|cd"},
		{"x2.", "|abcd", "x2.", "|d"},
		{"2x.", "|abcde", "2x.", "|e"},
		{"dw.", "|a b c", "dw.", "|c"},
		{"dw2.", "|a b c d", "dw2.", "|d"},
		{"d2w.", "|a b c d e", "d2w.", "|e"},
		{"ciw.", "|foo bar", "ciwx^[w.", "x |x"},
		{"A.", "|a\nb", "Ax^[j.", "ax\nb|x"},
		{"ofoo..", "|a", "ob^[..", "a\nb\nb\n|b"},
		{"2ix.", "|a", "2ix^[.", "xx|xxa"},
		{"ix3.", "|a", "ix^[3.", "xx|xxa"},
		{"dd.", "|a\nb\nc", "dd.", "|c"},
		{"rx.", "|abc", "rxl.", "x|xc"},
		{"2rx2.", "|abcdef", "2rxl2.", "xxx|xef"},
		{"~.", "|abc", "~.", "AB|c"},
		{"J.", "|a\nb\nc", "J.", "a b| c"},
		{"p.", "|ab", "xp.", "ba|a"},
		{"R.", "|abcd", "Rxy^[l.", "xyx|y"},
		{"dt .", "|a.b.c.d", "dt..x", "|c.d"},
		{"ve~.", "|foo bar", "ve~w.", "FOO |BAR"},
		{"Vd.", "|a\nb\nc", "Vd.", "|c"},
		{"vjd. over lines", "|ab\ncd\nef\ngh", "vjd.", "|f\ngh"},
		{"y is no change", "|ab", "xyl.", "|"},
		{"u is no change", "|abc", "xxu.", "|c"},
		{". of a typed correction", "|ab", "ixy^H^[l.", "x|xab"},
		{". of nothing", "|ab", ".", "|ab"},
		{"u of an insertion", "|ab", "ifoo bar baz^[u", "|ab"},
		{"u of ciw", "|foo bar", "ciwone two^[u", "|foo bar"},
		{"u of 3o", "|a", "3ox y^[u", "|a"},
		{"u of R", "|abc", "Rxyz w^[u", "|abc"},
		{"u of .", "|a b c d", "dw2.u", "|b c d"},
		{"u of a correction", "|ab", "ixy^H^H^Hz^[u", "|ab"},
		{"2u", "|abcd", "xxx2u", "|bcd"},
		{"^R of an insertion", "|ab", "ifoo bar^[u^R", "foo bar|ab"},
		{"3J and u", "|a\nb\nc", "3Ju", "|a\nb\nc"},
		{"Ctrl+U in the middle", "|ab", "ixy^Uz^[u", "|ab"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newVi(tt.before)
			p.types(tt.keys)
			if got := p.text(); got != tt.after {
				t.Errorf("%q after %q is %q, want %q", tt.before, tt.keys, got, tt.after)
			}
		})
	}
}

// A count is limited to what a terminal can handle.
func TestViCountsAreBounded(t *testing.T) {
	p := newVi("|" + strings.Repeat("x", 100_000))
	p.types("yy9999p")
	p.types("9999i")
	p.edit(func() { p.vi.Paste(p.editor, strings.Repeat("y", 1<<19)) })
	p.types("^[")
	if n := len(p.editor.Text()); n > 4*maxRepeated {
		t.Errorf("%d bytes", n)
	}
}

// No sequence of keys panics, the cursor stays on a character, and undo leads back to the start.
func FuzzVi(f *testing.F) {
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
		p := newVi(strings.ReplaceAll(text, "|", ""))
		p.types(keys)
		e := p.editor
		if e.cur.line >= len(e.buf.lines) || e.cur.col > len(e.here()) || e.buf.snap(e.cur) != e.cur {
			t.Errorf("%q after %q: cursor %+v in %q", text, keys, e.cur, p.editor.Text())
		}
		p.escape()
		p.escape()
		if p.vi.Mode() != "NORMAL" || e.cur.col > 0 && e.cur.col >= len(e.here()) {
			t.Errorf("%q after %q: %s with the cursor at %+v in %q", text, keys, p.vi.Mode(), e.cur, p.editor.Text())
		}
		if e.log.size > undoBytes || len(e.log.undos) == maxUndo {
			return // not all of it is kept
		}
		p.types("9999u")
		if got, want := p.editor.Text(), string(normal(strings.ReplaceAll(text, "|", ""))); got != want {
			t.Errorf("%q after %q and undo is %q", want, keys, got)
		}
	})
}
