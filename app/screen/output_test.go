package screen_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"
	"github.com/gdamore/tcell/v2/terminfo"

	"buddy/app/apptest"
	"buddy/app/screen"
)

// terminals lists all that tcell describes without asking the machine.
var terminals = []string{
	"aixterm", "alacritty", "alacritty-direct", "ansi", "cygwin", "dtterm", "eterm", "eterm-color", "foot", "gnome",
	"gnome-256color", "konsole", "konsole-256color", "kterm", "linux", "pcansi", "rxvt", "rxvt-256color", "rxvt-88color",
	"rxvt-unicode", "rxvt-unicode-256color", "screen", "screen-256color", "st", "st-256color", "sun", "sun-color", "tmux",
	"tmux-256color", "vt100", "vt102", "vt220", "vt320", "vt400", "vt420", "xfce", "xterm", "xterm-88color",
	"xterm-256color", "xterm-direct", "xterm-ghostty", "xterm-kitty",
}

// oddLetters lists terminals for which tcell handles the alternate character set wrongly: it skips the last character,
// writes bytes of code page 437 as UTF-8, or writes a pause as text.
var oddLetters = []string{"aixterm", "ansi", "cygwin", "pcansi", "vt220", "vt420"}

// Every terminal shows colours, attributes, links and texts as tcell would have written them.
func TestCellsAsTcellWritesThem(t *testing.T) {
	colors := []tcell.Color{
		tcell.ColorDefault, tcell.ColorBlack, tcell.ColorMaroon, tcell.ColorWhite, tcell.ColorRed, tcell.Color123,
		tcell.NewRGBColor(0, 0, 0), tcell.NewRGBColor(250, 250, 240), tcell.NewRGBColor(200, 30, 80), tcell.NewRGBColor(20, 20, 30),
	}
	var styles []tcell.Style
	for i, fg := range colors {
		for j, bg := range colors {
			st := tcell.StyleDefault.Foreground(fg).Background(bg)
			styles = append(styles, st.Bold(i%2 == 0).Dim(j%3 == 0).Italic(i%3 == 1).Underline(j%2 == 1).Reverse((i+j)%2 == 0).
				StrikeThrough(j%5 == 4).Blink(i%5 == 3))
		}
		styles = append(styles, tcell.StyleDefault.Foreground(fg).Url(fmt.Sprintf("https://example.org/%d", i)))
	}
	texts := []string{"a", "~", "é", "e\u0301", "─", "┼", "│", "╭", "•", "…", "日", "👩‍💻", "█", "→"}
	for _, env := range []map[string]string{
		{"LC_ALL": "C.UTF-8", "COLORTERM": "truecolor", "NO_COLOR": ""},
		{"LC_ALL": "C.UTF-8", "COLORTERM": "", "NO_COLOR": ""},
		{"LC_ALL": "C.UTF-8", "COLORTERM": "", "NO_COLOR": "1"},
		{"LC_ALL": "C", "COLORTERM": "", "NO_COLOR": ""},
	} {
		for _, name := range terminals {
			if env["LC_ALL"] == "C" && slices.Contains(oddLetters, name) {
				continue
			}
			t.Run(fmt.Sprint(name, env), func(t *testing.T) {
				for k, v := range env {
					t.Setenv(k, v)
				}
				ours, theirs := apptest.NewTerminal(60, 24), apptest.NewTerminal(60, 24)
				s, err := screen.New(screen.NewTty(ours, nil), name)
				if err != nil {
					t.Fatal(err)
				}
				info, err := terminfo.LookupTerminfo(name)
				if err != nil {
					t.Fatal(err)
				}
				own := *info
				own.PadChar = ""
				plain, err := tcell.NewTerminfoScreenFromTtyTerminfo(screen.NewTty(theirs, nil), &own)
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range []tcell.Screen{s, plain} {
					if err := s.Init(); err != nil {
						t.Fatal(err)
					}
					defer s.Fini()
					s.Clear()
					for i, st := range styles {
						s.Put(i*3%60, i*3/60, texts[i%len(texts)], st)
					}
					s.Show()
				}
				for y := range 24 {
					for x := range 60 {
						text, style, link := theirs.Cell(x, y)
						gotText, gotStyle, gotLink := ours.Cell(x, y)
						if text != gotText || style != gotStyle || link != gotLink {
							t.Errorf("cell %d,%d is %q %q %q, want %q %q %q", x, y, gotText, gotStyle, gotLink, text, style, link)
						}
					}
				}
			})
		}
	}
}

// A terminal that accepts only ASCII draws lines with its alternate character set, if it has one.
func TestLinesInASCII(t *testing.T) {
	t.Setenv("LC_ALL", "C")
	for name, want := range map[string]string{"vt220": "\x1b(0q\x1b(B", "pcansi": "\x1b[12m\xc4\x1b[10m", "sun": "-"} {
		term := apptest.NewTerminal(20, 2)
		s, err := screen.New(screen.NewTty(term, nil), name)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Init(); err != nil {
			t.Fatal(err)
		}
		s.Clear()
		s.PutStr(3, 1, "─")
		s.Show()
		if got, _ := term.Written(); !strings.Contains(string(got), want) {
			t.Errorf("%s: a line is not %q: %q", name, want, got)
		}
		s.Fini()
	}
}

// The shown frame does not depend on the frames before.
func FuzzFrames(f *testing.F) {
	f.Add([]byte{0, 1, 2, 30, 31, 4, 80, 81, 5, 6, 82, 7, 8, 9, 10, 200, 11})
	f.Add([]byte{14, 90, 15, 12, 13, 91, 255, 2, 3})
	f.Add([]byte{0, 5, 60, 255, 1, 4, 61, 255, 2, 6, 62, 255})
	styles := []tcell.Style{themed, tcell.StyleDefault, themed.Bold(true), tcell.StyleDefault.Url("https://example.org")}
	texts := []string{"日", "a", "e\u0301", "👩‍💻", "─", " ", "\x1b", "本"}
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) > 300 {
			return
		}
		s, term := open(t, 12, 4)
		for len(program) >= 3 {
			place, what, end := int(program[0]), int(program[1]), program[2]
			program = program[3:]
			x, y, style := place%12, place/12%4, styles[what/8%4]
			switch what / 32 % 4 {
			case 0, 1:
				s.Put(x, y, texts[what%8], style)
			case 2:
				s.Blank(x, y, what%8, style)
			case 3:
				s.Letters(x, y, []byte("letters")[:what%8], style)
			}
			if end%2 == 0 {
				s.ShowCursor(x, y)
				s.Show()
			}
			if end%8 == 1 {
				s.Clear()
			}
		}
		s.Show()
		diff := snapshot(s, term)
		s.Sync()
		if full := snapshot(s, term); diff != full {
			t.Fatalf("by diff:\n%s\nin full:\n%s", diff, full)
		}
		if odd := term.Odd(); len(odd) > 0 {
			t.Error(odd)
		}
	})
}
