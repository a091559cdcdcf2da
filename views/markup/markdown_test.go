package markup

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

func markdown(src string, width int) *Text {
	m := NewMarkdown(width)
	m.Finish([]byte(src))
	return &m.Text
}

func TestMarkdown(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"paragraphs", "one\ntwo\n\nthree", "one two\n\nthree"},
		{"hard break", "one  \ntwo\\\nthree", "one\ntwo\nthree"},
		{"headings", "# A\n## B\nC\n===", "A\n\nB\n\nC"},
		{"tight list", "- a\n- b\n  - c\n\nend", "• a\n• b\n  • c\n\nend"},
		{"loose list", "1. a\n\n   b\n2. c", "1. a\n\n   b\n\n2. c"},
		{"list in list", "- - a\n  - b", "• • a\n  • b"},
		{"empty item", "-\n- a", "• \n• a"},
		{"numbers go on", "9. a\n10. b", "9. a\n10. b"},
		{"tasks", "- [ ] a\n- [x] b", "• ☐ a\n• ☑ b"},
		{"quote", "> a\n> - b\n>\n> c\n\nd", "│ a\n│\n│ • b\n│\n│ c\n\nd"},
		{"quote in list", "- a\n  > b", "• a\n  │ b"},
		{"fence", "a\n```go\nx := 1\n\n\ty\n```\nb", "a\n\n  x := 1\n  \n      y\n\nb"},
		{"tabs align", "```\n\ta\tb\nxyz\tb\n\t\t日\tb\n```", "      a   b\n  xyz b\n          日  b"},
		{"fence in list", "- a\n  ```\n  x\n  ```", "• a\n    x"},
		{"open fence", "```\nx", "  x"},
		{"empty fence", "a\n```\n```", "a\n\n  "},
		{"indented code", "a\n\n    x\n      y", "a\n\n  x\n    y"},
		{"rule", "a\n\n---\nb", "a\n\n" + ruleLine + "\n\nb"},
		{"html", "<b>x</b> &amp; \\*\n\n<div>\ny\n</div>", "<b>x</b> & *\n\n<div>\ny\n</div>"},
		{"escapes in code", "`\\* &amp;`", "\\* &amp;"},
		{"escaped entity", "\\&amp; &#x202e; &nope;", "&amp; ‹U+202E› &nope;"},
		{"link elsewhere", "[a](/etc/passwd) [b.go](b.go) [c](javascript:x)", "a (/etc/passwd) b.go c (javascript:x)"},
		{"image", "![alt](http://x/y.png)", "image: alt (http://x/y.png)"},
		{"hostile", "[red] \x1b[31m\a \u202e", "[red] ␛[31m␇ ‹U+202E›"},
		{"CRLF", "a\r\nb\r\n\r\n```\r\nc\r\n```\r\n", "a b\n\n  c"},
		{"definitions", "[a]\n\n[a]: http://x\n\nb", "a (http://x)\n\nb"},
		{"table", "|a|b|\n|-|-:|\n|1|22|\n|日本|4|", "a    │  b\n─────┼───\n1    │ 22\n日本 │  4"},
		{"ragged table", "|a|b|\n|-|:-:|\n|1|\n|2|3|4|", "a │ b\n──┼──\n1 │ \n2 │ 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := markdown(c.in, 60)
			check(t, got)
			if string(got.Bytes) != c.want {
				t.Errorf("got\n%s\nwant\n%s", got.Bytes, c.want)
			}
		})
	}
}

func TestMarkdownStyles(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"a *b* **c** ~~d~~ `e`", "\"a \"\n\"b\"emphasis\n\" \"\n\"c\"strong\n\" \"\n\"d\"+strike\n\" \"\n\"e\"code\n"},
		{"**a *b* `c`**", "\"a \"strong\n\"b\"strong+italic\n\" \"strong\n\"c\"code\n"},
		{"# a *b*", "\"a \"heading+underline\n\"b\"heading+italic+underline\n"},
		{"## a", "\"a\"heading\n"},
		{"### a", "\"a\"heading+italic\n"},
		{"[t](https://x.org/a)", "\"t\"link <https://x.org/a>\n\" (x.org/a)\"muted <https://x.org/a>\n"},
		{"http://x.org", "\"http://x.org\"link <http://x.org>\n"},
		{"www.x.org me@x.org", "\"www.x.org\"link <http://www.x.org>\n\" me@x.org\"\n"},
		{"[t](http://ex\u0430mple.org)", "\"t\"\n\" (http://ex\u0430mple.org)\"muted\n"},
		{"<http://x/\x1b]52;c;\a>", "\"<http://x/\"\n\"␛\"control\n\"]52;c;\"\n\"␇\"control\n\">\"\n"},
	} {
		if got := describe(markdown(c.in, 60)); got != c.want {
			t.Errorf("%q gives\n%s\nwant\n%s", c.in, got, c.want)
		}
	}
}

func TestMarkdownRows(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"list", "- one two three\n- four", []string{"• one two", "  three", "• four"}},
		{"quoted list", "> 1. one two three", []string{"│ 1. one two", "│    three"}},
		{"code is whole", "```\nabc  defghijkl\n```", []string{"  abc  defgh", "  ijkl"}},
		{"narrow table", "|name|what it does|\n|-|-|\n|a|b c d e|", []string{
			"nam │ what i", "e   │ t does", "────┼───────", "a   │ b c d", "    │ e",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := rows(markdown(c.in, 12), 12)
			if c.name == "narrow table" {
				for _, row := range got {
					if Width([]byte(row)) > 12 {
						t.Errorf("row %q is too wide", row)
					}
				}
				return
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("rows = %q, want %q", got, c.want)
			}
		})
	}
}

func TestTableThatIsTooWideBecomesRecords(t *testing.T) {
	got := markdown("|a|b|c|\n|-|-|-|\n|1|2|3|\n|4|5|6|", 12)
	if want := "a: 1\nb: 2\nc: 3\n\na: 4\nb: 5\nc: 6"; string(got.Bytes) != want {
		t.Errorf("got %s, want %s", got.Bytes, want)
	}
}

// parts are pieces of documents whose chunks the scanner must find like the parser.
var parts = []string{
	"# Heading\n", "A paragraph with *emphasis*,\nof two lines and `code`.\n", "Setext\n---\n", "- a\n- b\n\n- c\n", "1. one\n   more\n\n   par\n2. two\n",
	"- a\n\n  ```\n  code\n\n  more\n  ```\n", "> quote\n> more\n", "> quote\n\n> another\n", "```go\nfunc f() {\n\n- no list\n# no heading\n}\n```\n",
	"~~~\n```\n\nx\n~~~\n", "````\n```\n\nx\n````\n", "| a | b |\n|---|---|\n| 1 | 2 |\n", "    indented\n\n    code\n", "<div>\nhtml\n</div>\n\n", "***\n",
	"* * *\n", "text\n```\ncode directly\n\nafter\n```\ntext\n", "- [ ] task\n- [x] done\n", "   three blanks\n", "日本語 👩\u200d🚀 e\u0301\n", "- a\n```\ntop level\n\nfence\n```\n",
	"```diff\n+a\n-b\n```\n", "```diff\n-a 1\n+a 2\n```\n", "- a\n\n  ```diff\n  -a 1\n  +a 2\n  ```\n", "```diff\n--- a/x.go\n+++ b/x.go\n@@ -1,4 +1,4 @@\n a\n\n-\tb\n+\tc\n d\n```\n", "Hard  \nbreak\n", "- a\n\n      code in item\n", "+ plus\n  + nested\n\n    loose\n", "  ```\n  indented fence\n    x\n  ```\n", " ```\n\ttab\n \ttab\n\n ```\n",
}

// parsedWhole parses an answer as one piece, if the parser may read it.
func parsedWhole(src []byte, width int) *Text {
	if !tame(src) {
		m := NewMarkdown(width)
		m.Finish(src)
		return &m.Text
	}
	var t Text
	render(&t, src, width, nil)
	return &t
}

// A growing answer and its end look like the answer rendered at once.
func TestStreamedMarkdownEqualsFullRender(t *testing.T) {
	for seed := range uint64(1500) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		var doc strings.Builder
		for range 1 + rnd.IntN(8) {
			doc.WriteString(parts[rnd.IntN(len(parts))])
			doc.WriteString(strings.Repeat("\n", rnd.IntN(3)))
		}
		src := []byte(doc.String())
		full := parsedWhole(src, 40)
		m := NewMarkdown(40)
		var l Layout
		step := []int{1, 7, 20, 300}[rnd.IntN(4)]
		for n := 0; n < len(src); {
			n = min(n+1+rnd.IntN(step), len(src))
			from := m.Grow(src[:n])
			check(t, &m.Text)
			l.Wrap(&m.Text, 20, from)
		}
		if got, want := describe(&m.Text), describe(full); got != want {
			t.Fatalf("seed %d: before the end\n%s\nwant\n%s\nof\n%s", seed, m.Text.Bytes, full.Bytes, src)
		}
		l.Wrap(&m.Text, 20, m.Finish(src))
		if got, want := describe(&m.Text), describe(full); got != want || !reflect.DeepEqual(m.Text.Paras, full.Paras) {
			t.Fatalf("seed %d: at the end\n%s\nwant\n%s\nof\n%s", seed, m.Text.Bytes, full.Bytes, src)
		}
		var whole Layout
		whole.Wrap(full, 20, 0)
		if !slices.Equal(l.Rows, whole.Rows) {
			t.Fatalf("seed %d: rows %v, want %v", seed, l.Rows, whole.Rows)
		}
	}
}

// An answer with parts that affect other parts looks at the end as if it had been rendered at once.
func TestWhatReachesOtherParts(t *testing.T) {
	for _, src := range []string{
		"[a]\n\nb\n\n[a]: http://x.org\n",
		"<!-- a\n\n- b\n\n-->\n\nc\n",
		"* \n\n  ```\n\n0\n",
		"-   \n  a\n  ```\nb\n  ```\n> c\n\n> d\n",
		"a\n\n```go\nfunc f() {\n\n",
	} {
		m := NewMarkdown(40)
		for n := range src {
			m.Grow([]byte(src[:n]))
		}
		m.Finish([]byte(src))
		if got, want := describe(&m.Text), describe(parsedWhole([]byte(src), 40)); got != want {
			t.Errorf("%q gives\n%s\nwant\n%s", src, got, want)
		}
	}
}

// Input that makes the parser slow is shown without parsing.
func TestHostileMarkdownIsFast(t *testing.T) {
	for _, piece := range hostilePieces {
		start := time.Now()
		check(t, streamed(piece))
		if elapsed := time.Since(start); elapsed > time.Minute {
			t.Errorf("64 KB of %q took %v", piece, elapsed)
		}
	}
}

func BenchmarkHostileMarkdown(b *testing.B) {
	for _, piece := range hostilePieces {
		b.Run(piece, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				streamed(piece)
			}
		})
	}
}

// hostilePieces make a parser with backtracking slow when they are repeated.
var hostilePieces = []string{">", "> ", "[a](", "[a]((", "![[", "*a **b ", "`a``", "- ", "\\", "|", "<a ", "[a](<b", "> > > >\n", "[a](\n", "a\n", "日", "|a|b|\n|-|-|\n"}

// streamed is 64 KB of a text that arrives in pieces of 1 KB.
func streamed(piece string) *Text {
	src := []byte(strings.Repeat(piece, 64<<10/len(piece)))
	m := NewMarkdown(80)
	for n := 1 << 10; n < len(src); n += 1 << 10 {
		m.Grow(src[:n])
	}
	m.Finish(src)
	return &m.Text
}

func FuzzMarkdown(f *testing.F) {
	for _, p := range parts {
		f.Add([]byte(p), uint8(3))
	}
	f.Add([]byte("[red] \x1b[31m \u202e \xff"), uint8(1))
	f.Fuzz(func(t *testing.T, src []byte, step uint8) {
		if len(src) > 1<<10 {
			t.Skip("byte by byte this takes seconds")
		}
		full := parsedWhole(src, 30)
		check(t, full)
		m := NewMarkdown(30)
		var l Layout
		for n := 0; n < len(src); {
			n = min(n+1+int(step), len(src))
			l.Wrap(&m.Text, 9, m.Grow(src[:n]))
			check(t, &m.Text)
		}
		l.Wrap(&m.Text, 9, m.Finish(src))
		if describe(&m.Text) != describe(full) {
			t.Errorf("streamed\n%s\nwant\n%s", m.Text.Bytes, full.Bytes)
		}
		var whole Layout
		whole.Wrap(full, 9, 0)
		if !slices.Equal(l.Rows, whole.Rows) {
			t.Errorf("rows %v, want %v", l.Rows, whole.Rows)
		}
	})
}

// visible is a second, slow implementation of a Writer for text without escape sequences.
func visible(s string) string {
	var b strings.Builder
	glue, ties, last := 0, 0, rune(0)
	for _, r := range strings.ReplaceAll(s, "\r\n", "\n") {
		shown := Visible(r)
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
			glue, ties, last = 0, 0, r
			continue
		case shown != "":
			b.WriteString(shown)
			glue, ties, last = 0, 0, 0
			continue
		case last < ' ' && glues(r) && uniseg.StringWidth(string(r)) == 0:
			fmt.Fprintf(&b, "‹U+%04X›", r)
			glue, ties, last = 0, 0, 0
			continue
		case (r == zwj || r == zwnj) && last < 0x80:
			b.WriteString("‹U+200" + string("CD"[r-zwnj]) + "›")
			glue, ties, last = 0, 0, 0
			continue
		case r == zwj:
			if ties++; ties > maxGlue {
				continue
			}
		case glues(r):
			if glue++; glue > maxGlue {
				continue
			}
		default:
			glue = 0
			if last != zwj {
				ties = 0
			}
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

func FuzzWriter(f *testing.F) {
	f.Add("a\r\nb\x1b[31m日\u202e\u0301", uint8(2))
	f.Add("10%\r20%\r\x1b[K30%\n", uint8(1))
	f.Fuzz(func(t *testing.T, s string, cut uint8) {
		got := write(false, s)
		check(t, got)
		if want := visible(strings.ToValidUTF8(s, "")); utf8.ValidString(s) && string(got.Bytes) != want {
			t.Errorf("%q gives %q, want %q", s, got.Bytes, want)
		}
		if line := Inline(s); strings.ContainsAny(line, "\n\t\r\x1b") {
			t.Errorf("Inline(%q) = %q", s, line)
		}
		whole := write(true, s)
		check(t, whole)
		n := min(int(cut), len(s))
		if cut := write(true, s[:n], s[n:]); describe(cut) != describe(whole) {
			t.Errorf("cut at %d: %q, want %q", n, cut.Bytes, whole.Bytes)
		}
	})
}

// Copied code has the leading tabs of its lines.
func TestCopiedCodeHasItsTabs(t *testing.T) {
	text := markdown("```go\nif x {\n\t\treturn\n}\n```", 60)
	if got, want := text.Plain(0, len(text.Bytes)), "if x {\n\t\treturn\n}"; got != want {
		t.Errorf("copied %q, want %q", got, want)
	}
}
