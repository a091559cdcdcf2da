package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"buddy/agent/event"
	"buddy/sessions"
	"buddy/sessions/trace"
	"buddy/texts"
	"buddy/views/markup"
)

// shownDecisions limits the table of decisions; the JSON has all.
const shownDecisions = 20

// printDecisions prints the reasons for the latest calls, and what decided about them.
func printDecisions(w io.Writer, all []trace.Decision) {
	shown := all[max(0, len(all)-shownDecisions):]
	rows := [][]string{{"event", "call", "confidence", "alternatives", "decided by", "reason"}}
	for _, d := range shown {
		rows = append(rows, []string{
			fmt.Sprint(d.Seq), markup.Shorten(d.Name+" "+d.What, 40), markup.Shorten(cmp.Or(d.Confidence, "–")+starOf(&d.DecisionExplained), 12), fmt.Sprint(len(d.Alternatives)),
			markup.Shorten(cmp.Or(rulesOf(d.DecisionExplained), "–"), 60), markup.Shorten(cmp.Or(d.Reasoning, "–"), 120),
		})
	}
	title := "Decisions"
	if slices.ContainsFunc(shown, func(d trace.Decision) bool { return starOf(&d.DecisionExplained) != "" }) {
		defer func() { _, _ = fmt.Fprintln(w, "* computed from the policy, because the model stated no confidence") }()
	}
	if len(all) > len(shown) {
		title = fmt.Sprintf("Decisions (the latest %d)", len(shown))
	}
	table(w, title, rows)
}

// starOf returns a star for a confidence that buddy computed.
func starOf(d *event.DecisionExplained) string {
	if d.Own(event.ComputedConfidence) != "" {
		return "*"
	}
	return ""
}

// rulesOf lists on one line the rules that decided about a call.
func rulesOf(d event.DecisionExplained) string {
	return texts.Join(d.Rules, "; ", event.DecisionRule.Said)
}

// printExplained prints the reasons for the calls of a turn, and what decided about them, in full.
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
		if d.From == event.FromPolicy {
			line("reason, from the policy", d.Reasoning)
		} else {
			line("reason, from its "+string(d.From), d.Reasoning)
		}
		line("confidence"+d.Own(event.ComputedConfidence), d.Confidence)
		for _, a := range d.Alternatives {
			line("alternative"+d.Own(event.ComputedAlternatives), a)
		}
		for _, r := range d.Rules {
			line("rule", r.Said())
		}
	}
}

// traceAudit lists the calls of a session with the decisions about them.
func traceAudit(s *cli, store sessions.Store, id string) error {
	j, err := store.View(id)
	if err != nil {
		return err
	}
	defer func() { _ = j.Close() }()
	a := &trace.Audit{Calls: []*trace.AuditCall{}}
	err = j.Lines(func(l sessions.Line) bool {
		if trace.Audits(l.Type) {
			if env, err := l.Envelope(); err == nil {
				a.Add(env)
			}
		}
		return true
	})
	if err != nil {
		return err
	}
	if s.json {
		return s.encode(struct {
			ID string `json:"id"`
			*trace.Audit
		}{id, a})
	}
	var b strings.Builder
	printAudit(&b, a)
	return s.print("%s", strings.TrimSuffix(b.String(), "\n"))
}

// printAudit prints a line for each call.
func printAudit(w io.Writer, a *trace.Audit) {
	rows := [][]string{{"time", "event", "outcome", "exit", "by", "decided by", "call"}}
	for _, c := range a.Calls {
		code, by := "–", cmp.Or(c.By, "–")
		if c.ExitCode != nil {
			code = fmt.Sprint(*c.ExitCode)
		}
		if c.Screen != "" {
			by += " (" + c.Screen + ")"
		}
		on := ""
		if c.Target != "" && c.Target != "local" {
			on = " on " + c.Target
		}
		rows = append(rows, []string{
			time.UnixMilli(c.Time).Format("2006-01-02 15:04:05"), fmt.Sprint(c.Seq), c.Outcome(), code, markup.Shorten(by, 40),
			markup.Shorten(cmp.Or(rulesOf(event.DecisionExplained{Rules: c.Rules}), "–"), 60), markup.Shorten(c.Name+" "+c.What+on, 100),
		})
	}
	if len(rows) == 1 {
		_, _ = fmt.Fprintln(w, "no calls")
		return
	}
	if a.Count > len(a.Calls) {
		_, _ = fmt.Fprintf(w, "the latest %d of %d calls\n", len(a.Calls), a.Count)
	}
	table(w, "", rows)
}
