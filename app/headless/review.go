package headless

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"time"

	"buddy/agent/event"
	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/app/plain"
	"buddy/app/slash"
	"buddy/texts"
	"buddy/views/markup"
)

// NoReview is the exit code of a review without a result, whatever the reason.
const NoReview = exit.BadUsage

// Review reviews the difference to a base. The result goes to stdout, everything else to stderr. The error has exit
// code 1 only if there are findings at or above failOn.
func Review(f *compose.Options, once Options, base string, failOn event.Severity, as ReviewFormat, stdout, stderr *os.File) error {
	f.Headless = true
	d, err := compose.NewDestination(f)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }() // an error does not change the result
	p, err := composeOnce(f, once, d, nil, stderr)
	if err != nil {
		return noReview(err)
	}
	ctx, stop := exit.UntilEnded()
	defer stop()
	events, err := p.Begin(ctx)
	if err != nil {
		p.Close(stderr)
		return noReview(err)
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	var end <-chan time.Time // nil is never
	if once.Timeout > 0 {
		end = time.After(once.Timeout)
	}
	l := &line{
		program: p,
		Remarks: plain.Remarks{Send: p.Live.Send, Target: p.Dest.Name, Err: stderr, Prefix: "buddy: ", Reword: slash.OnCommandLine, Quiet: once.Quiet},
	}
	p.Live.Send(event.Review{Base: base})
	done, err := l.reviewed(events, interrupts, end)
	if ctx.Err() != nil {
		p.Desert(stderr)
		return noReview(ctx.Err())
	}
	p.End(stderr, once.Said(stderr))
	if err != nil {
		return err
	}
	done.Findings = append([]event.Finding{}, done.Findings...)
	for i := range done.Findings {
		done.Findings[i].FileSum, done.Findings[i].LineSum = "", "" // used in a session only
	}
	switch err := printResult(stdout, as, p.ID, failOn, done); {
	case err != nil:
		return noReview(err)
	case done.Problem != "":
		text := "the review failed: " + done.Problem
		if done.Answer != "" && as != ReviewGitHub { // an annotation has the answer: a line of it could be a command
			text += "\nthe model said: " + done.Answer
		}
		return exit.Error{Code: NoReview, Text: text}
	case slices.ContainsFunc(done.Findings, func(f event.Finding) bool { return fails(f, failOn) }):
		return exit.Error{Code: exit.Failed}
	}
	return nil
}

// noReview returns err with the exit code NoReview, because the code of a failure would mean findings.
func noReview(err error) error { return exit.Error{Code: NoReview, Text: err.Error()} }

// reviewed handles events until the review is finished, and returns its result.
func (l *line) reviewed(events <-chan event.Envelope, interrupts <-chan os.Signal, end <-chan time.Time) (event.ReviewFinished, error) {
	for {
		select {
		case <-interrupts:
			return event.ReviewFinished{}, exit.Error{Code: exit.Cancelled}
		case <-end:
			return event.ReviewFinished{}, exit.Error{Code: NoReview, Text: "stopped: the timeout has expired"}
		case env, open := <-events:
			if !open {
				return event.ReviewFinished{}, exit.Error{Code: NoReview, Text: "the session ended before the review did"}
			}
			switch p := env.Payload.(type) {
			case event.ReviewFinished:
				return p, nil
			case event.Error:
				l.Remark(p)
				if p.Code == event.BadCommand {
					return event.ReviewFinished{}, exit.Error{Code: NoReview}
				}
			default:
				if env.Branch != 0 {
					l.handleParallel(env)
				} else {
					l.Remark(p)
				}
			}
		}
	}
}

// printResult prints the result in a format.
func printResult(out *os.File, as ReviewFormat, session string, failOn event.Severity, done event.ReviewFinished) error {
	switch as {
	case ReviewJSON:
		return printReview(out, session, failOn, done)
	case ReviewGitHub:
		return printAnnotations(out, done)
	case ReviewSARIF:
		return printSARIF(out, done)
	case ReviewJUnit:
		return printJUnit(out, failOn, done)
	}
	return printFindings(out, done)
}

// printFindings prints a line for each finding.
func printFindings(out *os.File, done event.ReviewFinished) error {
	for _, f := range done.Findings {
		if _, err := fmt.Fprintln(out, markup.Plain(f.String())); err != nil {
			return err
		}
	}
	return nil
}

// printReview prints the result as one JSON document.
func printReview(out *os.File, session string, failOn event.Severity, done event.ReviewFinished) error {
	counts := make(map[event.Severity]int)
	for _, s := range append([]event.Severity{event.SeverityUnknown}, event.Severities...) {
		counts[s] = 0
	}
	for _, f := range done.Findings {
		counts[f.Severity]++
	}
	result := map[string]any{
		"session": session, "base": done.Base, "of": done.Of, "commit": done.Commit, "target": done.Target, "files": done.Files, "diff_cut": done.DiffCut, "counts": counts,
		"fail_on": failOn, "findings": done.Findings, "tokens_in": done.Usage.Prompt, "tokens_out": done.Usage.Completion, "cost_usd": float64(done.Cost) / 1e6,
	}
	if done.Problem != "" {
		result["error"], result["answer"] = done.Problem, done.Answer
	}
	data, err := json.MarshalIndent(result, "", "  ")
	if err == nil {
		_, err = out.Write(append(texts.PrintableJSON(data), '\n'))
	}
	return err
}
