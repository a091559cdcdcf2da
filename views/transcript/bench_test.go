package transcript

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/views/draw"
	"buddy/views/viewtest"
)

// benchScreen only keeps cells, to measure drawing without a terminal.
type benchScreen struct {
	tcell.Screen
	w     int
	cells []benchCell
}

type benchCell struct {
	r  rune
	st tcell.Style
}

func (s *benchScreen) SetContent(x, y int, r rune, _ []rune, st tcell.Style) {
	s.cells[y*s.w+x] = benchCell{r, st}
}

func newBenchScreen() *benchScreen { return &benchScreen{w: 160, cells: make([]benchCell, 160*50)} }

const paragraph = "The rounding in `tax.go` **truncates** instead of rounding, so a price of 19.99 becomes 19.98; see [the rules](https://go.dev/blog).\n\n" +
	"```go\nfunc Tax(cents int) int {\n\treturn (cents*19 + 50) / 100\n}\n```\n\n- one item of a list, with a little text\n- and another one\n\n"

// longSession has about n bytes of text in blocks of 2 KB.
func longSession(n int) *viewtest.Session {
	s := &viewtest.Session{}
	answer := strings.Repeat(paragraph, 2000/len(paragraph))
	for size := 0; size < n; size += len(answer) + 6 {
		s.Feed(event.PromptSubmitted{Text: "prompt"}, viewtest.Say(answer))
	}
	return s
}

func drawn(b *testing.B, s *viewtest.Session) (*Conversation, *benchScreen) {
	c, screen := NewConversation(viewtest.Dark(b), keymap.Default()), newBenchScreen()
	c.SetRect(0, 0, 160, 50)
	c.Update(&s.State, state.Everything)
	c.Draw(screen)
	return c, screen
}

func BenchmarkDelta(b *testing.B) {
	for _, size := range []int{100 << 10, 10 << 20} {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			s := longSession(size)
			s.Feed(event.TaskStarted{ID: 1, Kind: event.MainTask})
			c, screen := drawn(b, s)
			text := strings.Repeat(paragraph, 10)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				at := i * 20 % (len(text) - 20)
				if at == 0 {
					s.Feed(viewtest.Say(text))
				}
				s.Feed(event.TextDelta{Text: text[at : at+20]})
				c.Update(&s.State, state.Conversation)
				c.Draw(screen)
			}
		})
	}
}

func BenchmarkResize10MB(b *testing.B) {
	c, screen := drawn(b, longSession(10<<20))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c.SetRect(0, 0, 160-i%2*40, 50)
		c.Draw(screen)
	}
}

func BenchmarkWheel10MB(b *testing.B) {
	c, screen := drawn(b, longSession(10<<20))
	b.ReportAllocs()
	for b.Loop() {
		c.Scroll(-draw.WheelRows)
		c.Draw(screen)
	}
}

// BenchmarkAnswer200KB streams an answer of 200 KB in deltas of 16 bytes, with a draw at each 2,000th.
func BenchmarkAnswer200KB(b *testing.B) {
	text := strings.Repeat(paragraph, 200<<10/len(paragraph))
	b.ReportAllocs()
	for b.Loop() {
		s := (&viewtest.Session{}).Feed(event.TaskStarted{ID: 1, Kind: event.MainTask}, event.PromptSubmitted{Text: "go"})
		c, screen := drawn(b, s)
		for i, n := 0, 1; i < len(text); i, n = i+16, n+1 {
			s.Feed(event.TextDelta{Text: text[i:min(i+16, len(text))]})
			c.Update(&s.State, state.Conversation)
			if n%2000 == 0 {
				c.Draw(screen)
			}
		}
		s.Feed(viewtest.Say(text), event.TaskFinished{ID: 1})
		c.Update(&s.State, state.Everything)
		c.Draw(screen)
	}
}

// BenchmarkAnswer200KBDrawnAlways draws at each delta: the worst case of a slow stream.
func BenchmarkAnswer200KBDrawnAlways(b *testing.B) {
	text := strings.Repeat(paragraph, 200<<10/len(paragraph))
	b.ReportAllocs()
	for b.Loop() {
		s := (&viewtest.Session{}).Feed(event.TaskStarted{ID: 1, Kind: event.MainTask}, event.PromptSubmitted{Text: "go"})
		c, screen := drawn(b, s)
		for i := 0; i < len(text); i += 16 {
			s.Feed(event.TextDelta{Text: text[i:min(i+16, len(text))]})
			c.Update(&s.State, state.Conversation)
			c.Draw(screen)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(text)/16), "ns/delta")
}

// BenchmarkSingleLine10MB draws one line of 10 MB as an answer, a prompt and output.
func BenchmarkSingleLine10MB(b *testing.B) {
	line := strings.Repeat("0123456789abcdef ", 10<<20/17)
	for name, ev := range map[string]event.Event{"answer": viewtest.Say(line), "prompt": event.PromptSubmitted{Text: line}, "unicode": viewtest.Say(strings.Repeat("日本語", 10<<20/9))} {
		b.Run(name, func(b *testing.B) {
			s := (&viewtest.Session{}).Feed(ev)
			b.ReportAllocs()
			for b.Loop() {
				drawn(b, s)
			}
		})
	}
	b.Run("output", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s := running("cat")
			o, screen := outputOf(b, s), newBenchScreen()
			o.SetRect(0, 0, 160, 50)
			for i := 0; i < len(line); i += 32 << 10 {
				printed(s, line[i:min(i+32<<10, len(line))])
				o.Draw(screen)
			}
		}
	})
	b.Run("answer streamed", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s := &viewtest.Session{}
			s.Feed(event.PromptSubmitted{Text: "go"})
			c, screen := drawn(b, s)
			for i := 0; i < len(line); i += 32 << 10 {
				s.Feed(event.TextDelta{Text: line[i:min(i+32<<10, len(line))]})
				c.Update(&s.State, state.Conversation)
				c.Draw(screen)
			}
		}
	})
}

func BenchmarkOutputLine(b *testing.B) {
	s := running("make")
	o, screen := outputOf(b, s), newBenchScreen()
	o.SetRect(0, 0, 160, 50)
	b.ReportAllocs()
	for b.Loop() {
		printed(s, "\x1b[32mok\x1b[0m  \tbuddy/views/markup\t0.123s\n")
		o.Draw(screen)
	}
}

// BenchmarkMemory measures the memory of the view for each byte of a transcript that was scrolled through.
func BenchmarkMemory(b *testing.B) {
	for _, size := range []int{200 << 10, 10 << 20} {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			s := longSession(size)
			if size == 200<<10 {
				s = (&viewtest.Session{}).Feed(viewtest.Say(strings.Repeat(paragraph, size/len(paragraph))))
			}
			var held float64
			for b.Loop() {
				c, screen := NewConversation(viewtest.Dark(b), keymap.Default()), newBenchScreen()
				c.SetRect(0, 0, 160, 50)
				before := heap()
				c.Update(&s.State, state.Everything)
				c.Draw(screen)
				for !c.view.top.before(anchor{0, 1}) {
					c.view.Page(-1)
					c.Draw(screen)
				}
				held = float64(heap()-before) / float64(size)
				runtime.KeepAlive(c)
				runtime.KeepAlive(screen)
			}
			b.ReportMetric(held, "B/byte")
		})
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
