package fullscreen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"buddy/app/compose"
	"buddy/app/dashboard"
	"buddy/app/dashboard/watch"
	"buddy/app/exit"
	"buddy/app/host"
	"buddy/app/input"
	"buddy/app/screen"
	"buddy/app/slash"
	"buddy/app/ui"
	"buddy/tmux"
)

// changesTime is the least time between two updates of a dashboard. No timer runs while nothing changes.
const changesTime = 50 * time.Millisecond

// Dashboard shows the live sessions of this machine and, over ssh, of other machines, until the user leaves. If the
// user attaches to a session, the session replaces the dashboard until the user leaves the session.
func Dashboard(f *compose.Options, machines []string) error {
	if err := tmux.CheckOutside(os.Getenv); err != nil {
		return exit.Failure(err)
	}
	c, index, _, err := compose.LoadConfig(f)
	if err != nil {
		return err
	}
	looks, err := LooksOf(f, c, index)
	if err != nil {
		return err
	}
	keys, err := compose.BoundKeys(c.Keys, index)
	if err != nil {
		return err
	}
	s, err := screen.Open()
	if err != nil {
		return exit.Failure(err)
	}
	defer s.Fini()
	s.SetMouse(c.UI.Mouse)
	ctx, cancel := exit.UntilEnded()
	defer cancel()
	host.Private()
	table := watch.Open(ctx, machines, false)
	defer table.Close()
	here, err := os.Getwd()
	if err != nil {
		return exit.Failure(err)
	}
	d := ui.DashboardScreen{
		Looks: looks, Keys: keys, Live: liveSessions(ctx, func() (*watch.Table, func()) { return table, func() {} }, here),
		Attention: ui.Attention{How: screen.Call(c.UI.Notify), Notify: s.Notify},
		Copy:      func(text string) { s.SetClipboard([]byte(text)); go func() { _, _ = input.Copy(text) }() },
	}
	for {
		chosen, err := ui.Dashboard(ctx, s, d)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return exit.Error{Code: exit.Failed, Text: fmt.Sprintf("terminal: %v", err)}
		case chosen == nil:
			return nil
		}
		err = attachFrom(f, s, table, *chosen)
		if back := os.Chdir(here); err == nil {
			err = back
		}
		if e, coded := errors.AsType[exit.Error](err); coded && e.Code > 128 { // by a signal
			return err
		}
		d.Selected, d.Message = chosen.Key(), ""
		if err != nil {
			d.Message = strings.ReplaceAll(err.Error(), "\n", " ")
		}
	}
}

// attachFrom shows the session that the user has chosen in the dashboard, until the user leaves it.
func attachFrom(f *compose.Options, s *screen.Screen, table *watch.Table, one dashboard.Session) error {
	if one.Machine != "" {
		return visitMachine(s, table, one)
	}
	return visit(f, s, one)
}

// visit shows a session of this machine until the user leaves it.
func visit(f *compose.Options, s *screen.Screen, one dashboard.Session) error {
	next := slash.Next{Resume: one.ID, Folder: one.Here, Options: string(one.Options)}
	if one.Began == 0 {
		return fmt.Errorf("session %s has no prompt yet: you can attach to it after its first prompt", one.ID)
	}
	return sessionsFrom(f, s, next, io.Discard, true)
}

// visitMachine shows a session of another machine, in place of the screen.
func visitMachine(s *screen.Screen, t *watch.Table, one dashboard.Session) error {
	cmd := t.Attach(one)
	if cmd == nil {
		return fmt.Errorf("%s is not connected", one.Machine)
	}
	if err := s.Suspend(); err != nil {
		return err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if exited, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%s: buddy attach %s ended with exit code %d", one.Machine, host.Short(one.ID), exited.ExitCode())
	}
	return errors.Join(err, s.Resume())
}

// enterFolder returns the options of a session that runs in another folder, and enters the folder.
func enterFolder(f *compose.Options, n slash.Next) (*compose.Options, error) {
	if err := os.Chdir(n.Folder); err != nil {
		return nil, fmt.Errorf("session %s was started in a folder that can't be opened: %w", n.Resume, err)
	}
	var options compose.Options
	if err := json.Unmarshal([]byte(n.Options), &options); err != nil {
		return nil, fmt.Errorf("session %s runs a version of buddy with another protocol: %w", n.Resume, err)
	}
	options.Theme, options.NoColor, options.Log = f.Theme, f.NoColor, f.Log
	return &options, nil
}

// liveSessions returns the functions that a dashboard calls. open returns a table and a function that closes the table.
func liveSessions(ctx context.Context, open func() (*watch.Table, func()), here string) ui.LiveSessions {
	var table *watch.Table
	home, _ := os.UserHomeDir() // "" if unknown
	return ui.LiveSessions{
		Here: here, Home: home,
		Watch: func(changed func()) ui.LiveTable {
			t, closeTable := open()
			table = t
			watching, stop := context.WithCancel(ctx)
			go func() {
				for {
					select {
					case <-t.Changed():
						changed()
					case <-watching.Done():
						return
					}
					select {
					case <-time.After(changesTime):
					case <-watching.Done():
						return
					}
				}
			}()
			return ui.LiveTable{Sessions: t.Sessions, Notes: t.Notes, Stop: func() { stop(); closeTable() }}
		},
		Ask: func(s dashboard.Session) (*dashboard.Asked, error) {
			if err := compose.ByPerson(); err != nil {
				return nil, err
			}
			return watch.Ask(ctx, s.ID)
		},
		Stop: func(s dashboard.Session) error {
			if s.Machine != "" {
				return table.StopThere(ctx, s)
			}
			return watch.Stop(ctx, s.ID)
		},
		Start: func(folder, prompt string) error { return watch.Start(ctx, folder, prompt) },
	}
}

// live returns the functions for a dashboard that is opened from a session's screen.
func (w *window) live(ctx context.Context) ui.LiveSessions {
	l := liveSessions(ctx, func() (*watch.Table, func()) {
		t := watch.Open(ctx, nil, false)
		return t, t.Close
	}, "")
	l.Here, _ = os.Getwd() // the user has to name a folder if it is unknown
	l.Attach = func(s dashboard.Session) error {
		switch {
		case s.ID == w.setup.ID:
			return errors.New("this is the session you are in")
		case s.Began == 0:
			return errors.New("this session has no prompt yet: you can attach to it after its first prompt")
		}
		w.leave(slash.Next{Again: true, Detach: true, Resume: s.ID, Folder: s.Here, Options: string(s.Options)})
		return nil
	}
	return l
}
