package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/instructions"
	"buddy/texts"
	"buddy/tools"
)

// sizesOf returns the parts of the context with their tokens, their sum, and the largest items.
func sizesOf(r *Runtime) (rows map[string]int, sum int, largest []share) {
	items, tokens := conversation.Items(r.tasks.tree.Main())
	parts, largest := contextSizes(r, items, tokens)
	rows = make(map[string]int)
	for _, p := range parts {
		rows[p.name] = p.tokens
		sum += p.tokens
	}
	return rows, sum, largest
}

// textOf formats sections as one text.
func textOf(all []Section) string {
	var b strings.Builder
	for _, s := range all {
		b.WriteString(s.Title + "\n")
		for _, f := range s.Facts {
			b.WriteString("  " + f.Label + ": " + f.Text + "\n")
		}
	}
	return b.String()
}

// The parts of the context add up to the size of the request, with and without calibration, and each part has its own
// size.
func TestContextSizesAddUpToTheRequest(t *testing.T) {
	const rules = "use tabs, never spaces; "
	for _, counted := range []bool{false, true} {
		t.Run(fmt.Sprintf("counted=%v", counted), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				say := uncounted
				if counted {
					say = says // its usage lowers every estimate
				}
				options := func(o *Options) {
					withWindow(100_000)(o)
					o.Tools = tools.NewRegistry(&finder{})
					o.Instructions = func(context.Context) (instructions.Set, error) {
						return ofProject(strings.Repeat(rules, 100)), nil
					}
				}
				s := start(t, options, say("", `c1 grep {"kind":"file_read","pattern":"match"}`), say("found"), hangs("…"))
				s.do(event.Submit{Text: "find it"})
				s.Send(event.Submit{Text: "and again " + strings.Repeat("x", 4000)})
				synctest.Wait()
				asked, _ := find[event.RequestStarted](s)
				rows, sum, largest := sizesOf(s.Runtime)
				if text := textOf(ContextUse(s.Runtime)); sum != asked.EstimatedTokens || !strings.Contains(text, "Used: "+texts.Count(sum)+" of 100k tokens") {
					t.Errorf("the parts have %d tokens, the request had %d, in\n%s", sum, asked.EstimatedTokens, text)
				}
				for _, part := range []string{"system prompt", "instruction files", "tools", "messages", "results"} {
					if rows[part] == 0 {
						t.Errorf("no row %q in %v", part, rows)
					}
				}
				if !counted && (rows["instruction files"] < 600 || rows["instruction files"] > 800 || rows["results"] < 900 || rows["messages"] < 1000) {
					t.Errorf("the rows are %v", rows)
				}
				if len(largest) < 3 || largest[0].name != "prompt and again "+strings.Repeat("x", 42)+"…" || largest[1].name != "grep match" || largest[2].name != "instruction file /w/AGENTS.md" {
					t.Errorf("the largest are %+v", largest)
				}
				s.Send(event.Cancel{})
				synctest.Wait()
				s.stop()
			})
		})
	}
}

// After an answer the header and the report agree on how full the context is: the answer counts.
func TestContextUsageCountsTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, withWindow(10_000), uncounted(strings.Repeat("word ", 2000)))
		s.do(event.Submit{Text: "tell me"})
		header, _ := find[event.ContextUsage](s)
		text := textOf(ContextUse(s.Runtime))
		if want := fmt.Sprintf("%s of 10k tokens (%d %%)", texts.Count(header.Estimated), header.Percent); header.Percent < 25 || !strings.Contains(text, want) {
			t.Errorf("the header has %+v, the report\n%s", header, text)
		}
		s.stop()
	})
}

// A summary and reminders have their own rows.
func TestContextSizesOfACompactedConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, withWindow(100_000), answers(8)...)
		for i := range 6 {
			s.do(prompt(i, 160))
		}
		s.do(event.Compact{})
		rows, sum, _ := sizesOf(s.Runtime)
		if rows["summary"] == 0 || sum != s.tasks.tree.Main().Tokens() {
			t.Errorf("the parts have %d tokens, the conversation has %d, in %v", sum, s.tasks.tree.Main().Tokens(), rows)
		}
		s.stop()
	})
}
