package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"buddy/app/compose"
	"buddy/app/dashboard"
	"buddy/app/dashboard/watch"
	"buddy/app/exit"
	"buddy/app/fullscreen"
)

// listTime limits the wait for the session lists of other machines.
const listTime = 40 * time.Second

func dashboardCommand(s *cli) *cobra.Command {
	var on []string
	follow := false
	c := &cobra.Command{
		Use:   "dashboard",
		Short: "show all running sessions, and answer those that are waiting",
		Long: "dashboard shows the running sessions of all folders on one screen: those that wait for you first,\n" +
			"then failed, working and idle ones. Enter attaches to a session, and detaching returns to the\n" +
			"dashboard. In the list, a answers an approval or a question, n starts a session, and x stops one.\n" +
			"With --on, it also shows the sessions on other machines, over one ssh connection to each.\n" +
			"With --watch, it prints a line of JSON for each change of a session, for status bars and scripts;\n" +
			"\"gone\": true marks a session that has ended.",
		Example: "  buddy dashboard\n  buddy dashboard --on web-02 --on web-03\n  buddy dashboard --json | jq -r 'select(.group == \"waiting for you\").title'",
		Args:    cobra.NoArgs,
		RunE: func(_ *cobra.Command, _ []string) error {
			switch {
			case s.json && follow:
				return exit.Usage("--json and --watch can't be combined")
			case s.json:
				return listSessions(s, on)
			case follow:
				return watchSessions(s, on)
			}
			if err := compose.ByPerson(); err != nil {
				return err
			}
			return fullscreen.Dashboard(s.options, on)
		},
	}
	s.jsonFlag(c, "print JSON, one object per session, and exit")
	c.Flags().BoolVar(&follow, "watch", false, "print a line of JSON for every change, until Ctrl+C or the end of the pipe")
	c.Flags().StringSliceVar(&on, "on", nil, "also show the sessions on this `host`, over ssh; may be repeated")
	return c
}

// listSessions prints all sessions once.
func listSessions(s *cli, on []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), listTime)
	defer cancel()
	t := watch.Open(ctx, on, true)
	t.Await(ctx)
	all, notes := t.Sessions(), t.Notes()
	t.Close()
	for _, note := range notes {
		s.hint("%s", note)
	}
	return buffered(s, func() error {
		for _, one := range all {
			if err := s.encode(one); err != nil {
				return err
			}
		}
		return nil
	})
}

// watchSessions prints each session, and prints it again after each change, until a signal arrives or the reader of
// stdout is gone.
func watchSessions(s *cli, on []string) error {
	ctx, stop := exit.UntilEnded()
	defer stop()
	ctx, end := context.WithCancel(ctx)
	defer end()
	go awaitClosed(s.out, end)
	t := watch.Open(ctx, on, false)
	defer t.Close()
	t.Await(ctx)
	printed, hints := make(map[string][]byte), ""
	for {
		if err := printChanges(s, t.Sessions(), printed); err != nil {
			return brokenPipe(err)
		}
		for _, note := range t.Notes() {
			if note != hints {
				s.hint("%s", note)
				hints = note
			}
		}
		select {
		case <-t.Changed():
		case <-ctx.Done():
			if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
				return cause
			}
			return nil
		}
	}
}

// brokenPipe returns nil for the error that a write to a pipe without a reader returns, because that is a normal end.
func brokenPipe(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}

// printChanges prints the sessions that have changed since they were printed, and the sessions that are gone. printed
// maps the keys of sessions to the JSON that was last printed for them.
func printChanges(s *cli, all []dashboard.Session, printed map[string][]byte) error {
	there := make(map[string]bool, len(all))
	for _, one := range all {
		key := one.Key()
		there[key] = true
		text, err := json.Marshal(one)
		if err != nil {
			return err
		}
		if bytes.Equal(text, printed[key]) {
			continue
		}
		printed[key] = text
		if err := s.encode(one); err != nil {
			return err
		}
	}
	for key, text := range printed {
		if there[key] {
			continue
		}
		delete(printed, key)
		var last dashboard.Session
		if err := json.Unmarshal(text, &last); err != nil {
			return err
		}
		last.Gone = true
		if err := s.encode(last); err != nil {
			return err
		}
	}
	return nil
}

// awaitClosed calls end when the reader of a pipe is gone. It polls the pipe, because a failing write would not show
// this while nothing changes and nothing is written.
func awaitClosed(out *os.File, end func()) {
	poll := []unix.PollFd{{Fd: int32(out.Fd())}} //nolint:gosec // a descriptor fits
	for {
		n, err := unix.Poll(poll, -1)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err == nil && n > 0 && poll[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0 {
			end()
		}
		return
	}
}
