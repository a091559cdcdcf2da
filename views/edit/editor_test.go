package edit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"buddy/app/keymap"
)

// script executes actions, and types quoted words.
func script(e *Editor, steps ...string) {
	for _, s := range steps {
		switch {
		case strings.HasPrefix(s, "'"):
			e.Insert(s[1:])
		case s == "up":
			e.Up()
		case s == "down":
			e.Down()
		case !e.Do(keymap.Action(s)):
			panic("not an action: " + s)
		}
	}
}

// marked returns the text with | at the cursor.
func marked(e *Editor) string {
	var b strings.Builder
	e.buf.chips.expand(&b, e.buf.raw(Place{}, e.cur))
	b.WriteByte('|')
	e.buf.chips.expand(&b, e.buf.raw(e.cur, e.buf.end()))
	return b.String()
}

func TestEditorKeys(t *testing.T) {
	for _, c := range []struct {
		name, text string
		steps      []string
		want       string
	}{
		{"left over a cluster", "xe\u0301", []string{"char-left"}, "x|e\u0301"},
		{"left over a family", "a👨‍👩‍👧b", []string{"char-left", "char-left"}, "a|👨‍👩‍👧b"},
		{"left over a line end", "a\nb", []string{"char-left", "char-left"}, "a|\nb"},
		{"delete a cluster", "ae\u0301", []string{"delete-left"}, "a|"},
		{"combining mark typed", "e", []string{"'\u0301", "char-left"}, "|e\u0301"},
		{"delete right joins lines", "a\nb", []string{"line-start", "char-left", "delete-right"}, "a|b"},
		{"line start and end", "one\ntwo", []string{"line-start", "'x", "line-end", "'y"}, "one\nxtwoy|"},
		{"words", "one two_3, four", []string{"word-left", "word-left", "'x"}, "one x|two_3, four"},
		{"word right over a line end", "one\n two", []string{"up", "line-start", "word-right", "word-right", "'x"}, "one\n twox|"},
		{"words of another script", "привет мир", []string{"word-left", "kill-word-left"}, "|мир"},
		{"kill to the end, then the line end", "a\nb", []string{"up", "line-start", "kill-to-end", "kill-to-end"}, "|b"},
		{"kill joins and yanks as one", "one two", []string{"line-start", "kill-word", "kill-word", "yank", "yank"}, "one twoone two|"},
		{"kill leftward joins in front", "one two", []string{"kill-word-left", "kill-word-left", "yank"}, "one two|"},
		{"kill to a space", "ls /etc/passwd  ", []string{"kill-to-space-left"}, "ls |"},
		{"kill to the start", "one\ntwo", []string{"kill-to-start", "kill-to-start"}, "one|"},
		{"yank next", "a b", []string{"kill-word-left", "line-start", "kill-to-end", "yank", "yank-next"}, "b|"},
		{"yank next needs a yank", "a b", []string{"kill-word-left", "yank", "line-end", "yank-next"}, "a b|"},
		{"transpose inside", "abc", []string{"char-left", "transpose"}, "acb|"},
		{"transpose at the end", "abc", []string{"transpose"}, "acb|"},
		{"transpose at the start", "abc", []string{"line-start", "transpose"}, "|abc"},
		{"transpose wide", "日本", []string{"transpose"}, "本日|"},
		{"undo typing word by word", "", []string{"'o", "'n", "'e", "' ", "'t", "'w", "'o", "undo"}, "one |"},
		{"undo twice and redo", "", []string{"'a", "newline", "'b", "undo", "undo", "redo"}, "a\n|"},
		{"a new edit ends redo", "", []string{"'a", "newline", "undo", "'b", "redo"}, "ab|"},
		{"undo a kill", "one two", []string{"kill-word-left", "undo"}, "one two|"},
		{"up keeps the column", "long line\nx\nlong line", []string{"up", "up", "'!"}, "long line!|\nx\nlong line"},
		{"newline kinds", "a\r\nb\rc", nil, "a\nb\nc|"},
		{"invalid UTF-8", "a\xffb", nil, "a\uFFFDb|"},
	} {
		e := New()
		e.SetText(c.text)
		script(e, c.steps...)
		if got := marked(e); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// A paste over 10 lines is a chip, and is sent in full.
func TestEditorPaste(t *testing.T) {
	long := strings.Repeat("line\r\n", 214)
	want := strings.Repeat("line\n", 214)
	e := New()
	e.Insert("see ")
	e.Paste(long)
	e.Insert(" ok")
	if got := e.Rows(100); got != 1 {
		t.Errorf("a chip takes %d rows, want 1", got)
	}
	if got := e.Text(); got != "see "+want+" ok" {
		t.Errorf("Text() has %d bytes, want %d", len(got), len(want)+7)
	}
	script(e, "char-left", "char-left", "char-left", "delete-left")
	if got := marked(e); got != "see | ok" {
		t.Errorf("deleting the chip: %q", got)
	}
	script(e, "undo", "word-left", "kill-word", "line-start", "yank")
	if got := e.Text(); got != want+"see  ok" {
		t.Errorf("moving the chip: %q…", got[:min(40, len(got))])
	}
	e.SetText("")
	script(e, "yank")
	if got := e.Text(); got != want {
		t.Errorf("yanking the chip into the next prompt: %q…", got[:min(40, len(got))])
	}
	e.SetText("")
	e.Paste(strings.Repeat("x\n", 10))
	if got := e.Rows(100); got != 11 {
		t.Errorf("10 lines take %d rows, want 11", got)
	}
}

func TestEditorRows(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  []string
	}{
		{"one two three", 7, []string{"one two ", "three"}},
		{"one two three", 8, []string{"one two ", "three"}},
		{"one two three", 6, []string{"one ", "two ", "three"}},
		{"abcdefgh ij", 3, []string{"abc", "def", "gh ", "ij"}},
		{"日本語", 4, []string{"日本", "語"}},
		{"a日本語", 4, []string{"a日", "本語"}},
		{"\tx\ty", 5, []string{"\tx\t", "y"}},
		{"a\x1bb", 2, []string{"a\x1b", "b"}},
		{"a\u202eb", 8, []string{"a", "\u202e", "b"}},
		{"", 5, []string{""}},
		{"a   b", 2, []string{"a  ", " b"}},
	} {
		e := New()
		e.SetWidth(c.width)
		e.SetText(c.text)
		l := e.buf.wrapped(0, allRows)
		var got []string
		for i, start := range l.rows {
			end := len(l.text)
			if i+1 < len(l.rows) {
				end = l.rows[i+1]
			}
			got = append(got, string(l.text[start:end]))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q at %d: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

// naive is a simple Editor for a flat text, without rows and caches.
type naive struct {
	text []byte
	cur  int
}

// bounds lists the starts of clusters and the end of the text.
func (n *naive) bounds() []int {
	var all []int
	at := 0
	for i, l := range bytes.Split(n.text, []byte("\n")) {
		if i > 0 {
			at++
		}
		for j := 0; j < len(l); j = clusterEnd(l, j) {
			all = append(all, at+j)
		}
		at += len(l)
		all = append(all, at) // the line end
	}
	return all
}

func (n *naive) left(i int) int {
	best := 0
	for _, b := range n.bounds() {
		if b < i {
			best = b
		}
	}
	return best
}

func (n *naive) right(i int) int {
	for _, b := range n.bounds() {
		if b > i {
			return b
		}
	}
	return len(n.text)
}

func (n *naive) replace(from, to int, s string) {
	n.text = slices.Replace(n.text, from, to, []byte(s)...)
	n.cur = from + len(s)
	if !slices.Contains(n.bounds(), n.cur) {
		n.cur = n.right(n.cur)
	}
}

func (n *naive) lineStart() int { return 1 + bytes.LastIndexByte(n.text[:n.cur], '\n') }

func (n *naive) lineEnd() int {
	if i := bytes.IndexByte(n.text[n.cur:], '\n'); i >= 0 {
		return n.cur + i
	}
	return len(n.text)
}

// pieces lists texts that random edits insert: wide, joining, hostile.
var pieces = []string{
	"a", "b c", " ", "\n", "\t", "日本", "e\u0301", "\u0301", "👨‍👩‍👧", "🇩🇪", "🇩", "\u200d", "\x1b[31m", "\u202e", "[red]", "한", "\u1100", "\u0600", "two words here", "x\ny\n", "\u0e33",
}

// step applies one random operation to both.
func step(e *Editor, n *naive, op, arg byte) string {
	piece := pieces[int(arg)%len(pieces)]
	switch op % 10 {
	case 0, 1:
		e.Insert(piece)
		n.replace(n.cur, n.cur, piece)
		return fmt.Sprintf("insert %q", piece)
	case 2:
		script(e, "char-left")
		n.cur = n.left(n.cur)
	case 3:
		script(e, "char-right")
		n.cur = n.right(n.cur)
	case 4:
		script(e, "delete-left")
		n.replace(n.left(n.cur), n.cur, "")
	case 5:
		script(e, "delete-right")
		n.replace(n.cur, n.right(n.cur), "")
	case 6:
		script(e, "line-start")
		n.cur = n.lineStart()
	case 7:
		script(e, "line-end")
		n.cur = n.lineEnd()
	case 8:
		script(e, "kill-to-end")
		end := n.lineEnd()
		if end == n.cur {
			end = n.right(end)
		}
		n.replace(n.cur, end, "")
	case 9:
		script(e, "kill-to-start")
		start := n.lineStart()
		if start == n.cur {
			start = n.left(start)
		}
		n.replace(start, n.cur, "")
	}
	return fmt.Sprintf("operation %d", op%10)
}

// same compares an editor with the naive one, and its rows with rows computed from scratch.
func same(t *testing.T, e *Editor, n *naive, did string) {
	t.Helper()
	if got := e.buf.raw(Place{}, e.buf.end()); !bytes.Equal(got, n.text) {
		t.Fatalf("after %s: text %q, want %q", did, got, n.text)
	}
	if got := len(e.buf.raw(Place{}, e.cur)); got != n.cur {
		t.Fatalf("after %s in %q: cursor %d, want %d", did, n.text, got, n.cur)
	}
	for i, l := range e.buf.lines {
		got := slices.Clone(e.buf.wrapped(i, allRows).rows)
		l.width = 0
		if want := e.buf.wrapped(i, allRows).rows; !slices.Equal(got, want) {
			t.Fatalf("after %s: rows of %q are %v, want %v", did, l.text, got, want)
		}
	}
}

func FuzzEditor(f *testing.F) {
	f.Add([]byte{0, 0, 0, 3, 2, 0, 1, 9, 4, 0}, uint8(7))
	f.Add([]byte{0, 8, 0, 7, 2, 0, 2, 0, 0, 11}, uint8(1))
	f.Fuzz(func(t *testing.T, ops []byte, width uint8) {
		e, n := New(), &naive{}
		e.SetWidth(int(width))
		for ; len(ops) >= 2 && len(n.text) < maxCluster; ops = ops[2:] {
			same(t, e, n, step(e, n, ops[0], ops[1]))
		}
	})
}

func TestEditorAgainstNaive(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		e, n := New(), &naive{}
		e.SetWidth(1 + rnd.IntN(30))
		for range 80 {
			same(t, e, n, step(e, n, byte(rnd.IntN(256)), byte(rnd.IntN(256))))
		}
	}
}

// Undoing everything leads to the start, redoing everything to the end.
func TestEditorUndo(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	all := slices.Collect(func(yield func(keymap.Action) bool) {
		for a := range commands {
			if a != keymap.Undo && a != keymap.Redo && !yield(a) {
				return
			}
		}
	})
	slices.Sort(all)
	for range 300 {
		e := New()
		start := "start with\nsome 日本 text"
		e.SetText(start)
		for range 60 {
			switch rnd.IntN(4) {
			case 0:
				e.Insert(pieces[rnd.IntN(len(pieces))])
			case 1:
				e.Paste(strings.Repeat(pieces[rnd.IntN(len(pieces))]+"\n", rnd.IntN(14)))
			default:
				e.Do(all[rnd.IntN(len(all))])
			}
		}
		end, cur := e.Text(), e.cur
		for len(e.log.undos) > 0 {
			e.Do(keymap.Undo)
		}
		if got := e.Text(); got != start {
			t.Fatalf("undone: %q, want %q", got, start)
		}
		for len(e.log.redos) > 0 {
			e.Do(keymap.Redo)
		}
		if got := e.Text(); got != end {
			t.Fatalf("redone: %q, want %q", got, end)
		}
		if len(e.log.undos) > 0 && e.cur.less(Place{}) {
			t.Fatalf("cursor %v, want %v", e.cur, cur)
		}
	}
}

func TestEditorUndoIsBounded(t *testing.T) {
	e := New()
	for range maxUndo + 50 {
		script(e, "newline")
	}
	if len(e.log.undos) != maxUndo {
		t.Errorf("%d edits are kept, want %d", len(e.log.undos), maxUndo)
	}
	big := strings.Repeat("x", undoBytes/3)
	for range 10 {
		e.Paste(big)
	}
	if e.log.size > undoBytes {
		t.Errorf("undo keeps %d bytes, limit %d", e.log.size, undoBytes)
	}
}

// BenchmarkEditorKey measures a key in 1 MB of text, in one line and in many; the limit is 0.5 ms.
func BenchmarkEditorKey(b *testing.B) {
	for name, text := range map[string]string{
		"empty":     "",
		"1MB-lines": strings.Repeat("some words of a line of text that was pasted before\n", 1<<20/52),
		"1MB-line":  strings.Repeat("some words of a line of text that was pasted before ", 1<<20/52),
		"1MB-word":  strings.Repeat("0123456789abcdef", 1<<16),
		"1MB-wide":  strings.Repeat("日本語のテキスト", 1<<20/24),
	} {
		b.Run(name, func(b *testing.B) {
			e := New()
			e.SetWidth(100)
			e.SetText(text)
			for range 3 {
				script(e, "word-left")
			}
			e.cur = Place{e.cur.line / 2, len(e.buf.lines[e.cur.line/2].text) / 2}
			e.cur = e.buf.snap(e.cur)
			e.Rows(allRows)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if i%8 == 7 {
					e.Do(keymap.DeleteLeft)
				} else {
					e.Insert("x")
				}
				e.Rows(20)
				e.CursorRow()
			}
		})
	}
}
