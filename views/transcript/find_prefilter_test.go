package transcript

import (
	"math/rand/v2"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/state"
	"buddy/views/pattern"
	"buddy/views/viewtest"
)

// Blocks that the prefilter rejects have no match when they are laid out.
func TestPrefilter(t *testing.T) {
	pieces := []string{
		"ta", "x", "Tax", "rate", "t", "a", " ", " ", "\n", "\n\n", "*", "**", "_", "~~", "`", "[", "](u)", "](u(v))", "](u \"t\")", "][1]", "![", "<b>", "</b>",
		"<http://ta.x>", "&#116;", "&amp;", "&shy;", "&ZeroWidthSpace;", "\\", "\\u0074", "\\u003c", "\r", "\r\n", "\b", "\x1b[32m", "\x1b[K", "\x1b[1;3", "\u00ad",
		"\u200b", "\u212a", "\u017f", "é", "- ", "1. ", "> ", "| a | b |\n|---|---|\n| t | ax |\n", "```\n", "    ", "image: ", "\x07", "# ", "\t", ":", "%74", "(", ")",
		`{"a":"t`, `\n`, `"}`, "task", "taxes", "s", "K",
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	held := 0
	for n := range 10_000 {
		var b strings.Builder
		for range 1 + rnd.IntN(25) {
			b.WriteString(pieces[rnd.IntN(len(pieces))])
		}
		text := b.String()
		s := &viewtest.Session{}
		switch n % 5 {
		case 0:
			s.Feed(viewtest.Say(text))
		case 1:
			s.Feed(event.PromptSubmitted{Text: text})
		case 2:
			s.Feed(event.ToolRequested{CallID: "a", Name: "run_shell", Arguments: `{"x":1}`}, event.ToolStarted{CallID: "a"}, event.ToolResult{CallID: "a", Tail: text, Result: "fine"})
		case 3:
			s.Feed(event.ToolRequested{CallID: "a", Name: "read"}, event.ToolResult{CallID: "a", Result: text})
		case 4: // only the end of the output is kept
			full := &action.FullOutput{Path: "/s/out/task rate", Bytes: int64(len(text)) + 1000}
			s.Feed(event.ToolRequested{CallID: "a", Name: "run_shell", Arguments: `{"x":1}`}, event.ToolStarted{CallID: "a"}, event.ToolResult{CallID: "a", Tail: text, Result: "fine", FullOutput: full})
		}
		for _, query := range []string{"tax", "tax rate", "Tax", "x", "task", "ta", "go to tax.go"} {
			c := NewConversation(viewtest.Dark(t), nil)
			c.Update(&s.State, state.Everything)
			f := finder{Pattern: pattern.New(query)}
			f.prefilter = pattern.NewPrefilter(&f.Pattern)
			c.find = f
			for i, v := range c.view.blocks {
				if !f.surelyLacks(v) {
					continue
				}
				held++
				for part, off := range c.find.matches(&c.view, i) {
					t.Fatalf("%q is held back from %q, but matches in part %d at %d", text, query, part, off)
				}
			}
		}
	}
	if held < 7_000 {
		t.Errorf("only %d blocks were held back", held)
	}
}
