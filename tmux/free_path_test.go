package tmux_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"buddy/tmux"
	"buddy/tmux/host/hosttest"
	"buddy/tmux/pane"
	"buddy/tmux/tmuxtest"
)

// plant puts a program into a folder that prints a mark when it runs.
func plant(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho planted "+name+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// A command that runs without approval finds its programs in the PATH of the target's login, and never in its working
// directory.
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

// Empty and relative entries of the login's PATH are ignored.
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

// On this machine no program comes from the workspace, whatever the PATH: none of a command that runs without approval,
// and neither tmux nor the shell that runs it. An approved command finds them.
func TestFreeCommandsFindNoProgramOfTheWorkspace(t *testing.T) {
	for _, shell := range []string{"", "dash", "zsh"} {
		for _, where := range []string{"in a pane", "without"} {
			t.Run(cmp.Or(shell, "any shell")+" "+where, func(t *testing.T) {
				if _, err := pane.FindShell(shell); err != nil {
					t.Skip(err)
				}
				srv := tmuxtest.New(t)
				work, also, mine, link := filepath.Join(srv.Dir, "work"), filepath.Join(srv.Dir, "also"), filepath.Join(srv.Dir, "mine"), filepath.Join(srv.Dir, "link")
				for name, dir := range map[string]string{"empty": work, "relative": filepath.Join(work, "rel"), "whole": filepath.Join(work, "bin"), "linked": filepath.Join(work, "real"), "beside": also, "mine": mine} {
					plant(t, dir, name)
				}
				if err := os.Symlink(filepath.Join(work, "real"), link); err != nil {
					t.Fatal(err)
				}
				for _, name := range []string{"tmux", "bash", "sh", "dash", "zsh"} {
					plant(t, filepath.Join(work, "bin"), name)
				}
				system := os.Getenv("PATH")
				t.Setenv("PATH", strings.Join([]string{"", "rel", filepath.Join(work, "bin"), link, also, mine, system}, ":"))
				t.Chdir(work)
				r := &rig{t: t, srv: srv, dir: srv.Dir}
				r.opt = tmux.Options{Socket: srv.Socket, Session: "t", Exe: exe(t), Shell: shell, Greeting: pane.Greeting{Env: append(slices.Clone(srv.Env), "PATH="+os.Getenv("PATH")), Cwd: work}}
				r.opt.Reach.Read = []string{work, also}
				if r.Session = tmux.New(r.opt); where == "without" {
					r.Session = tmux.NewPlain(r.opt)
				}
				r.closeAtEnd()
				const all = `for p in empty relative whole linked beside mine; do $p 2>/dev/null; done`
				if res := r.run(all); string(res.Stdout.Head) != "planted empty\nplanted relative\nplanted whole\nplanted linked\nplanted beside\nplanted mine\n" {
					t.Fatalf("approved: %q %q: the control proves nothing", res.Stdout.Head, res.Stderr.Head)
				}
				r.wantFree(all+`; printf '%s\n' "$PATH"`, "planted mine\n"+mine+":"+system+"\n")
			})
		}
	}
}

// wantFree runs a command without approval.
func (r *rig) wantFree(command, want string) {
	r.t.Helper()
	res := r.wait(r.start(tmux.Spec{Command: command, Free: true}))
	if got := string(res.Stdout.Head); got != want {
		r.t.Errorf("free: %s = %q, stderr %q, want %q", command, got, res.Stderr.Head, want)
	}
}
