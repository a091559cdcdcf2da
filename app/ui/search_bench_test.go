package ui

import (
	"fmt"
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/agent/model"
)

// A search in 100 MB of conversation goes to its first match within 100 ms and counts all within a second, without
// blocking keys.
func BenchmarkSearch100MB(b *testing.B) {
	for _, text := range []string{"zebra crossing", "rounding Error"} {
		b.Run(strings.ReplaceAll(text, " ", "-"), func(b *testing.B) {
			x := goLive(b, 160, 50, hundredMB)
			var turns, keys, first, all []lag
			status := func() (text string) {
				x.do(func() { text = x.findStatus() })
				return text
			}
			x.turn = func(work func()) {
				end := begin(x.clock)
				work()
				turns = append(turns, end())
			}
			for b.Loop() {
				end := begin(x.clock)
				x.do(func() { x.u.v.conversation.Find(text) })
				found, now := false, ""
				for n := 0; ; n++ {
					if now = status(); !found && now != "searching" {
						found = true
						first = append(first, end())
					}
					if found && !strings.Contains(now, "+") {
						break
					}
					keys = append(keys, x.echo("ZQ"[n%2]))
				}
				all = append(all, end())
				if !strings.HasSuffix(now, " of 99") {
					b.Errorf("found %q, want 99", now)
				}
				x.do(func() { x.u.v.conversation.EndFind() })
				x.cable.typed <- []byte{0x15}
			}
			reportLags(b, first, "first", 50)
			reportLags(b, all, "all", 50)
			reportLags(b, turns, "turn", 100)
			reportLags(b, keys, "key", 50, 100)
		})
	}
}

// findStatus returns the search status on the lower border of the conversation.
func (x *liveUI) findStatus() string {
	left, top, w, h := x.u.v.conversation.GetRect()
	var row strings.Builder
	for i := range w {
		text, _, _ := x.screen.Get(left+i, top+h-1)
		row.WriteString(text)
	}
	said, _, _ := strings.Cut(strings.Trim(row.String(), "╰╯─┴┼└┘├┤ "), " ·")
	return said
}

// hundredMB fills a screen with answers and outputs; every 101st has a match.
func hundredMB(x *liveUI) {
	words := strings.Fields("the price of a book is truncated where it should be rounded so that tests of taxes and totals fail; see `tax.go` and **Sum** for more [of it](https://example.org/a) or not")
	text := func(n, size int) string {
		var t strings.Builder
		for i := n; t.Len() < size; i++ {
			t.WriteString(words[(i*i+n)%len(words)])
			t.WriteByte(" \n   "[i%5])
			if i%90 == 0 {
				t.WriteString("\n\n- item\n\n```go\nfunc Tax(cents int) int {\n\treturn (cents*19 + 50) / 100\n}\n```\n\n")
			}
		}
		if n%101 == 50 {
			t.WriteString(" zebra crossing, rounding Error ")
		}
		return t.String()
	}
	fill := []event.Event{event.SessionCreated{Cwd: "/src/shop", Target: "local", Model: "demo"}}
	for n := range 10_000 {
		call := fmt.Sprint("call", n)
		if n%2 == 0 {
			fill = append(fill, event.ToolRequested{CallID: call, Name: "run_shell"}, event.ToolResult{CallID: call, Name: "run_shell", Result: text(n, 10_000)})
			continue
		}
		fill = append(fill, event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: text(n, 10_000)}})
	}
	x.u.apply(x.envelopes(fill...))
}
