package tmux_test

import (
	"strings"
	"testing"

	"buddy/tmux"
)

// TestTmuxInCommand: a tmux command without a server name reaches neither the pane of its command nor those of other
// sessions, but a separate server for the session's commands.
func TestTmuxInCommand(t *testing.T) {
	all(t, true, func(t *testing.T, _ testTarget, r *rig) {
		other := &rig{t: t, srv: r.srv, dir: r.dir, n: 100, opt: r.opt}
		other.opt.Session = "u"
		other.opt.OnPane = other.onPane
		other.Session = tmux.New(other.opt)
		other.closeAtEnd()
		goesOn := other.start(tmux.Spec{Command: "echo ready; until [ -e go ]; do sleep 0.05; done; echo done"})
		other.untilOutput("ready")

		if res := r.run("tmux kill-server"); res.ExitCode != 1 || !strings.Contains(string(res.Stderr.Head), "tmux-") {
			t.Errorf("tmux kill-server: exit %d, signal %d, %q, fault %q", res.ExitCode, res.Signal, res.Stderr.Head, res.Fault)
		}
		for _, c := range []string{"kill-session", "kill-pane", "kill-session -a", "set -g history-limit 1"} {
			r.want("tmux "+c+" 2>/dev/null || echo refused", "refused\n")
		}
		r.want("tmux -f /dev/null new-session -d -s mine 'sleep 1000' && tmux list-sessions -F '#S'", "mine\n")
		own := r.start(tmux.Spec{Command: "tmux list-sessions -F '#S'; tmux kill-server", Own: true})
		if res := r.wait(own); res.ExitCode != 0 || string(res.Stdout.Head) != "mine\n" {
			t.Errorf("in another pane: exit %d, %q %q", res.ExitCode, res.Stdout.Head, res.Stderr.Head)
		}
		r.want("touch go", "")
		if res := other.wait(goesOn); res.ExitCode != 0 || string(res.Stdout.Head) != "ready\ndone\n" {
			t.Errorf("the other session: exit %d, signal %d, %q, fault %q", res.ExitCode, res.Signal, res.Stdout.Head, res.Fault)
		}
		if strings.Contains(r.kinds()+other.kinds(), "lost") {
			t.Errorf("events %q, %q", r.kinds(), other.kinds())
		}
	})
}

// TestCheckOutside: buddy is refused in a pane of commands, and nowhere else, including a window that a person opened
// in the session.
func TestCheckOutside(t *testing.T) {
	all(t, true, func(t *testing.T, _ testTarget, r *rig) {
		check := func(value string) error {
			return tmux.CheckOutside(func(name string) string { return map[string]string{"TMUX": value}[name] })
		}
		for _, own := range []bool{false, true} {
			res := r.wait(r.start(tmux.Spec{Command: `printf %s "$TMUX"`, Own: own}))
			if err := check(string(res.Stdout.Head)); err == nil || strings.Contains(err.Error(), "\n") {
				t.Errorf("in a pane with TMUX=%s: %v", res.Stdout.Head, err)
			}
		}
		theirs := r.srv.Tmux("new-window", "-d", "-P", "-F", "#{socket_path},#{pid},#{s/.//:session_id}", "-t", "=buddy-t:", "sleep 1000")
		for _, value := range []string{"", theirs} {
			if err := check(value); err != nil {
				t.Errorf("outside, TMUX=%s: %v", value, err)
			}
		}
	})
}
