package agent

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/agent/instructions"
	"buddy/tools"
)

var sizeRow = regexp.MustCompile(`(?m)^  ([a-z ]+?) +(\d+) +[\d.]+ %$`)

// sizesOf returns the rows of a report about the context, and their sum.
func sizesOf(t *testing.T, report string) (rows map[string]int, sum int) {
	t.Helper()
	rows = make(map[string]int)
	for _, m := range sizeRow.FindAllStringSubmatch(report, -1) {
		n, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		rows[m[1]] = n
		sum += n
	}
	return rows, sum
}

// The parts of the context add up to the size of the request that was sent, corrected by what the provider counted or
// not, and each part is what it says.
func TestContextSizesAddUpToTheRequest(t *testing.T) {
	const rules = "use tabs, never spaces; "
	for _, counted := range []bool{false, true} {
		t.Run(fmt.Sprintf("counted=%v", counted), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				say := untold
				if counted {
					say = says // whose usage makes every estimate smaller
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
				s.Send(event.Report{What: event.ReportContext})
				synctest.Wait()
				told, _ := find[event.Notice](s)
				rows, sum := sizesOf(t, told.Text)
				if sum != asked.EstimatedTokens || !strings.Contains(told.Text, fmt.Sprintf("about %d tokens", sum)) {
					t.Errorf("the parts have %d tokens, the request had %d, in\n%s", sum, asked.EstimatedTokens, told.Text)
				}
				for _, part := range []string{"system prompt", "instruction files", "tools", "messages", "results"} {
					if rows[part] == 0 {
						t.Errorf("no row %q in\n%s", part, told.Text)
					}
				}
				if !counted && (rows["instruction files"] < 600 || rows["instruction files"] > 800 || rows["results"] < 900 || rows["messages"] < 1000) {
					t.Errorf("the rows are %v", rows)
				}
				_, largest, _ := strings.Cut(told.Text, "largest:\n")
				lines := strings.Split(largest, "\n")
				if !strings.HasSuffix(lines[0], "prompt and again "+strings.Repeat("x", 42)+"…") || !strings.HasSuffix(lines[1], "grep match") || !strings.HasSuffix(lines[2], "instruction file /w/AGENTS.md") {
					t.Errorf("the largest are\n%s", largest)
				}
				s.Send(event.Cancel{})
				synctest.Wait()
				s.stop()
			})
		})
	}
}

// After an answer the header and the report about the context say the same of how full it is: the answer counts.
func TestContextUsageCountsTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, withWindow(10_000), untold(strings.Repeat("word ", 2000)))
		s.do(event.Submit{Text: "tell me"})
		header, _ := find[event.ContextUsage](s)
		s.do(event.Report{What: event.ReportContext})
		told, _ := find[event.Notice](s)
		if want := fmt.Sprintf("about %d tokens, %d%% of the window", header.Estimated, header.Percent); header.Percent < 25 || !strings.Contains(told.Text, want) {
			t.Errorf("the header has %+v, the report\n%s", header, told.Text)
		}
		s.stop()
	})
}

// A summary and reminders have rows of their own.
func TestContextSizesOfACompactedConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, withWindow(100_000), answers(8)...)
		for i := range 6 {
			s.do(prompt(i, 160))
		}
		s.do(event.Compact{})
		s.do(event.Report{What: event.ReportContext})
		told, _ := find[event.Notice](s)
		rows, sum := sizesOf(t, told.Text)
		if rows["summary"] == 0 || sum != s.tasks.tree.Main().Tokens() {
			t.Errorf("the parts have %d tokens, the conversation has %d, in\n%s", sum, s.tasks.tree.Main().Tokens(), told.Text)
		}
		s.stop()
	})
}
