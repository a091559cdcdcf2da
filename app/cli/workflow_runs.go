package cli

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"buddy/agent/event"
	running "buddy/agent/workflow"
	"buddy/app/commands"
	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/app/headless"
	"buddy/app/show"
	"buddy/extensions/workflow"
	"buddy/sessions"
	"buddy/views/markup"
)

func (s *workflowCLI) run() *cobra.Command {
	c := &cobra.Command{
		Use:   "run NAME [INPUT=VALUE]...",
		Short: "run a workflow: its outputs on stdout, how far it is on stderr",
		Long: "run runs a workflow in a session of its own. Items of a list are separated by commas. Calls need the\n" +
			"approvals that they always need. Gates are asked on the terminal and denied without one; --approve all\n" +
			"passes them. buddy workflow resume continues an interrupted run.\n\n" +
			"It exits as exec does: 0 when the run has completed, 1 when it failed, 130 when it was cancelled.",
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

// fit returns what is wrong with the inputs of a workflow, before a session begins for it. What can't be
// found here is left to the session, which also knows the files of another machine.
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

// runFlags are those of commands that let a run go on.
func (s *workflowCLI) runFlags(c *cobra.Command) {
	p := c.Flags()
	p.BoolVar(&s.once.JSON, "json", false, "print every event as a line of JSON instead of the outputs")
	p.BoolVarP(&s.once.Quiet, "quiet", "q", false, "print nothing but errors, and limits that are lost, on stderr")
	p.Var((*timeFlag)(&s.once.Timeout), "timeout", "give up after so long: 90s, 5m, 1h or a number of seconds")
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
		Short:   "list the runs of workflows in this folder, the newest session first",
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

// runsOf reads the runs of a session. Those of a process that was killed count as paused.
func runsOf(store sessions.Store, id string) (*running.Book, error) {
	j, err := store.View(id)
	if err != nil {
		return nil, err
	}
	defer func() { _ = j.Close() }() // it is only read
	book := running.NewBook(nil, time.Now)
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
		Short:   "show the runs of workflows in a session, and the steps of one that has not ended",
		Example: "  buddy workflow status last",
	}, func(store sessions.Store, id string, _ []string) error {
		book, err := runsOf(store, id)
		if err != nil {
			return err
		}
		return s.print("%s", show.Answer{List: commands.RunList(book.Runs())})
	})
}

func (s *workflowCLI) resume() *cobra.Command {
	c := ofSession(&cobra.Command{
		Use:   "resume SESSION",
		Short: "continue a workflow run that was interrupted",
		Long: "resume repeats only what did not finish. Commands of a shell that still run, or have ended meanwhile,\n" +
			"are found again; before another call that may have had effects is made again you are asked.",
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
		Short:   "give up a workflow run that was interrupted; its changes stay",
		Example: "  buddy workflow cancel last",
	}, func(_ sessions.Store, id string, _ []string) error {
		return s.headless(event.CancelWorkflow{}, id)
	})
}
