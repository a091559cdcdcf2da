package tmux_test

import (
	"os"
	"path/filepath"
	"testing"

	"buddy/tmux"
	"buddy/tmux/host/hosttest"
	"buddy/tmux/pane"
	"buddy/tmux/tmuxtest"
)

// plant puts a program into a folder, which says that it ran.
func plant(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho planted "+name+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// A command that runs without approval finds its programs where the login of the target does,
// and never in the folder in which it runs.
func TestFreeCommandsFindNothingInTheFolder(t *testing.T) {
	rigs := map[string]func(t *testing.T) *rig{
		"ssh":               func(t *testing.T) *rig { return newSSHRig(t) },
		"container":         func(t *testing.T) *rig { return newContainerRig(t, hosttest.Bash) },
		"busybox container": func(t *testing.T) *rig { return newContainerRig(t, hosttest.Ash) },
	}
	for name, rig := range rigs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rig(t)
			login := string(r.run("sh -lc 'printf %s \"$PATH\"'").Stdout.Head)
			plant(t, r.dir, "ls")
			plant(t, r.dir, "only")
			r.run("cd '" + r.dir + "'; PATH=.:$PATH; export PATH")
			if res := r.run("only"); string(res.Stdout.Head) != "planted only\n" {
				t.Fatalf("approved: %q: the control proves nothing", res.Stdout.Head)
			}
			r.wantFree(`ls -d /; only 2>/dev/null || printf '%s\n' "$PATH"`, "/\n"+login+"\n")
		})
	}
}

// Entries of the login's path that are empty or relative are left out.
func TestFreeCommandsGetALoginPathThatIsWhole(t *testing.T) {
	for _, shell := range []string{"bash", "dash", "zsh", "ash"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			if _, err := pane.FindShell(shell); err != nil {
				t.Skip(err)
			}
			srv := tmuxtest.New(t)
			home := filepath.Join(srv.Dir, "home")
			plant(t, srv.Dir, "only")
			plant(t, filepath.Join(srv.Dir, "rel"), "relative")
			plant(t, filepath.Join(home, "bin"), "mine")
			profile := "PATH=:.:rel:$HOME/bin:/usr/bin::/bin:./:\nexport PATH\n"
			if err := os.WriteFile(filepath.Join(home, ".profile"), []byte(profile), 0o644); err != nil {
				t.Fatal(err)
			}
			r := newHostRig(t, srv, localHost(t, append(srv.Env, "HOME="+home)))
			r.opt.Shell = shell
			r.Session = tmux.New(r.opt)
			r.closeAtEnd()
			if res := r.run("only; relative; mine"); string(res.Stdout.Head) != "planted only\nplanted relative\nplanted mine\n" {
				t.Fatalf("approved: %q: the control proves nothing", res.Stdout.Head)
			}
			r.wantFree(`only 2>/dev/null; relative 2>/dev/null; mine; printf '%s\n' "$PATH"`, "planted mine\n"+home+"/bin:/usr/bin:/bin\n")
		})
	}
}

// wantFree runs a command that needs no approval.
func (r *rig) wantFree(command, want string) {
	r.t.Helper()
	res := r.wait(r.start(tmux.Spec{Command: command, Free: true}))
	if got := string(res.Stdout.Head); got != want {
		r.t.Errorf("free: %s = %q, stderr %q, want %q", command, got, res.Stderr.Head, want)
	}
}
