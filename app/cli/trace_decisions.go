package cli

import (
	"cmp"
	"fmt"
	"io"

	"buddy/agent/event"
	"buddy/sessions/trace"
	"buddy/texts"
	"buddy/views/markup"
)

// shownDecisions limits the table of decisions; all that the trace holds are in its JSON.
const shownDecisions = 20

// printDecisions prints why the latest calls were made, and what decided about them.
func printDecisions(w io.Writer, all []trace.Decision) {
	shown := all[max(0, len(all)-shownDecisions):]
	rows := [][]string{{"event", "call", "confidence", "alternatives", "decided by", "reason"}}
	for _, d := range shown {
		rows = append(rows, []string{
			fmt.Sprint(d.Seq), markup.Shorten(d.Name+" "+d.What, 40), markup.Shorten(cmp.Or(d.Confidence, "–"), 12), fmt.Sprint(len(d.Alternatives)),
			markup.Shorten(cmp.Or(rulesOf(d.DecisionExplained), "–"), 60), markup.Shorten(cmp.Or(d.Reasoning, "–"), 120),
		})
	}
	title := "Decisions"
	if len(all) > len(shown) {
		title = fmt.Sprintf("Decisions (the latest %d)", len(shown))
	}
	table(w, title, rows)
}

// rulesOf returns the rules that decided about a call on one line.
func rulesOf(d event.DecisionExplained) string {
	return texts.Join(d.Rules, "; ", event.DecisionRule.Said)
}

// printExplained prints why the calls of a turn were made, and what decided about them, in full.
func printExplained(w io.Writer, t turnMessages) {
	if len(t.Decisions) == 0 {
		return
	}
	names := make(map[string]string)
	for _, m := range t.Answer {
		for _, c := range m.ToolCalls {
			names[c.ID] = c.Name
		}
	}
	_, _ = fmt.Fprint(w, "\ndecided\n")
	for _, d := range t.Decisions {
		_, _ = fmt.Fprintf(w, "[%s]\n", markup.Plain(cmp.Or(names[d.CallID], d.CallID)))
		line := func(name, text string) {
			if text != "" {
				_, _ = fmt.Fprintf(w, "%s: %s\n", name, markup.Plain(texts.OneLine(text)))
			}
		}
		line("reason, from its "+string(d.From), d.Reasoning)
		line("confidence", d.Confidence)
		for _, a := range d.Alternatives {
			line("alternative", a)
		}
		for _, r := range d.Rules {
			line("rule", r.Said())
		}
	}
}
