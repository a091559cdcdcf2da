// Command evals measures how well a model solves small tasks with `buddy exec`. Each task runs in its own repository
// and home folder. Code, not another model, then judges the files and the session file.
//
//	make eval MODEL=anthropic ONLY="find-cause add-flag" RUNS=3
//
// A task is a file tasks/NAME.txtar, with the prompt, the approval mode and the files, and a judge in tasks.go. A
// task for small models is a single file small/NAME.txtar, which includes the expected result.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run runs the command: 0 if every task succeeded, 1 if one failed, 2 for wrong usage.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var o options
	fs := flag.NewFlagSet("evals", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&o.buddy, "buddy", "buddy", "the `program` to drive")
	fs.StringVar(&o.model, "model", "", "value of buddy's --model; without it, buddy chooses")
	fs.StringVar(&o.baseURL, "base-url", "", "value of buddy's --base-url")
	fs.StringVar(&o.config, "config", "", "settings `file` to use; without it, only a sandbox is set")
	only := fs.String("only", "", "`names` of tasks, separated by spaces; without it, all")
	small := fs.Bool("small", false, "run the tasks for small models")
	runs := fs.Int("runs", 1, "number of runs of each task")
	fs.IntVar(&o.turns, "max-turns", 30, "maximum number of turns per prompt")
	fs.DurationVar(&o.timeout, "timeout", 5*time.Minute, "time limit per prompt")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	from := tasks
	if *small {
		from = smallTasks()
	}
	chosen, err := choose(from, strings.Fields(*only))
	if err == nil && (*runs < 1 || fs.NArg() > 0) {
		err = errors.New("RUNS is at least 1, and there are no arguments but options")
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "evals:", err)
		return 2
	}
	h, err := newHarness(ctx, o)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "evals:", err)
		return 1
	}
	defer h.close()
	return h.all(ctx, chosen, *runs, stdout)
}

// choose returns the tasks with these names from a list, or all without names.
func choose(from []task, names []string) ([]task, error) {
	for _, name := range names {
		if !slices.ContainsFunc(from, func(t task) bool { return t.name == name }) {
			return nil, fmt.Errorf("there is no task %q", name)
		}
	}
	var chosen []task
	for _, t := range from {
		if len(names) == 0 || slices.Contains(names, t.name) {
			chosen = append(chosen, t)
		}
	}
	return chosen, nil
}

// all runs the tasks in order, prints a line for each and the totals, and returns the exit code.
func (h *harness) all(ctx context.Context, chosen []task, runs int, out io.Writer) int {
	_, _ = fmt.Fprintf(out, rowFormat, "task", "ok", "turns", "calls", "form", "denied", "broken", "in", "out", "seconds", "why not")
	var sum outcome
	var succeeded, done int
	var failed []string
	for _, t := range chosen {
		for n := range runs {
			if ctx.Err() != nil {
				break
			}
			o := h.do(ctx, t, n)
			done++
			sum.add(o)
			printRow(out, t.name, o)
			if o.err == nil {
				succeeded++
				continue
			}
			failed = append(failed, o.dir)
		}
	}
	cost := ""
	if sum.cost > 0 {
		cost = sum.cost.String() // of requests with a known price
	}
	ratio := fmt.Sprintf("%d/%d", succeeded, len(chosen)*runs)
	_, _ = fmt.Fprintf(out, rowFormat, "all", ratio, sum.turns, sum.calls, sum.form, sum.denied, sum.broken, sum.in, sum.out, seconds(sum.took), cost)
	for _, dir := range failed {
		_, _ = fmt.Fprintln(out, "kept:", dir)
	}
	if len(failed) > 0 || done < len(chosen)*runs {
		return 1
	}
	return 0
}

const rowFormat = "%-20s %5v %5v %5v %5v %6v %6v %8v %7v %7v  %s\n"

func printRow(out io.Writer, name string, o outcome) {
	ok, why := "yes", ""
	if o.err != nil {
		ok, why = "NO", strings.ReplaceAll(o.err.Error(), "\n", "; ")
	}
	_, _ = fmt.Fprintf(out, rowFormat, name, ok, o.turns, o.calls, o.form, o.denied, o.broken, o.in, o.out, seconds(o.took), why)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f", d.Seconds()) }
