package tmux_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"buddy/tmux"
)

// on starts a session with another identity on the server of r. r cleans up.
func (r *rig) on(identity string, change func(*tmux.Options)) *tmux.Session {
	r.t.Helper()
	o := r.opt
	o.Session, o.Short = identity, true
	if change != nil {
		change(&o)
	}
	s := tmux.New(o)
	r.t.Cleanup(func() {
		if _, err := s.Close(context.Background()); err != nil {
			r.t.Errorf("Close: %v", err)
		}
	})
	return s
}

// says runs a command of a session to its end.
func (r *rig) says(s *tmux.Session, command string) string {
	r.t.Helper()
	run, err := s.Start(r.t.Context(), tmux.Spec{Dir: r.newDir(), Command: command})
	if err != nil {
		r.t.Fatalf("Start(%q): %v", command, err)
	}
	return string(r.wait(run).Stdout.Head)
}

// leaves starts a command that waits for r.letGo and closes the session.
func (r *rig) leaves(s *tmux.Session) (pane, command string) {
	r.t.Helper()
	dir := r.newDir()
	if _, err := s.Start(r.t.Context(), tmux.Spec{Dir: dir, Command: "cd " + r.dir + "; while [ ! -e go ]; do sleep 0.02; done; echo done"}); err != nil {
		r.t.Fatal(err)
	}
	if left, err := s.Close(r.t.Context()); err != nil || len(left) != 1 || left[0] != s.Name() {
		r.t.Fatalf("Close = %v, %v, want %s", left, err, s.Name())
	}
	return s.Pane(), dir
}

// finds expects the pane of an earlier process of the session, and the end of its command.
func (r *rig) finds(s *tmux.Session, pane, command string) {
	r.t.Helper()
	if found, err := s.FindPane(r.t.Context()); !found || err != nil || s.Pane() != pane {
		r.t.Errorf("FindPane = %v, %v, pane %q, want %q", found, err, s.Pane(), pane)
		return
	}
	if !strings.Contains(s.AttachLine(), "attach -t "+s.Name()) {
		r.t.Errorf("the attach line %q does not name %s", s.AttachLine(), s.Name())
	}
	r.letGo()
	run, err := s.Reattach(r.t.Context(), command, nil)
	if err != nil {
		r.t.Errorf("Reattach: %v", err)
		return
	}
	if got := string(r.wait(run).Stdout.Head); got != "done\n" {
		r.t.Errorf("the command printed %q", got)
	}
}

// shortNames runs a test here and over ssh, where other machines' sessions may be on the same server.
func shortNames(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Parallel()
	for _, at := range testTargets {
		if at.name == "supervisor" || at.name == "ssh" {
			t.Run(at.name, func(t *testing.T) { t.Parallel(); test(t, at.rig(t)) })
		}
	}
}

// TestShortNames: the name in tmux is the shortest unused prefix of the identity.
func TestShortNames(t *testing.T) {
	shortNames(t, func(t *testing.T, r *rig) {
		first, second := r.on("7f3a-1111-aa", nil), r.on("7f3a-1222-bb", nil)
		if first.Name() != "buddy-7f3a" {
			t.Errorf("before it is there the first is called %s", first.Name())
		}
		r.says(first, "true")
		r.srv.Tmux("new-session", "-d", "-s", "buddy-7f3a-1", "sleep 1000") // a person's own session
		if got := r.says(second, "echo two"); got != "two\n" {
			t.Errorf("the second printed %q", got)
		}
		if first.Name() != "buddy-7f3a" || second.Name() != "buddy-7f3a-12" {
			t.Errorf("names %s and %s", first.Name(), second.Name())
		}
		if got := r.says(first, "echo one"); got != "one\n" || first.Pane() == second.Pane() {
			t.Errorf("the first printed %q in pane %s, the second is in %s", got, first.Pane(), second.Pane())
		}
		for _, e := range r.opened() {
			if !strings.Contains(e.Attach, "attach -t "+e.Name) {
				t.Errorf("pane %s of %s is attached to with %q", e.Pane, e.Name, e.Attach)
			}
		}
	})
}

func (r *rig) opened() (all []tmux.PaneEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Kind == tmux.Opened {
			all = append(all, e)
		}
	}
	return all
}

// TestResumedSessionKeepsItsName: even if a shorter name is unused meanwhile, and without Known.
func TestResumedSessionKeepsItsName(t *testing.T) {
	shortNames(t, func(t *testing.T, r *rig) {
		r.srv.Tmux("new-session", "-d", "-s", "buddy-7f3a", "sleep 1000")
		s := r.on("7f3a-1111-aa", nil)
		pane, command := r.leaves(s)
		if s.Name() != "buddy-7f3a-1" {
			t.Fatalf("it is called %s", s.Name())
		}
		r.srv.Tmux("kill-session", "-t", "=buddy-7f3a")
		again := r.on("7f3a-1111-aa", nil)
		r.finds(again, pane, command)
		if again.Name() != "buddy-7f3a-1" {
			t.Errorf("resumed it is called %s", again.Name())
		}
	})
}

// TestSessionOfAnOlderProgramIsFound: its name in tmux is the whole identity, and it has no option for it.
func TestSessionOfAnOlderProgramIsFound(t *testing.T) {
	shortNames(t, func(t *testing.T, r *rig) {
		old := r.on("7f3a-1111-aa", func(o *tmux.Options) { o.Short = false })
		pane, command := r.leaves(old)
		r.srv.Tmux("set-option", "-u", "-t", "=buddy-7f3a-1111-aa:", "@buddy_session")
		s := r.on("7f3a-1111-aa", nil)
		r.finds(s, pane, command)
		if s.Name() != "buddy-7f3a-1111-aa" {
			t.Errorf("resumed it is called %s", s.Name())
		}
	})
}

// TestKnownNameOfASession: a session that has gone is created again with its earlier name, unless the name was taken or
// belongs to the session that this one was copied from.
func TestKnownNameOfASession(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.srv.Tmux("new-session", "-d", "-s", "buddy-9999-1", "sleep 1000")
	for _, c := range []struct{ known, identity, want string }{
		{"buddy-7f3a-11", "7f3a-1111-aa", "buddy-7f3a-11"},
		{"buddy-7f3a", "8888-1111-aa", "buddy-8888"},
		{"buddy-9999-1", "9999-1111-aa", "buddy-9999"},
		{"buddy-", "6666-1111-aa", "buddy-6666"},
	} {
		s := r.on(c.identity, func(o *tmux.Options) { o.Cwd = filepath.Dir(o.Cwd) })
		s.Prefer(c.known)
		r.says(s, "true")
		if s.Name() != c.want {
			t.Errorf("%s, known as %s: %s, want %s", c.identity, c.known, s.Name(), c.want)
		}
	}
}
