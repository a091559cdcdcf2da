package screen_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"

	"buddy/app/apptest"
	"buddy/app/screen"
)

// open returns an initialized screen on a terminal in memory.
func open(t testing.TB, cols, rows int) (*screen.Screen, *apptest.Terminal) {
	t.Helper()
	t.Setenv("COLORTERM", "truecolor")
	t.Setenv("LC_ALL", "C.UTF-8")
	t.Setenv("NO_COLOR", "")
	term := apptest.NewTerminal(cols, rows)
	s, err := screen.New(screen.NewTty(term, nil), "xterm-256color")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Init(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Fini)
	return s, term
}

var themed = tcell.StyleDefault.Foreground(tcell.NewRGBColor(200, 200, 200)).Background(tcell.NewRGBColor(20, 20, 30))

// page draws a frame like tview does: clear first, then every cell.
func page(s *screen.Screen, last string) {
	s.Clear()
	w, h := s.Size()
	for y := range h {
		text := fmt.Sprintf("line %d of the page, with words up to the end ", y)
		if y == h-1 {
			text = last
		}
		for x := range w {
			s.SetContent(x, y, ' ', nil, themed)
		}
		x := 0
		for _, r := range text {
			s.SetContent(x, y, r, nil, themed)
			x += uniseg.StringWidth(string(r))
		}
	}
	s.ShowCursor(uniseg.StringWidth(last), h-1)
	s.Show()
}

func TestFrameBytes(t *testing.T) {
	s, term := open(t, 160, 50)
	text := "> "
	page(s, text)
	for _, tt := range []struct {
		name, add string
		most      int
	}{
		{"unchanged", "", 0},
		{"key", "h", 40},
		{"next key", "e", 40},
		{"wide key", "世", 40},
		{"20-byte delta", "and then some words ", 100},
	} {
		text += tt.add
		_, _ = term.Written()
		page(s, text)
		got, writes := term.Written()
		t.Logf("%s: %d bytes %q", tt.name, len(got), got)
		if len(got) > tt.most {
			t.Errorf("%s: %d bytes, want at most %d: %q", tt.name, len(got), tt.most, got)
		}
		if want := min(len(got), 1); writes != want {
			t.Errorf("%s: %d writes, want %d", tt.name, writes, want)
		}
	}
}

// The skipped draw of tview's hook keeps the last frame.
func TestSkip(t *testing.T) {
	s, term := open(t, 80, 24)
	page(s, "kept")
	_, _ = term.Written()
	s.Clear()
	s.Skip()
	s.Show()
	if got, _ := term.Written(); len(got) > 0 {
		t.Errorf("a skipped draw wrote %q", got)
	}
	if text, _, _ := s.Get(0, 23); text != "k" {
		t.Errorf("after a skipped draw the cell is %q, want k", text)
	}
	page(s, "kept")
	if got, _ := term.Written(); len(got) > 0 {
		t.Errorf("the same frame after a skipped draw wrote %q", got)
	}
}

// Hostile text is harmless whatever path it takes to the screen.
func TestHostileText(t *testing.T) {
	const other = "\x1b[31mB\x1b]52;c;aGk=\a\x1b]0;title\a\u009b31m\a\b\x00\x7f\u202e\u202c\u2067\u2069\u200e\u061c\u2028\U000e0041\xff\r\nend"
	paths := map[string]func(s *screen.Screen, text string){
		"SetContent": func(s *screen.Screen, text string) {
			x := 0
			for _, r := range text {
				s.SetContent(x, 0, r, nil, tcell.StyleDefault)
				x++
			}
		},
		"combining": func(s *screen.Screen, text string) {
			for i, r := range []rune(text) {
				s.SetContent(i, 0, 'x', []rune{r}, tcell.StyleDefault)
			}
		},
		"SetCell": func(s *screen.Screen, text string) { s.SetCell(0, 0, tcell.StyleDefault, []rune(text)...) },
		"Put":     func(s *screen.Screen, text string) { s.Put(0, 0, text, tcell.StyleDefault) },
		"PutStr":  func(s *screen.Screen, text string) { s.PutStr(0, 0, text) },
		"Fill": func(s *screen.Screen, text string) {
			for _, r := range text {
				s.Fill(r, tcell.StyleDefault)
				s.Show()
			}
		},
		"SetTitle": func(s *screen.Screen, text string) { s.SetTitle(text) },
		"Notify":   func(s *screen.Screen, text string) { s.Notify(screen.CallOSC9, text) },
		"link": func(s *screen.Screen, text string) {
			s.PutStrStyled(0, 0, "link", tcell.StyleDefault.Url("https://x/"+text))
		},
	}
	for name, put := range paths {
		t.Run(name, func(t *testing.T) {
			s, term := open(t, 80, 24)
			s.Clear()
			s.Show()
			_, _ = term.Written()
			put(s, other)
			s.Show()
			got, _ := term.Written()
			if odd := term.Odd(); len(odd) > 0 {
				t.Errorf("%v reached the terminal in %q", odd, got)
			}
			hidden := []string{"\u202e", "\u2067", "\u2028", "\U000e0041"}
			if name == "link" {
				hidden = nil // the address is not shown as text
			}
			for _, bad := range append(hidden, "\x1b[31m", "\x1b]52;", "\x1b]0;", "\u009b", "\x00", "\x7f") {
				if strings.Contains(string(got), bad) {
					t.Errorf("%q reached the terminal in %q", bad, got)
				}
			}
		})
	}
}

func TestVisibleMark(t *testing.T) {
	s, term := open(t, 80, 24)
	s.Clear()
	s.PutStr(0, 0, "a\u202eb\x1b[31m")
	s.SetContent(0, 1, 'e', []rune(strings.Repeat("\u0301", 30)), tcell.StyleDefault)
	s.SetContent(2, 1, 'e', []rune{'\u202e'}, tcell.StyleDefault)
	s.Show()
	if got, want := term.Row(0), "a·b·[31m"; got != want {
		t.Errorf("row 0 is %q, want %q", got, want)
	}
	if got, want := term.Row(1), "e"+strings.Repeat("\u0301", 8)+" ·"; got != want {
		t.Errorf("row 1 is %q, want %q", got, want)
	}
}

func TestWideCells(t *testing.T) {
	s, term := open(t, 20, 4)
	s.Clear()
	s.PutStr(0, 0, "日本語")
	s.PutStr(0, 1, "日本語")
	s.SetContent(1, 1, '|', nil, tcell.StyleDefault) // the edge of a dialog
	s.SetContent(0, 2, '日', nil, tcell.StyleDefault)
	s.SetContent(1, 2, 0, nil, tcell.StyleDefault) // the right half, as some primitives draw
	s.Show()
	for y, want := range []string{"日本語", " |本語", "日"} {
		if got := term.Row(y); got != want {
			t.Errorf("row %d is %q, want %q", y, got, want)
		}
	}
	s.Clear()
	s.PutStr(0, 0, "a")
	s.Show()
	if got := term.Row(0); got != "a" {
		t.Errorf("after wide text row 0 is %q, want a", got)
	}
}

// Random frames drawn by cell diff look like the same frame painted in full.
func TestDiffEqualsRepaint(t *testing.T) {
	s, term := open(t, 60, 12)
	rnd := rand.New(rand.NewPCG(1, 2))
	texts := []string{"a", "b", " ", "Z", "日", "é", "e\u0301", "👩‍💻", "🇩🇪", "─", "·", "\x1b"}
	styles := []tcell.Style{
		tcell.StyleDefault, themed, themed.Bold(true), themed.Underline(true),
		tcell.StyleDefault.Foreground(tcell.ColorRed), tcell.StyleDefault.Reverse(true).Background(tcell.ColorPurple),
		tcell.StyleDefault.Url("https://example.org"), themed.Foreground(tcell.ColorNone),
	}
	for frame := range 150 {
		resize := rnd.IntN(20) == 0
		if resize {
			term.Resize(40+rnd.IntN(40), 5+rnd.IntN(12))
		}
		if resize || rnd.IntN(4) == 0 {
			s.Clear()
		}
		w, h := s.Size()
		for range rnd.IntN(30) {
			s.Put(rnd.IntN(w), rnd.IntN(h), texts[rnd.IntN(len(texts))], styles[rnd.IntN(len(styles))])
		}
		s.ShowCursor(rnd.IntN(w)-1, rnd.IntN(h))
		s.Show()
		diff := snapshot(s, term)
		s.Sync()
		if full := snapshot(s, term); diff != full {
			t.Fatalf("frame %d by diff:\n%s\nin full:\n%s", frame, diff, full)
		}
	}
	if odd := term.Odd(); len(odd) > 0 {
		t.Error(odd)
	}
}

func snapshot(s *screen.Screen, term *apptest.Terminal) string {
	var b strings.Builder
	cols, rows := s.Size()
	for y := range rows {
		for x := range cols {
			text, style, link := term.Cell(x, y)
			fmt.Fprint(&b, text, style, link, ";")
		}
		b.WriteByte('\n')
	}
	x, y, shown := term.Cursor()
	if shown {
		fmt.Fprintln(&b, x, y)
	}
	return b.String()
}

// A link that ends a frame does not continue in the next one.
func TestLinkEndsWithFrame(t *testing.T) {
	s, term := open(t, 40, 4)
	s.Clear()
	s.PutStrStyled(0, 0, "link", tcell.StyleDefault.Url("https://example.org"))
	s.Show()
	s.PutStr(0, 1, "text")
	s.Show()
	if _, _, link := term.Cell(0, 0); link != "https://example.org" {
		t.Errorf("the link is %q", link)
	}
	if _, _, link := term.Cell(0, 1); link != "" {
		t.Errorf("text of the next frame links to %q", link)
	}
}

// The target of a link does not command the terminal.
func TestHostileLink(t *testing.T) {
	s, term := open(t, 40, 4)
	s.Clear()
	for y, url := range []string{"https://x\x1b\\\x1b]52;c;eA==\a", "https://x\a\x1b[2J", "https://x\u009c\u009b2J"} {
		s.PutStrStyled(0, y, "text", tcell.StyleDefault.Url(url))
	}
	s.Show()
	for y := range 3 {
		if _, _, link := term.Cell(0, y); !strings.HasPrefix(link, "https://x") {
			t.Errorf("row %d links to %q", y, link)
		}
	}
	if odd := append(term.Odd(), term.Strings()...); len(odd) > 0 || term.Row(0) != "text" {
		t.Errorf("the terminal got %q, and shows %q", odd, term.Text())
	}
}

func TestResize(t *testing.T) {
	s, term := open(t, 80, 24)
	page(s, "end")
	term.Resize(100, 30)
	ev, ok := s.PollEvent().(*tcell.EventResize)
	if !ok {
		t.Fatal("no resize event")
	}
	if w, h := ev.Size(); w != 100 || h != 30 {
		t.Errorf("resize event for %d×%d, want 100×30", w, h)
	}
	_, _ = term.Written()
	page(s, "end")
	if got := term.Row(29); got != "end" {
		t.Errorf("last row after a resize is %q, want end", got)
	}
	if _, writes := term.Written(); writes != 1 {
		t.Errorf("%d writes for a resize, want 1", writes)
	}
	if s.HasPendingEvent() {
		t.Error("a second event for one resize")
	}
}

// A terminal that became smaller and large again between two frames has lost its edges, though its size is that of the
// last frame.
func TestResizeThereAndBack(t *testing.T) {
	s, term := open(t, 80, 24)
	page(s, "end")
	term.Resize(40, 5)
	term.Resize(80, 24)
	page(s, "end")
	if got := term.Row(23); got != "end" {
		t.Errorf("last row is %q, want end", got)
	}
	// The same when the program was late and saw only the last size.
	term.Shake(40, 5)
	page(s, "end")
	if got := term.Row(23); got != "end" {
		t.Errorf("last row is %q, want end", got)
	}
	if _, ok := s.PollEvent().(*tcell.EventResize); !ok {
		t.Error("nobody is told to draw")
	}
}

func TestTerminalIsRestored(t *testing.T) {
	s, term := open(t, 80, 24)
	page(s, "end")
	modes := []string{"?1049", "?2004", "?1000", "?1002", "?1004"}
	for _, mode := range modes {
		if !term.Mode(mode) {
			t.Errorf("mode %s is off", mode)
		}
	}
	if !term.Raw() || term.Mode("?1003") {
		t.Errorf("raw %v, want true; reports of every mouse motion %v, want false", term.Raw(), term.Mode("?1003"))
	}
	s.Fini()
	s.Fini()
	for _, mode := range modes {
		if term.Mode(mode) {
			t.Errorf("mode %s is on after Fini", mode)
		}
	}
	if _, _, shown := term.Cursor(); term.Raw() || !shown {
		t.Errorf("after Fini: raw %v, cursor %v", term.Raw(), shown)
	}
	_, _ = term.Written()
	page(s, "more")
	s.Sync()
	s.Notify(screen.CallOSC9, "more")
	if got, _ := term.Written(); len(got) > 0 {
		t.Errorf("after Fini %q was written", got)
	}
	if ev := s.PollEvent(); ev != nil {
		t.Errorf("after Fini PollEvent returned %v, want nil", ev)
	}
}

// After a panic inside tcell, which leaves it locked, the terminal is restored all the same.
func TestFiniOfLockedScreen(t *testing.T) {
	s, term := open(t, 80, 24)
	page(s, "end")
	inner := s.Screen.(sync.Locker)
	inner.Lock()
	s.Fini()
	if _, _, shown := term.Cursor(); term.Raw() || term.Mode("?1049") || term.Mode("?2004") || !shown {
		t.Error("the terminal is not restored")
	}
	inner.Unlock()
}

func TestSuspend(t *testing.T) {
	s, term := open(t, 80, 24)
	page(s, "end")
	for range 3 {
		if err := s.Suspend(); err != nil {
			t.Fatal(err)
		}
		if term.Raw() || term.Mode("?1049") {
			t.Error("the terminal is not given back")
		}
		_, _ = term.Write([]byte("\x1b[H\x1b[2Jthe editor was here"))
		if err := s.Resume(); err != nil {
			t.Fatal(err)
		}
		page(s, "end")
		if got := term.Row(23); got != "end" || !term.Raw() {
			t.Errorf("after Resume the last row is %q, want end", got)
		}
		term.Type("x")
		if ev, ok := s.PollEvent().(*tcell.EventKey); !ok || ev.Rune() != 'x' {
			t.Errorf("after Resume the key is %v, want x", ev)
		}
	}
}

// typing returns a terminal to type at, and a screen that reads it. The caller ends the screen.
func typing(t *testing.T) (*apptest.Terminal, *screen.Screen) {
	t.Helper()
	term := apptest.NewTerminal(20, 4)
	s, err := screen.New(screen.NewTty(term, nil), "xterm-256color")
	if err == nil {
		err = s.Init()
	}
	if err != nil {
		t.Fatal(err)
	}
	return term, s
}

// Characters are read as UTF-8 in every locale; invalid UTF-8 is visible and does not block later bytes.
func TestTypedLetters(t *testing.T) {
	for _, locale := range []string{"C.UTF-8", "C"} {
		t.Run(locale, func(t *testing.T) {
			t.Setenv("LC_ALL", locale)
			synctest.Test(t, func(t *testing.T) {
				term, s := typing(t)
				defer s.Fini()
				got := ""
				for _, p := range []string{"é漢\xc3", "\xa9", "\xff", "a\ufffd", "z"} {
					term.Type(p)
					synctest.Wait()
				}
				for s.HasPendingEvent() {
					if ev, ok := s.PollEvent().(*tcell.EventKey); ok {
						got += string(ev.Rune())
					}
				}
				if want := "é漢é\ufffda\ufffdz"; got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			})
		})
	}
}

// Esc pressed twice is two keys, even if the second comes before tcell reports the first.
func TestEscTwiceIsTwoKeys(t *testing.T) {
	for _, pause := range []time.Duration{0, 20 * time.Millisecond, 45 * time.Millisecond, 70 * time.Millisecond, time.Second} {
		t.Run(pause.String(), func(t *testing.T) {
			t.Setenv("LC_ALL", "C.UTF-8")
			synctest.Test(t, func(t *testing.T) {
				term, s := typing(t)
				defer s.Fini()
				for range 2 {
					term.Type("\x1b")
					synctest.Wait()
					time.Sleep(pause)
				}
				time.Sleep(time.Second)
				term.Type("a")
				synctest.Wait()
				var got []string
				for s.HasPendingEvent() {
					if ev, ok := s.PollEvent().(*tcell.EventKey); ok {
						got = append(got, ev.Name())
					}
				}
				if want := "[Esc Esc Rune[a]]"; fmt.Sprint(got) != want {
					t.Errorf("got %s, want %s", got, want)
				}
			})
		})
	}
}

func TestDumbTerminal(t *testing.T) {
	if _, err := screen.New(screen.NewTty(apptest.NewTerminal(80, 24), nil), "dumb"); err == nil {
		t.Error("no error for TERM=dumb")
	}
	if _, err := screen.New(screen.NewTty(apptest.NewTerminal(80, 24), nil), "never-heard-of"); err != nil {
		t.Errorf("an unknown TERM: %v", err)
	}
}

// Rows that move, over any number of frames, look like the same frame painted in full, whatever else changes, and are
// not written again.
func TestRowsMove(t *testing.T) {
	s, term := open(t, 60, 24)
	whole, wholeTerm := open(t, 60, 24)
	rnd := rand.New(rand.NewPCG(3, 4))
	words := []string{"word", "日本", "e\u0301", "👩‍💻", "─", "  ", "\x1b", "\t"}
	styles := []tcell.Style{
		tcell.StyleDefault, themed, themed.Bold(true), tcell.StyleDefault.Background(tcell.ColorPurple),
		tcell.StyleDefault.Url("https://example.org"), tcell.StyleDefault.Reverse(true),
	}
	type piece struct {
		text  string
		style tcell.Style
	}
	page := make([][]piece, 200)
	for i := range page {
		for range rnd.IntN(14) {
			page[i] = append(page[i], piece{words[rnd.IntN(len(words))], styles[rnd.IntN(len(styles))]})
		}
	}
	at, moved := 50, 0
	for frame := range 150 {
		by := rnd.IntN(41) - 20
		if at += by; at < 0 || at > len(page)-30 {
			at, by = 50, 0
		}
		top, bottom := rnd.IntN(3), 24-rnd.IntN(3)
		noteX, noteY, cursorX, cursorY := rnd.IntN(60), rnd.IntN(24), rnd.IntN(60), rnd.IntN(24)
		for _, s := range []*screen.Screen{s, whole} {
			s.Clear()
			for y := top; y < bottom; y++ {
				x := 0
				for _, p := range page[at+y] {
					s.PutStrStyled(x, y, p.text, p.style)
					x += len(p.text)
				}
			}
			s.PutStrStyled(noteX, noteY, fmt.Sprint("frame ", frame), themed)
			s.ShowCursor(cursorX, cursorY)
		}
		_, _ = term.Written()
		s.Show()
		if out, _ := term.Written(); strings.Contains(string(out), "r\x1b[") {
			moved++
		}
		whole.Sync()
		diff := snapshot(s, term)
		if full := snapshot(whole, wholeTerm); diff != full {
			t.Fatalf("frame %d, moved by %d, by diff:\n%s\nin full:\n%s", frame, by, diff, full)
		}
	}
	if moved < 50 {
		t.Errorf("the terminal moved rows in %d of 150 frames", moved)
	}
	if odd := term.Odd(); len(odd) > 0 {
		t.Error(odd)
	}
}

// When a move of rows is the only change, the cursor returns to its position: the move displaces it.
func TestMoveAloneKeepsCursor(t *testing.T) {
	s, term := open(t, 60, 24)
	page := func(first int) {
		s.Clear()
		for y := first; y < 22; y++ {
			s.PutStr(0, y-first, strings.Repeat(string(rune('a'+y)), 40))
		}
		s.ShowCursor(7, 23)
		s.Show()
	}
	page(0)
	_, _ = term.Written()
	page(1)
	if out, _ := term.Written(); !strings.Contains(string(out), "M\x1b[r") {
		t.Fatalf("no rows moved: %q", out)
	}
	if x, y, shown := term.Cursor(); x != 7 || y != 23 || !shown {
		t.Errorf("the cursor is at %d, %d, shown %v, want 7, 23", x, y, shown)
	}
}
