package tmux_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"buddy/tmux"
)

// unattended makes the session of a rig unattended for a time.
func (r *rig) unattended(limit time.Duration) {
	r.opt.Unattended = limit
	if r.srv == nil {
		r.Session = tmux.NewPlain(r.opt)
	} else {
		r.Session = tmux.New(r.opt)
	}
	r.closeAtEnd()
}

// TestNobodyIsThere: commands have no terminal and variables that keep programs from prompting, and end like others.
func TestNobodyIsThere(t *testing.T) {
	all(t, false, func(t *testing.T, at testTarget, r *rig) {
		const asks = "(: </dev/tty) 2>/dev/null && echo terminal"
		if got := r.run(asks); at.tmux && string(got.Stdout.Head) != "terminal\n" {
			t.Errorf("with somebody there is no terminal: %q", got.Stdout.Head)
		}
		if _, err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.unattended(time.Hour)
		if got := r.run(asks); len(got.Stdout.Head) > 0 && at.name != "plain ssh" {
			t.Errorf("there is a terminal")
		}
		r.want(`echo "$GIT_TERMINAL_PROMPT [$GIT_ASKPASS$SSH_ASKPASS] $SSH_ASKPASS_REQUIRE $PAGER"`, "0 [] never cat\n")
		for _, variable := range []string{"GIT_EDITOR", "EDITOR", "VISUAL", "GIT_SEQUENCE_EDITOR"} {
			if got := r.run(`sh -c "$` + variable + `"`); got.ExitCode != 1 || !strings.HasPrefix(string(got.Stderr.Head), "buddy: no editor opens here") {
				t.Errorf("%s: %+v", variable, got)
			}
		}
		r.run("export GIT_EDITOR=true")
		r.want(`echo "$GIT_EDITOR"`, "true\n")
		if got := r.run("exit 7"); got.ExitCode != 7 {
			t.Errorf("exit 7: %+v", got)
		}
		run := r.start(tmux.Spec{Command: "sleep 1000"})
		run.Cancel()
		if got := r.wait(run); !got.Cancelled {
			t.Errorf("cancelled: %+v", got)
		}
		if !at.tmux {
			return
		}
		run = r.start(tmux.Spec{Mode: tmux.Terminal, Command: "test -t 0 && echo terminal"})
		if got := r.wait(run); !strings.Contains(string(got.Stdout.Head), "terminal") {
			t.Errorf("a command that asks for a terminal has none: %+v", got)
		}
	})
}

// TestBackgroundAsksNobody: a background command has these variables, whatever earlier commands set, and its terminal.
func TestBackgroundAsksNobody(t *testing.T) {
	all(t, false, func(t *testing.T, at testTarget, r *rig) {
		r.run("export EDITOR=mine")
		for _, background := range []bool{false, true} {
			run := r.start(tmux.Spec{Own: true, Background: background, Command: `echo "$GIT_TERMINAL_PROMPT $EDITOR"; (: </dev/tty) 2>/dev/null && echo terminal`})
			got := string(r.wait(run).Stdout.Head)
			if background != strings.HasPrefix(got, "0 echo ") || !background && !strings.HasPrefix(got, " mine\n") || at.tmux != strings.HasSuffix(got, "terminal\n") {
				t.Errorf("background %v: %q", background, got)
			}
		}
		r.want(`echo "$EDITOR"`, "mine\n")
	})
}

// TestNobodyTypes: in an unattended session, a command that waits for keys ends after some time, with the reason.
func TestNobodyTypes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what a process waits for is seen on Linux only")
	}
	t.Parallel()
	r := newRig(t)
	r.unattended(time.Second)
	run := r.start(tmux.Spec{Mode: tmux.Terminal, Command: "printf 'Name? '; read x"})
	if got := r.wait(run); !got.Cancelled || !strings.Contains(got.Fault, "it waited 1s for keys, and nobody is there to type") {
		t.Errorf("%+v", got)
	}
	run = r.start(tmux.Spec{Mode: tmux.Terminal, Command: "sleep 3; exit 4"})
	if got := r.wait(run); got.Cancelled || got.ExitCode != 4 {
		t.Errorf("a command that takes its time: %+v", got)
	}
}
