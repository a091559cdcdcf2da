package cli

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"buddy/agent/event"
	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/app/headless"
	"buddy/app/show"
	"buddy/extensions/workflow"
	running "buddy/features/workflow"
	"buddy/sessions"
	"buddy/views/markup"
)

func (s *workflowCLI) run() *cobra.Command {
	c := &cobra.Command{
		Use:   "run NAME [INPUT=VALUE]...",
		Short: "run a workflow; outputs go to stdout, progress to stderr",
		Long: "run runs a workflow in its own session. Separate list items with commas. Calls need the usual\n" +
			"approvals. A gate asks on the terminal; without a terminal it is denied, unless you\n" +
			"use --approve all. buddy workflow resume continues an interrupted run.\n\n" +
			"Exit codes are those of exec: 0 if the run completed, 1 if it failed, 130 if it was cancelled.",
		Example: "  buddy workflow run code_review base=main\n" +
			"  buddy workflow run deployment version=v1.4.0 canary=web-1 rest=web-2,web-3",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: s.inputs,
		RunE: func(_ *cobra.Command, args []string) error {
			given, err := workflow.Given(args[1:])
			if err != nil {
				return exit.Usage("%v", err)
			}
			if err := s.fit(args[0], given); err != nil {
				return exit.Usage("%v", err)
			}
			return s.headless(event.RunWorkflow{Name: args[0], Inputs: given}, "")
		},
	}
	s.runFlags(c)
	return c
}

// fit checks a workflow's inputs before a session starts. All other errors, and workflows on another machine, are left
// to the session.
func (s *workflowCLI) fit(name string, given map[string]string) error {
	found, err := compose.WorkflowsHere(s.options)
	if err != nil {
		return err
	}
	if w, err := found.Find(name); err == nil {
		if _, err := w.Values(given); err != nil {
			return fmt.Errorf("workflow %s: %w", w.Name, err)
		}
	}
	return nil
}

// runFlags adds the flags of commands that continue a run.
func (s *workflowCLI) runFlags(c *cobra.Command) {
	p := c.Flags()
	p.BoolVar(&s.once.JSON, "json", false, "print every event as a line of JSON instead of the outputs")
	p.BoolVarP(&s.once.Quiet, "quiet", "q", false, "on stderr, print only errors, and warnings about restrictions that are not in effect")
	p.Var((*timeFlag)(&s.once.Timeout), "timeout", "stop after this time: 90s, 5m, 1h or a number of seconds")
}

func (s *workflowCLI) headless(c event.Command, session string) error {
	s.once.Resume = session
	return headless.RunWorkflow(s.options, s.once, c, s.out, s.err)
}

// inputs completes the name of a workflow, then its inputs.
func (s *workflowCLI) inputs(c *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return s.names(c, args, word)
	}
	return s.words(args), onlyThese | cobra.ShellCompDirectiveNoSpace
}

func (s *workflowCLI) runs() *cobra.Command {
	return &cobra.Command{
		Use:     "runs",
		Short:   "list this folder's workflow runs, newest session first",
		Example: "  buddy workflow runs",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			store, err := compose.Sessions()
			if err != nil {
				return exit.Failure(err)
			}
			all, err := store.List()
			if err != nil {
				return exit.Failure(err)
			}
			paused := false
			t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
			for _, e := range all {
				book, err := runsOf(store, e.ID)
				if err != nil {
					s.hint("session %s: %v", e.ID, err)
					continue
				}
				for _, r := range book.Runs() {
					paused = paused || r.State == event.WorkflowPaused
					_, _ = fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\n", e.ID, r.Run, markup.Inline(r.Name), markup.Inline(r.Status()), r.Began.Format(time.DateTime))
				}
			}
			if err := t.Flush(); err != nil || !paused {
				return err
			}
			s.hint("buddy workflow resume SESSION continues a paused run")
			return nil
		},
	}
}

// runsOf reads the runs of a session. Runs of a killed process count as paused.
func runsOf(store sessions.Store, id string) (*running.Book, error) {
	j, err := store.View(id)
	if err != nil {
		return nil, err
	}
	defer func() { _ = j.Close() }() // only read
	book := new(running.Book)
	var broken error
	err = j.Lines(func(l sessions.Line) bool {
		if l.Type != "" && !strings.HasPrefix(l.Type, "workflow.") {
			return true
		}
		env, err := l.Envelope()
		if err != nil {
			broken = err
			return true
		}
		book.Replay(env)
		return true
	})
	if err == nil && len(book.Runs()) == 0 {
		err = broken
	}
	owned, failed := sessions.Owned(store, id)
	if failed == nil && !owned {
		book.CutOff("its process has ended")
	}
	return book, errors.Join(err, failed)
}

func (s *workflowCLI) status() *cobra.Command {
	return ofSession(&cobra.Command{
		Use:     "status SESSION",
		Short:   "show a session's workflow runs, and the steps of an unfinished run",
		Example: "  buddy workflow status last",
	}, func(store sessions.Store, id string, _ []string) error {
		book, err := runsOf(store, id)
		if err != nil {
			return err
		}
		return s.print("%s", show.Answer{List: running.RunList(book.Runs())})
	})
}

func (s *workflowCLI) resume() *cobra.Command {
	c := ofSession(&cobra.Command{
		Use:   "resume SESSION",
		Short: "continue an interrupted workflow run",
		Long: "resume repeats only unfinished steps. It picks up shell commands that are still running or have\n" +
			"ended since, and asks before it repeats any other call that may have had effects.",
		Example: "  buddy workflow resume last",
	}, func(_ sessions.Store, id string, _ []string) error {
		return s.headless(event.ResumeWorkflow{}, id)
	})
	s.runFlags(c)
	return c
}

func (s *workflowCLI) cancel() *cobra.Command {
	return ofSession(&cobra.Command{
		Use:     "cancel SESSION",
		Short:   "cancel an interrupted workflow run; its changes stay",
		Example: "  buddy workflow cancel last",
	}, func(_ sessions.Store, id string, _ []string) error {
		return s.headless(event.CancelWorkflow{}, id)
	})
}
