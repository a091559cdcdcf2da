package markup

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"buddy/themes"
)

// atOnce returns a Highlighter that works immediately.
func atOnce() *Highlighter {
	return &Highlighter{Background: func(work func() func()) { work()() }}
}

// byHand collects the work of a Highlighter until do is called.
type byHand struct{ work []func() func() }

func (b *byHand) highlighter() *Highlighter {
	return &Highlighter{Background: func(work func() func()) { b.work = append(b.work, work) }}
}

// do executes the collected work, but not the work that this creates.
func (b *byHand) do() {
	work := b.work
	b.work = nil
	for _, w := range work {
		w()()
	}
}

// highlighted returns a finished answer with colours.
func highlighted(src string) *Text {
	m := NewMarkdown(60)
	m.Highlighter = atOnce()
	m.Finish([]byte(src))
	m.Show(0, len(m.Text.Bytes))
	return &m.Text
}

// roleOf returns the roles of all occurrences of a word.
func roleOf(t *Text, word string) string {
	var roles []string
	for at := 0; ; at += len(word) {
		n := strings.Index(string(t.Bytes[at:]), word)
		if n < 0 {
			return strings.Join(roles, " ")
		}
		at += n
		roles = append(roles, t.Runs[t.RunAt(at)].Style.Role.String())
	}
}

const goCode = `package shop

// Tax rounds.
func Tax(cents int) string {
	/* two
	lines */
	return fmt.Sprint("tax", cents*19+0x1f)
}
`

// Code is coloured with the roles of the theme.
func TestCodeHasTheRolesOfItsTokens(t *testing.T) {
	text := highlighted("```go\n" + goCode + "```\n")
	check(t, text)
	for word, want := range map[string]string{
		"package": "synKeyword", "shop": "code", "// Tax rounds.": "synComment", "func": "synKeyword", "Tax(": "synName",
		"int)": "synName", "return": "synKeyword", "lines */": "synComment", "Sprint(": "synName", `"tax"`: "synString",
		"19": "synNumber", "0x1f": "synNumber", "\n": "text text text text text text text",
	} {
		if got := roleOf(text, word); got != want {
			t.Errorf("%q has the roles %s, want %s", word, got, want)
		}
	}
}

func TestLanguagesOfFences(t *testing.T) {
	for names, want := range map[string]string{
		"go golang Go GO main.go":        "Go",
		"py python python3 py3":          "Python",
		"js javascript node mjs":         "JavaScript",
		"ts typescript":                  "TypeScript",
		"jsx":                            "react",
		"sh bash zsh shell ksh":          "Bash",
		"console shell-session terminal": "Bash Session",
		"json jsonc jsonl":               "JSON",
		"yaml yml":                       "YAML",
		"toml":                           "TOML",
		"html htm":                       "HTML",
		"css":                            "CSS",
		"sql":                            "SQL",
		"rust rs":                        "Rust",
		"c h":                            "C",
		"c++ cpp hpp cc":                 "C++",
		"c# csharp cs":                   "C#",
		"java":                           "Java",
		"dockerfile docker Dockerfile":   "Docker",
		"makefile make Makefile mk":      "Makefile",
		"ini cfg conf":                   "INI",
		"xml svg":                        "XML",
		"markdown md":                    "markdown",
		"rb ruby":                        "Ruby",
		"proto protobuf":                 "Protocol Buffer",
		"tf terraform":                   "Terraform",
		"text nope * [ " + strings.Repeat("x", 1000) + " {.}": "",
	} {
		for name := range strings.FieldsSeq(names) {
			got := ""
			if lexer := lexerOf(name); lexer != nil {
				got = lexer.Config().Name
			}
			if got != want {
				t.Errorf("%.40q is %q, want %q", name, got, want)
			}
		}
	}
}

// TestLexersOfManyLanguages: a model can name any number of languages; the cache stays small and correct.
func TestLexersOfManyLanguages(t *testing.T) {
	for i := range 2 * maxFound {
		if lexer := lexerOf(fmt.Sprint("nope", i)); lexer != nil {
			t.Fatalf("nope%d has a lexer", i)
		}
	}
	if lexer := lexerOf("tf"); len(found.byName) > maxFound || lexer == nil || lexer.Config().Name != "Terraform" {
		t.Errorf("%d are kept, tf is %v", len(found.byName), lexer)
	}
}

// Each definition can be loaded, and the lexers that it uses exist.
func TestEveryLexerWorks(t *testing.T) {
	src := "#!/bin/sh\n$ echo 1\nRUN x\nall:\n\techo\n<script>var a = 1</script><style>a{b:c}</style>\n```go\nx\n```\n---\na: 1\n"
	for _, lexer := range lexerRegistry().Lexers {
		if ts := tints(lexer.Config().Name, src); ts == nil || int(ts[len(ts)-1].end) != len(src) {
			t.Errorf("%s gives %v", lexer.Config().Name, ts)
		}
	}
}

// While a fence is open each complete line is highlighted separately, and the last one not at all; the closed fence is
// highlighted as a whole.
func TestOpenFenceIsHighlightedByLines(t *testing.T) {
	var bg byHand
	m := NewMarkdown(60)
	m.Highlighter = bg.highlighter()
	src := "```go\nfunc a() {\n/* two\nfunc lines */\nreturn"
	for n := range len(src) + 1 {
		m.Grow([]byte(src[:n]))
		m.Show(0, len(m.Text.Bytes))
	}
	roles := func() string { return roleOf(&m.Text, "func") + " · " + roleOf(&m.Text, "return") }
	if got := roles(); got != "code code · code" || len(bg.work) != 1 {
		t.Errorf("before the work: %s, %d jobs", got, len(bg.work))
	}
	bg.do() // the first line, which came while nothing was in progress
	if got := roles(); got != "synKeyword code · code" || len(bg.work) != 1 {
		t.Errorf("after the first line: %s, %d jobs", got, len(bg.work))
	}
	bg.do()
	if got := roles(); got != "synKeyword synKeyword · code" || len(bg.work) != 0 {
		t.Errorf("after the lines: %s, %d jobs", got, len(bg.work))
	}
	src += "\n}\n```\n"
	m.Grow([]byte(src))
	m.Show(0, len(m.Text.Bytes))
	bg.do()
	if got := roles(); got != "synKeyword synComment · synKeyword" || len(bg.work) != 0 {
		t.Errorf("closed: %s, %d jobs", got, len(bg.work))
	}
	m.Finish([]byte(src))
	m.Show(0, len(m.Text.Bytes))
	if got := roles(); got != "synKeyword synComment · synKeyword" || len(bg.work) != 0 {
		t.Errorf("finished: %s, %d jobs: known code keeps its colours", got, len(bg.work))
	}
}

// A result for code that has moved is dropped.
func TestLateColoursAreDropped(t *testing.T) {
	var bg byHand
	m := NewMarkdown(60)
	m.Highlighter = bg.highlighter()
	src := []byte("<!-- a comment, as it turns out\n\n```go\nfunc a() {}\n```\n\n-->\n\n```\nfunc\n```\n")
	m.Grow(src)
	m.Show(0, len(m.Text.Bytes))
	if len(bg.work) == 0 {
		t.Fatal("no colours are asked for")
	}
	m.Finish(src)
	m.Show(0, len(m.Text.Bytes))
	want := describe(&m.Text)
	bg.do()
	if got := describe(&m.Text); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Line results do not replace the highlighting of the whole block.
func TestLinesDoNotUndoTheWhole(t *testing.T) {
	var bg byHand
	h := bg.highlighter()
	src := []byte("```go\n/*\nfunc */\n```\n")
	first := NewMarkdown(60)
	first.Highlighter = h
	first.Finish(src)
	first.Show(0, len(first.Text.Bytes))
	bg.do()
	m := NewMarkdown(60)
	m.Highlighter = h
	m.Grow(src[:len(src)-4])
	m.Show(0, len(m.Text.Bytes)) // requests lines
	m.Grow(src)                  // closes the fence; the code is cached
	m.Show(0, len(m.Text.Bytes))
	for len(bg.work) > 0 {
		bg.do()
	}
	if got := roleOf(&m.Text, "func"); got != "synComment" {
		t.Errorf("func is %s", got)
	}
}

// Only visible code of a long answer is highlighted, once.
func TestOnlyShownCodeIsHighlighted(t *testing.T) {
	var bg byHand
	m := NewMarkdown(60)
	m.Highlighter = bg.highlighter()
	for i := range 50 {
		m.Finish([]byte(strings.Repeat("text\n\n```go\nfunc a() {}\n```\n\n", i+1)))
	}
	if len(bg.work) != 0 {
		t.Fatalf("%d jobs before anything is shown", len(bg.work))
	}
	at := strings.Index(string(m.Text.Bytes[200:]), "func") + 200
	for range 3 {
		m.Show(at, at+30)
		for len(bg.work) > 0 {
			bg.do()
		}
	}
	roles := strings.Fields(roleOf(&m.Text, "func"))
	coloured := 0
	for _, r := range roles {
		if r == "synKeyword" {
			coloured++
		}
	}
	if len(roles) != 50 || coloured < 1 || coloured > 3 {
		t.Errorf("%d of %d blocks have colours", coloured, len(roles))
	}
	m.Show(0, len(m.Text.Bytes)) // the code is cached: no more work
	if got := roleOf(&m.Text, "func"); strings.Contains(got, "code") || len(bg.work) > 0 {
		t.Errorf("known code is not coloured at once: %s", got)
	}
}

func TestLongCodeStaysPlain(t *testing.T) {
	for name, code := range map[string]string{
		"lines": strings.Repeat("x := 1\n", maxTintedLines+1),
		"bytes": "x := \"" + strings.Repeat("a", maxTinted) + "\"\n",
	} {
		if ts := tints("go", code); ts != nil {
			t.Errorf("%s: %d tints", name, len(ts))
		}
	}
	if ts := tints("go", strings.Repeat("x := 1\n", 100)); ts == nil {
		t.Error("short code is plain")
	}
}

// Code that makes the expressions of a lexer slow is given up after a time limit.
func TestHostileCodeIsGivenUp(t *testing.T) {
	unclosed := strings.Repeat("\""+strings.Repeat("\\", 60)+"\n", 100) // 2^30 ways to match each line
	for lang, src := range map[string]string{"go": unclosed, "python": strings.Repeat("$((`", 4000) + "\n", "md": unclosed} {
		began := time.Now()
		tints(lang, src)
		if elapsed := time.Since(began); elapsed > time.Minute {
			t.Errorf("%s took %v", lang, elapsed)
		}
	}
}

// An answer has the same text with colours and without, and the roles of hostile runes stay.
func TestColoursLeaveTheTextAlone(t *testing.T) {
	langs := []string{"go", "py", "sh", "html", "md", "console", "json", "yaml", "diff", "dockerfile", "c", "sql", ""}
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		var doc strings.Builder
		for range 1 + rnd.IntN(5) {
			doc.WriteString(parts[rnd.IntN(len(parts))])
			code := strings.ReplaceAll(hostile(rnd, 1+rnd.IntN(80)), "`", "'")
			fmt.Fprintf(&doc, "\n```%s\n%s\n%s```\n\n", langs[rnd.IntN(len(langs))], goCode[:rnd.IntN(len(goCode))], code)
		}
		streamEqual(t, doc.String(), 1+rnd.IntN(50))
	}
}

// streamEqual compares a streamed answer with colours and without.
func streamEqual(t *testing.T, doc string, step int) {
	t.Helper()
	src := []byte(doc)
	plain, full, m := NewMarkdown(40), NewMarkdown(40), NewMarkdown(40)
	full.Highlighter, m.Highlighter = atOnce(), atOnce()
	for n := 0; n < len(src); {
		n = min(n+step, len(src))
		from, want := m.Grow(src[:n]), plain.Grow(src[:n])
		m.Show(0, len(m.Text.Bytes))
		check(t, &m.Text)
		if string(m.Text.Bytes) != string(plain.Text.Bytes) || from != want {
			t.Fatalf("%q gives\n%q from %d\nwant\n%q from %d", src[:n], m.Text.Bytes, from, plain.Text.Bytes, want)
		}
	}
	m.Finish(src)
	m.Show(0, len(m.Text.Bytes))
	plain.Finish(src)
	full.Finish(src)
	full.Show(0, len(full.Text.Bytes))
	check(t, &m.Text)
	if got, want := describe(&m.Text), describe(&full.Text); got != want || string(m.Text.Bytes) != string(plain.Text.Bytes) {
		t.Fatalf("%q gives\n%s\nwant\n%s", src, got, want)
	}
	for _, r := range []rune{'\u202e', '\x1b'} {
		if got, want := strings.Count(roleOf(&m.Text, Visible(r)), themes.Control.String()), strings.Count(roleOf(&plain.Text, Visible(r)), themes.Control.String()); got != want {
			t.Fatalf("%q: %d of %d are control", Visible(r), got, want)
		}
	}
}

func FuzzHighlight(f *testing.F) {
	f.Add("go", goCode, uint8(3))
	f.Add("py", "'''\n\\", uint8(1))
	f.Add("html", "<script>a</script", uint8(9))
	f.Add("md", "```go\nx\n```\n", uint8(9))
	f.Add("console", "$ a \x1b[31m\u202e\xff\r", uint8(2))
	f.Fuzz(func(t *testing.T, lang, code string, step uint8) {
		if len(code) > 500 || len(lang) > 20 {
			t.Skip("each line is highlighted, and each answer three times")
		}
		streamEqual(t, "~~~"+lang+"\n"+code+"\n~~~\n\nend\n", 1+int(step))
		if ts := tints(lang, code+"\n"); len(ts) > 0 && int(ts[len(ts)-1].end) > len(code)+1 {
			t.Errorf("tints end at %d of %d", ts[len(ts)-1].end, len(code)+1)
		}
	})
}

func BenchmarkHighlightLine(b *testing.B) {
	line := "\treturn fmt.Sprint(\"tax\", cents*19+0x1f) // rounds\n"
	lineTints("go", line)
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		lineTints("go", line)
	}
}

// BenchmarkHighlightBlock measures 2,000 lines in the worker.
func BenchmarkHighlightBlock(b *testing.B) {
	src := strings.Repeat(goCode, 2000/8)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		tints("go", src)
	}
}

// BenchmarkPlainBlock measures a block in a language without lexer.
func BenchmarkPlainBlock(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		tints("text", "some output\n")
	}
}

// BenchmarkTintBlock measures the work of the UI goroutine for a result.
func BenchmarkTintBlock(b *testing.B) {
	m := NewMarkdown(80)
	m.Highlighter = atOnce()
	m.Finish([]byte("```go\n" + strings.Repeat(goCode, 2000/8) + "```\n"))
	m.Show(0, len(m.Text.Bytes))
	block := m.blocks[0]
	b.ReportAllocs()
	for b.Loop() {
		m.Text.tint(block, block.lines, m.Highlighter.known[m.Text.codeOf(block.lang, block.lines)])
	}
}
