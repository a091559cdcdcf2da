package markup

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"buddy/themes"
)

// check fails if t is unsafe or inconsistent.
func check(tb testing.TB, t *Text) {
	tb.Helper()
	if !utf8.Valid(t.Bytes) {
		tb.Fatalf("text is not UTF-8: %q", t.Bytes)
	}
	for _, r := range string(t.Bytes) {
		if r != '\n' && r != '\t' && Visible(r) != "" {
			tb.Fatalf("text holds %U: %q", r, t.Bytes)
		}
	}
	last := int32(0)
	for _, r := range t.Runs {
		if r.End <= last || int(r.Style.Link) > len(t.Links) {
			tb.Fatalf("runs %v of %q", t.Runs, t.Bytes)
		}
		last = r.End
	}
	if int(last) != len(t.Bytes) {
		tb.Fatalf("runs end at %d of %d", last, len(t.Bytes))
	}
	if n := len(t.Paras); n > 0 && int(t.Paras[n-1].End) != len(t.Bytes) {
		tb.Fatalf("paras end at %d of %d", t.Paras[n-1].End, len(t.Bytes))
	}
}

// describe formats the runs of a Text as "text"role+attrs.
func describe(t *Text) string {
	var b strings.Builder
	from := int32(0)
	for _, r := range t.Runs {
		fmt.Fprintf(&b, "%q", t.Bytes[from:r.End])
		if r.Style.Role != themes.Text {
			b.WriteString(r.Style.Role.String())
		}
		for i, name := range []string{"bold", "dim", "italic", "underline", "reverse", "strike"} {
			if r.Style.Attr&(1<<i) != 0 {
				b.WriteString("+" + name)
			}
		}
		for _, c := range []struct {
			name  string
			color Color
		}{{"fg", r.Style.FG}, {"bg", r.Style.BG}} {
			if n, ok := c.color.Palette(); ok {
				fmt.Fprintf(&b, " %s%d", c.name, n)
			} else if n, ok := c.color.RGB(); ok {
				fmt.Fprintf(&b, " %s#%06x", c.name, n)
			} else if r, ok := c.color.Role(); ok {
				fmt.Fprintf(&b, " on %s", r)
			}
		}
		if r.Style.Link > 0 {
			fmt.Fprintf(&b, " <%s>", t.Links[r.Style.Link-1])
		}
		b.WriteByte('\n')
		from = r.End
	}
	return b.String()
}

// rows lays out a Text and returns its visible rows.
func rows(t *Text, width int) []string {
	var l Layout
	l.Wrap(t, width, 0)
	var out []string
	for i, r := range l.Rows {
		rest, _, _ := l.Rest(t, i)
		out = append(out, rest+string(t.Bytes[r.From:r.To]))
	}
	return out
}

func write(terminal bool, pieces ...string) *Text {
	w := Writer{Terminal: terminal}
	for _, p := range pieces {
		w.Write([]byte(p))
	}
	w.Close()
	return &w.Text
}

// Each kind of escape sequence is removed, applied or made visible.
func TestHostileText(t *testing.T) {
	for _, c := range []struct{ name, in, text, output string }{
		{"plain", "a b", "a b", "a b"},
		{"SGR", "a\x1b[31mB", "a␛[31mB", "aB"},
		{"OSC 52", "a\x1b]52;c;aGk=\x07b", "a␛]52;c;aGk=␇b", "ab"},
		{"OSC 0 with ST", "a\x1b]0;title\x1b\\b", "a␛]0;title␛\\b", "ab"},
		{"DCS", "a\x1bPq#0\x1b\\b", "a␛Pq#0␛\\b", "ab"},
		{"open OSC ends with the line", "a\x1b]0;t\nb", "a␛]0;t\nb", "a\nb"},
		{"cursor moves", "a\x1b[2J\x1b[H\x1b[1;1Hb", "a␛[2J␛[H␛[1;1Hb", "ab"},
		{"private mode", "a\x1b[?1049hb", "a␛[?1049hb", "ab"},
		{"charset", "a\x1b(0b", "a␛(0b", "ab"},
		{"open CSI before text", "a\x1b[31\nb", "a␛[31\nb", "a\nb"},
		{"C1 CSI", "a\u009b31mb", "a‹U+009B›31mb", "a‹U+009B›31mb"},
		{"BEL BS NUL", "a\a\b\x00b", "a␇␈␀b", "a␇␈␀b"},
		{"DEL", "a\x7fb", "a‹U+007F›b", "a‹U+007F›b"},
		{"bidi", "a\u202eb\u202c\u2067c\u2069", "a‹U+202E›b‹U+202C›‹U+2067›c‹U+2069›", "a‹U+202E›b‹U+202C›‹U+2067›c‹U+2069›"},
		{"marks", "\u200e\u200f\u061c", "‹U+200E›‹U+200F›‹U+061C›", "‹U+200E›‹U+200F›‹U+061C›"},
		{"zero width", "r\u200bm\ufeff\u00ad\u2060", "r‹U+200B›m‹U+FEFF›‹U+00AD›‹U+2060›", "r‹U+200B›m‹U+FEFF›‹U+00AD›‹U+2060›"},
		{"joiner after a letter", "r\u200dm", "r‹U+200D›m", "r‹U+200D›m"},
		{"joiner in an emoji", "👩\u200d🚀", "👩\u200d🚀", "👩\u200d🚀"},
		{"line separator", "a\u2028b\u2029", "a‹U+2028›b‹U+2029›", "a‹U+2028›b‹U+2029›"},
		{"tags", "a\U000e0041b", "a‹U+E0041›b", "a‹U+E0041›b"},
		{"combining", "e" + strings.Repeat("\u0301", 30), "e" + strings.Repeat("\u0301", 8), "e" + strings.Repeat("\u0301", 8)},
		{"CRLF", "a\r\nb", "a\nb", "a\nb"},
		{"lone CR", "abc\rx", "abc␍x", "xbc"},
		{"invalid UTF-8", "a\xff\xc3(b\xe2\x82", "a\ufffd\ufffd(b\ufffd\ufffd", "a\ufffd\ufffd(b\ufffd\ufffd"},
		{"surrogate", "\xed\xa0\x80", "\ufffd\ufffd\ufffd", "\ufffd\ufffd\ufffd"},
		{"tview tags", `[red]["id"][:::https://x]`, `[red]["id"][:::https://x]`, `[red]["id"][:::https://x]`},
		{"tab", "a\tb", "a\tb", "a\tb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, terminal := range []bool{false, true} {
				want := c.text
				if terminal {
					want = c.output
				}
				got := write(terminal, c.in)
				check(t, got)
				if string(got.Bytes) != want {
					t.Errorf("terminal %v: %q, want %q", terminal, got.Bytes, want)
				}
				var bytewise []string
				for i := range len(c.in) {
					bytewise = append(bytewise, c.in[i:i+1])
				}
				if cut := write(terminal, bytewise...); describe(cut) != describe(got) {
					t.Errorf("terminal %v, byte by byte: %s, want %s", terminal, describe(cut), describe(got))
				}
			}
		})
	}
}

func TestRevealedRunesHaveTheControlRole(t *testing.T) {
	want := "\"a\"\n\"‹U+202E›␇\"control\n\"b\"\n"
	if got := describe(write(true, "a\u202e\ab")); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestInlineIsOneSafeLine(t *testing.T) {
	for in, want := range map[string]string{
		"ordinary":     "ordinary",
		"file[red].go": "file[red].go",
		"a\nb\tc":      "a␊b c",
		"a\r\nb":       "a␊b",
		"\x1b[31m\r":   "␛[31m␍",
		"é\u202e":      "é‹U+202E›",
	} {
		if got := Inline(in); got != want {
			t.Errorf("Inline(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestColours(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"\x1b[1;31mx", "\"x\"+bold fg1\n"},
		{"\x1b[38;5;208mx", "\"x\" fg208\n"},
		{"\x1b[48;2;1;2;300mx", "\"x\" bg#0102ff\n"},
		{"\x1b[38:2::255:128:0mx", "\"x\" fg#ff8000\n"},
		{"\x1b[38:2:255:128:0mx", "\"x\" fg#ff8000\n"},
		{"\x1b[38:5:9;4:3mx", "\"x\"+underline fg9\n"},
		{"\x1b[4;4:0mx", "\"x\"\n"},
		{"\x1b[58;5;1;7mx", "\"x\"+reverse\n"},
		{"\x1b[91;102mx", "\"x\" fg9 bg10\n"},
		{"\x1b[2;3;9mx\x1b[22;23;29my", "\"x\"+dim+italic+strike\n\"y\"\n"},
		{"\x1b[31mx\x1b[my", "\"x\" fg1\n\"y\"\n"},
		{"\x1b[31mx\x1b[1;my", "\"x\" fg1\n\"y\"\n"},
		{"\x1b[31;42mx\x1b[39;49my", "\"x\" fg1 bg2\n\"y\"\n"},
		{"\x1b[5;8mx", "\"x\"\n"},            // neither blinking nor hidden
		{"\x1b[38;7;1mx", "\"x\"+bold\n"},    // an unknown colour space changes nothing
		{"\x1b[38;5;999mx", "\"x\"\n"},       // neither does an invalid colour
		{"\x1b[>4;1mx\x1b[1 mx", "\"xx\"\n"}, // private, and with an intermediate byte
		{"\x1b[31mx\ny", "\"x\\ny\" fg1\n"},
		{"\x1b[" + strings.Repeat("1;", 100) + "31mx", "\"x\"\n"}, // longer than any real sequence
	} {
		if got := describe(write(true, c.in)); got != c.want {
			t.Errorf("%q gives %s, want %s", c.in, got, c.want)
		}
	}
}

func TestCarriageReturnOverwrites(t *testing.T) {
	long := strings.Repeat("x", maxOverwrite+1)
	for _, c := range []struct{ in, want string }{
		{"10%\r20%\r100%\n", "100%\n"},
		{"abcdef\rxy", "xycdef"},
		{"abcdef\rxy\n-", "xycdef\n-"},
		{"abcdef\r\x1b[Kxy", "xy"},
		{"abcdef\x1b[2K\rxy", "xy"},
		{"abcdef\rxy\x1b[K\n", "xy\n"},
		{"one\ntwo\rT", "one\nTwo"},
		{"日本\rx", "x 本"},
		{"abc\r日", "日c"},
		{"abc\r\r\nx", "abc\nx"},
		{"\rabc", "abc"},
		{long + "\ry", long + "\ny"},
	} {
		got := write(true, c.in)
		check(t, got)
		if string(got.Bytes) != c.want {
			t.Errorf("%.40q gives %.40q, want %.40q", c.in, got.Bytes, c.want)
		}
	}
	if got := describe(write(true, "\x1b[31mabc\x1b[m\rX")); got != "\"X\"\n\"bc\" fg1\n" {
		t.Errorf("colours of what stays: %s", got)
	}
}

// Nothing before the offset that Write returns has changed.
func TestWriteTellsWhatChanged(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		for seed := range uint64(300) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			w := Writer{Terminal: terminal}
			var l Layout
			for range 20 {
				before := slices.Clone(w.Text.Bytes)
				from := w.Write([]byte(hostile(rnd, 12)))
				check(t, &w.Text)
				if !strings.HasPrefix(string(w.Text.Bytes), string(before[:from])) {
					t.Fatalf("Write said %d; %q became %q", from, before, w.Text.Bytes)
				}
				l.Wrap(&w.Text, 7, from)
			}
			var whole Layout
			whole.Wrap(&w.Text, 7, 0)
			if !slices.Equal(l.Rows, whole.Rows) {
				t.Fatalf("seed %d: rows %v, want %v of %q", seed, l.Rows, whole.Rows, w.Text.Bytes)
			}
		}
	}
}

// hostile makes text of dangerous pieces.
func hostile(rnd *rand.Rand, n int) string {
	pieces := []string{
		"a", "bc ", "word", " ", "  ", "\n", "\r", "\r\n", "\t", "\x1b[31m", "\x1b[0m", "\x1b[K", "\x1b[2K", "\x1b]0;x", "\a", "\x1b\\",
		"日", "👩\u200d🚀", "e\u0301", "\u0301", "\u202e", "\xff", "\xe6", "\x97", "\xa5", "🇩", "🇪", "[red]", "# ", "- ", "> ", "```", "`", "**", "|", "---", "[x](y)",
	}
	var b strings.Builder
	for range rnd.IntN(n) {
		b.WriteString(pieces[rnd.IntN(len(pieces))])
	}
	return b.String()
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		name, in string
		wrap     Wrap
		width    int
		want     []string
	}{
		{"words", "the quick brown fox", Words, 10, []string{"the quick", "brown fox"}},
		{"exact", "the quick brown", Words, 9, []string{"the quick", "brown"}},
		{"blanks at the break", "ab   cd", Words, 3, []string{"ab", "cd"}},
		{"long word", "a abcdefghij", Words, 4, []string{"a", "abcd", "efgh", "ij"}},
		{"indented", "   abcdef", Words, 5, []string{"   ab", "cdef"}},
		{"lines", "a\n\nb\n", Words, 5, []string{"a", "", "b"}},
		{"hard", "a b c", Hard, 2, []string{"a ", "b ", "c"}},
		{"wide", "日本語です", Words, 5, []string{"日本", "語で", "す"}},
		{"wide hard", "a日本", Hard, 2, []string{"a", "日", "本"}},
		{"emoji", "👩\u200d🚀👩\u200d🚀", Hard, 3, []string{"👩\u200d🚀", "👩\u200d🚀"}},
		{"tab", "a\tb", Hard, 9, []string{"a\tb"}},
		{"tab does not fit", "a\tb", Hard, 8, []string{"a\t", "b"}},
		{"too narrow for a wide one", "日本", Hard, 1, []string{"日", "本"}},
		{"empty", "", Words, 5, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := Text{Bytes: []byte(c.in), Wrap: c.wrap}
			if got := rows(&text, c.width); !reflect.DeepEqual(got, c.want) {
				t.Errorf("rows = %q, want %q", got, c.want)
			}
		})
	}
}

func TestHardWrapLosesNothing(t *testing.T) {
	for seed := range uint64(200) {
		text := write(true, hostile(rand.New(rand.NewPCG(seed, 2)), 80))
		var got strings.Builder
		var l Layout
		l.Wrap(text, 5, 0)
		for i, r := range l.Rows {
			if i > 0 && text.Bytes[r.From-1] == '\n' {
				got.WriteByte('\n')
			}
			got.Write(text.Bytes[r.From:r.To])
		}
		if got.String() != strings.TrimSuffix(string(text.Bytes), "\n") {
			t.Fatalf("got %q, want %q", got.String(), text.Bytes)
		}
	}
}

// The fast path for single characters agrees with the tables of uniseg.
func TestClusterEqualsUniseg(t *testing.T) {
	var runes []rune
	for r := rune(' '); r < 0x30000; r++ {
		if n, width := lone(utf8.AppendRune(nil, r)); width > 0 {
			cluster, _, want, _ := uniseg.FirstGraphemeClusterInString(string(r), -1)
			if n != len(cluster) || width != want {
				t.Errorf("lone(%U) = %d, %d; want %d, %d", r, n, width, len(cluster), want)
			}
			if len(runes) == 0 || r%97 == 0 || r == 0x24f || r == 0xac01 || r == 0xd7a3 {
				runes = append(runes, r)
			}
		}
	}
	runes = append(runes, 0x301, zwj, 0x1f680, 0x1f1e9, 0x1100, 0x1161, 0x11a8, 0x0e33, 0x0903, 0xfe0f, 0x1f3fb, 0xff9e, '\n', 0x7f)
	for _, a := range runes {
		for _, b := range runes {
			s := string([]rune{a, b})
			n, width := Cluster([]byte(s))
			cluster, _, want, _ := uniseg.FirstGraphemeClusterInString(s, -1)
			if n != len(cluster) || width != want {
				t.Fatalf("Cluster(%q) = %d, %d; want %d, %d", s, n, width, len(cluster), want)
			}
		}
	}
}

func TestCut(t *testing.T) {
	text := write(true, "a\x1b[31mbc\x1b[md\n")
	text.cut(2)
	check(t, text)
	if got := describe(text); got != "\"c\" fg1\n\"d\\n\"\n" {
		t.Errorf("got %s", got)
	}
}

// Line shows everything in a line, even what other functions drop.
func TestLineShowsEverything(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "\x1b[2J": "␛[2J", "a\u202eb": "a‹U+202E›b", "\u200b": "‹U+200B›", "\ta": "    a", "a\nb": "a␊b", "a\r\nb": "a␍␊b", "\x7f": "‹U+007F›", "\u009b": "‹U+009B›",
		"e\u0301": "e\u0301", "\u0301": "‹U+0301›", "a\n\u0301": "a␊‹U+0301›", "👨‍👩‍👧": "👨‍👩‍👧", "rm\u200d": "rm‹U+200D›", "❤️": "❤️", "a\ufe0f": "a‹U+FE0F›", "é\U000e0102": "é‹U+E0102›",
		"\u3164": "‹U+3164›", "\ufeff": "‹U+FEFF›", "\U000e0041": "‹U+E0041›", "\u2028": "‹U+2028›", "ж\u200cж": "ж‹U+200C›ж", "[red]": "[red]", "\xff": "\ufffd",
		"a" + strings.Repeat("\u0301", 10): "a" + strings.Repeat("\u0301", 8) + "‹U+0301›‹U+0301›",
	} {
		line := Line(in, Style{Role: themes.Strong})
		check(t, line)
		if got := string(line.Bytes); got != want {
			t.Errorf("Line(%q) = %q, want %q", in, got, want)
		}
		if shown, width, revealed := Character([]byte(in)); shown != want || width != Width(line.Bytes) || revealed != (len(line.Runs) > 1 || line.Runs[0].Style.Role == themes.Control) {
			t.Errorf("Character(%q) = %q, %d, %v", in, shown, width, revealed)
		}
	}
	for r := rune(1); r <= unicode.MaxRune; r++ {
		if Width(Line(string(r), Style{}).Bytes) == 0 {
			t.Errorf("%U does not show", r)
		}
	}
}

// Tmux captures line drawing as SO, letters, SI; and a row starts in the state at the end of the previous row.
func TestLineDrawing(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"a\x0elqqk\x0fq", "\"a┌──┐q\"\n"},
		{"\x0ex\n\x1b[31mx 1日\x0fx", "\"│\\n\"\n\"│ 1日x\" fg1\n"},
		{"\x0e`_~\x0f\x0f", "\"◆ ·\"\n"},
		{"\x0e\x1b[1mq\a", "\"─\"+bold\n\"␇\"control\n"},
	} {
		w := Writer{Terminal: true, Drawing: true}
		w.Write([]byte(c.in))
		check(t, &w.Text)
		if got := describe(&w.Text); got != c.want {
			t.Errorf("%q gives %s, want %s", c.in, got, c.want)
		}
		bytewise := Writer{Terminal: true, Drawing: true}
		for i := range len(c.in) {
			bytewise.Write([]byte(c.in[i : i+1]))
		}
		if got := describe(&bytewise.Text); got != c.want {
			t.Errorf("%q byte by byte gives %s, want %s", c.in, got, c.want)
		}
	}
	if got := string(write(true, "\x0eq").Bytes); got != "␎q" {
		t.Errorf("tool output: %q", got)
	}
}
