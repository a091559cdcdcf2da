package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"buddy/agent/model"
	"buddy/app/exit"
	"buddy/sessions"
	"buddy/sessions/trace"
	"buddy/views/markup"
)

func (s *cli) traceCommand() *cobra.Command {
	turn, audit := 0, false
	c := ofSession(&cobra.Command{
		Use:   "trace ID",
		Short: "show where a session spent time, tokens and money",
		Long: "trace summarizes a session: its exchanges with turns, tokens and costs; the time for waiting,\n" +
			"streaming and tools; why the latest calls were made and how each was decided; the slowest\n" +
			"calls; and the failures. Calls that ran in parallel are each counted in full.\n" +
			"You can shorten an ID to its first characters, as long as they are unique; last is the\n" +
			"session used last. With --turn, it shows the messages of one turn as the session file has them,\n" +
			"with the answer and the decisions. With --audit, it lists the latest 10,000 calls: time, how\n" +
			"each was decided, who approved or denied it and where, and the outcome. The system prompt,\n" +
			"the tool list and temporary reminders are not in session files.",
		Example: "  buddy trace last\n  buddy trace 7f3a --turn 12\n  buddy trace last --audit\n  buddy trace 7f3a --json | jq .totals",
	}, func(store sessions.Store, id string, args []string) error {
		switch {
		case turn != 0 && audit:
			return exit.Usage("--turn and --audit can't be combined")
		case turn != 0:
			return traceTurn(s, store, id, turn)
		case audit:
			return traceAudit(s, store, id)
		}
		return s.trace(store, id, args)
	})
	c.Flags().BoolVar(&audit, "audit", false, "list all calls with decisions and outcomes")
	c.Flags().IntVar(&turn, "turn", 0, "show the messages of this turn `number`")
	s.jsonFlag(c, "print one JSON object")
	return c
}

func (s *cli) trace(store sessions.Store, id string, _ []string) error {
	j, err := store.View(id)
	if err != nil {
		return err
	}
	defer func() { _ = j.Close() }()
	t, err := traceOf(j)
	if err != nil {
		return err
	}
	if s.json {
		return s.encode(struct {
			ID string `json:"id"`
			*trace.Trace
		}{id, t})
	}
	var b strings.Builder
	printTrace(&b, id, t)
	return s.print("%s", strings.TrimSuffix(b.String(), "\n"))
}

// traceOf reads a session in one pass, a line at a time. It skips unreadable lines.
func traceOf(j *sessions.Journal) (*trace.Trace, error) {
	t := &trace.Trace{}
	err := j.Lines(func(l sessions.Line) bool {
		if trace.Needs(l.Type) {
			if env, err := l.Envelope(); err == nil {
				t.Add(env)
			}
		}
		return true
	})
	return t, err
}

// printTrace prints tables, with text of any length in the last column.
func printTrace(w io.Writer, id string, t *trace.Trace) {
	n := t.Totals
	table(w, "", [][]string{
		{"session", id},
		{"time", time.UnixMilli(t.First).Format("2006-01-02 15:04:05") + " to " + time.UnixMilli(t.Last).Format("2006-01-02 15:04:05")},
		{"exchanges", fmt.Sprintf("%d with %d turns, %d requests, %d retries", t.Count, n.Turns, n.Requests, n.Retries)},
		{"tokens", fmt.Sprintf("%d in (%d cached), %d out", n.Prompt, n.Cached, n.Completion)},
		{"cost", costText(n)},
		{"model", "waited " + durationText(n.Wait) + ", streamed " + durationText(n.Stream)},
		{"tools", fmt.Sprintf("%s in %d calls, %d failed", durationText(n.Tools), n.Calls, n.Failed)},
		{"approvals", fmt.Sprintf("waited %s for %d, %d denied", durationText(n.Approvals), n.Asked, n.Denied)},
	})
	rows := [][]string{{"#", "turns", "calls", "in", "cached", "out", "cost", "took", "wait", "stream", "tools", "approval", "outcome", "prompt"}}
	for _, x := range t.Exchanges {
		rows = append(rows, []string{
			fmt.Sprint(x.Number), fmt.Sprint(x.Turns), fmt.Sprint(x.Calls), fmt.Sprint(x.Prompt), fmt.Sprint(x.Cached), fmt.Sprint(x.Completion),
			costText(x.Counts), durationText(x.Took), durationText(x.Wait), durationText(x.Stream), durationText(x.Tools), durationText(x.Approvals), cmp.Or(x.Outcome, "open"), markup.Shorten(x.Text, 60),
		})
	}
	title := "Exchanges"
	if left := t.Count - len(t.Exchanges); left > 0 {
		title = fmt.Sprintf("Exchanges (the latest %d of %d)", len(t.Exchanges), t.Count)
	}
	table(w, title, rows)
	printTurns(w, t)
	rows = [][]string{{"requests", "in", "cached", "out", "cost", "for", "model"}}
	for _, u := range t.Requests {
		rows = append(rows, []string{
			fmt.Sprint(u.Requests), fmt.Sprint(u.Prompt), fmt.Sprint(u.Cached), fmt.Sprint(u.Completion), money(u.Cost),
			cmp.Or(string(u.For), "answer"), cmp.Or(u.Model, "–"),
		})
	}
	table(w, "Requests", rows)
	rows = [][]string{{"#", "turns", "checks", "cost", "took", "state", "goal"}}
	for _, g := range t.Goals {
		rows = append(rows, []string{
			fmt.Sprint(g.Number), fmt.Sprint(g.Used.Turns), fmt.Sprint(g.Checks), g.Used.Cost.String(), durationText(g.Used.TimeMS),
			markup.Shorten(strings.TrimSuffix(g.State+": "+g.Reason, ": "), 60), markup.Shorten(g.Text, 60),
		})
	}
	table(w, "Goals", rows)
	printDecisions(w, t.Decisions)
	rows = [][]string{{"calls", "failed", "tokens", "took", "longest", "tool"}}
	for _, u := range t.Tools {
		rows = append(rows, []string{fmt.Sprint(u.Calls), fmt.Sprint(u.Failed), fmt.Sprint(u.Tokens), durationText(u.Took), durationText(u.Max), u.Name})
	}
	table(w, "Tools", rows)
	rows = [][]string{{"took", "event", "call"}}
	for _, c := range t.Slowest {
		rows = append(rows, []string{durationText(c.Took), fmt.Sprint(c.Seq), markup.Shorten(c.Name+" "+c.What, 100)})
	}
	table(w, "Slowest calls", rows)
	rows = [][]string{{"time", "event", "what"}}
	for _, f := range t.Failures {
		rows = append(rows, []string{time.UnixMilli(f.Time).Format("15:04:05"), f.Type, markup.Shorten(f.Text, 120)})
	}
	title = "Failures"
	if t.Failed > len(t.Failures) {
		title = fmt.Sprintf("Failures (the latest %d of %d)", len(t.Failures), t.Failed)
	}
	table(w, title, rows)
}

// table prints rows with aligned columns under a title. In a table with a title, the first row is a header. A header
// without rows below it is not printed.
func table(w io.Writer, title string, rows [][]string) {
	if title != "" {
		if len(rows) < 2 {
			return
		}
		_, _ = fmt.Fprintf(w, "\n%s\n", title)
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		for i, cell := range r {
			r[i] = strings.NewReplacer("\t", " ", "\n", " ", "\v", " ", "\f", " ").Replace(cell)
		}
		_, _ = fmt.Fprintln(tab, strings.Join(r, "\t"))
	}
	_ = tab.Flush() // into memory
}

func durationText(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case ms == 0:
		return "–"
	case ms < 1000:
		return fmt.Sprintf("%d ms", ms)
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// money formats a cost, a dash if unknown.
func money(m model.Money) string {
	if m == 0 {
		return "–"
	}
	return m.String()
}

// costText formats the known cost.
func costText(c trace.Counts) string {
	switch {
	case c.Cost == 0 && c.Unpriced > 0:
		return "–"
	case c.Unpriced > 0:
		return fmt.Sprintf("%s and %d requests without a price", model.Money(c.Cost), c.Unpriced)
	}
	return model.Money(c.Cost).String()
}
