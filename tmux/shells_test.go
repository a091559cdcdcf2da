package tmux_test

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"buddy/tmux"
	"buddy/tmux/pane"
	"buddy/tmux/tmuxtest"
)

// withZsh replaces cases for commands in zsh.
var withZsh = map[string]inOtherWords{
	"functions, arrays, plain variables": {"another syntax", []step{
		{"f() { echo \"f: $1\"; }; a=(1 'two three' x); p='pl ain'; typeset -A m; m[k]=v; typeset -i n=4; typeset -x X=exported", 0, "", ""},
		{"f hello; echo \"${a[2]} ${#a} ${a[3]} $p ${m[k]} $((n+1)) $X\"; sh -c 'echo \"${p-not exported} $X\"'", 0, "f: hello\ntwo three 3 x pl ain v 5 exported\nnot exported exported\n", ""},
		{"p=changed; unset -f f; unset a", 0, "", ""},
		{"echo \"$p ${a-none}\"; f", 127, "changed none\n", "command not found: f"},
	}},
	"aliases, shopt, umask": {"options", []step{
		{"alias greet='echo hello'; alias -g PIPED='| tr a-z A-Z'; setopt nullglob shwordsplit; umask 027", 0, "", ""},
		{"greet you PIPED; echo *.nothing; x='a b'; printf '%s.' $x; umask", 0, "HELLO YOU\n\na.b.027\n", ""},
		{"unsetopt nullglob shwordsplit; unalias PIPED", 0, "", ""},
	}},
	"set -u, -x, -f, -C and IFS": {"-f is another option", []step{
		{"set -uxC; IFS=:; export x=1", 0, "", "x=1"},
		{"echo $x ${nothing-ok}; unset IFS", 0, "1 ok\n", ""},
		{"echo later", 0, "later\n", ""},
	}},
	"cd to a hard name":            {"cd - says nothing less", []step{{"mkdir -p 'we ird\"$x`\\' && cd 'we ird\"$x`\\'", 0, "", ""}, {"basename \"$PWD\"; cd - >/dev/null && ls -d we*", 0, "we ird\"$x`\\\nwe ird\"$x`\\\n", ""}}},
	"heredoc without its end":      {"no warning", []step{{"cat <<EOF\ntext", 0, "text", ""}, {"echo on", 0, "on\n", ""}}},
	"syntax error":                 {"nothing of it runs", []step{{"echo before\nfi", 1, "", "parse error"}, {"echo on", 0, "on\n", ""}}},
	"unclosed quote":               {"other words", []step{{"echo 'abc", 1, "", "unmatched '"}, {"echo on", 0, "on\n", ""}}},
	"command not found":            {"other words", []step{{"true\nnosuchcommand -x", 127, "", "command not found: nosuchcommand"}}},
	"begins with a dash":           {"other words", []step{{"-x foo", 127, "", "command not found: -x"}}},
	"positional parameters and $0": {"another name", []step{{"echo $# $0; set -- a b; echo $#", 0, "0 zsh\n2\n", ""}}},
	"set -v, DEBUG and ERR traps": {"ERR is ZERR", []step{
		{"trap 'echo err' ZERR; false; true", 0, "err\n", ""},
		{"echo on", 0, "on\n", ""},
	}},
	"return, and a function of our builtins' names": {"other builtins", []step{
		{"cd() { echo my cd; }; printf() { echo my printf; }; print() { :; }; typeset() { :; }; export V=kept", 0, "", ""},
		{"cd /; printf x; echo $V; unset -f cd printf print typeset", 0, "my cd\nmy printf\nkept\n", ""},
		{"printf ok", 0, "ok", ""},
	}},
}

// TestShells is the matrix with other shells than the default, under both supervisors. For the script, the shell of the
// supervisor itself differs too: bash and bash, dash and dash.
func TestShells(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every test in every shell")
	}
	t.Parallel()
	for _, c := range []struct{ name, sh, shell string }{
		{"bash under bash", "bash", ""},
		{"dash under dash", "dash", "sh"},
		{"bash under busybox", "busybox", ""},
		{"dash under bash", "bash", "dash"},
		{"zsh under sh", "sh", "zsh"},
		{"zsh", "", "zsh"},
		{"dash", "", "dash"},
		{"busybox", "", "ash"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := pane.FindShell(c.shell); err != nil {
				t.Skip(err)
			}
			srv := tmuxtest.New(t)
			var r *rig
			if c.sh == "" {
				r = newRigWith(t, srv, c.shell)
			} else {
				bin := filepath.Join(srv.Dir, "bin")
				programs(t, bin, c.sh, c.shell != "sh")
				r = newHostRig(t, srv, localHost(t, append(srv.Env, "PATH="+bin)))
				r.opt.Shell = strings.TrimPrefix(c.shell, "sh")
				r.Session = tmux.New(r.opt)
				r.closeAtEnd()
			}
			testMatrix(t, testTarget{ash: c.shell != "" && c.shell != "zsh", zsh: c.shell == "zsh"}, r)
			if c.shell == "zsh" {
				r.t = t
				r.run("unset x") // too large to export
				testFree(t, r)
			}
		})
	}
}

// newRigWith is newRig with another shell.
func newRigWith(t *testing.T, srv *tmuxtest.Server, shell string) *rig {
	t.Helper()
	r := &rig{t: t, srv: srv, dir: srv.Dir}
	r.opt = tmux.Options{Socket: srv.Socket, Session: "t", Exe: exe(t), OnPane: r.onPane, Shell: shell, Greeting: pane.Greeting{Env: srv.Env, Cwd: srv.Dir}}
	r.Session = tmux.New(r.opt)
	r.closeAtEnd()
	return r
}

// TestShellMissing: a clear error, at once, and nothing else runs instead.
func TestShellMissing(t *testing.T) {
	all(t, false, func(t *testing.T, _ testTarget, r *rig) {
		r.opt.Shell = "nosh"
		for name, s := range map[string]*tmux.Session{"panes": tmux.New(r.opt), "plain": tmux.NewPlain(r.opt)} {
			if name == "panes" && r.srv == nil {
				continue
			}
			_, err := s.Start(t.Context(), tmux.Spec{Dir: r.newDir(), Command: "touch ran"})
			_, ok := errors.AsType[*pane.RefusedError](err)
			if !ok || errors.Is(err, tmux.ErrUnavailable) || !strings.Contains(err.Error(), `"nosh" is not installed on`) {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := s.Close(t.Context()); err != nil {
				t.Errorf("%s: Close: %v", name, err)
			}
		}
	})
}

// TestShellChanged: the state of one shell is not read by another.
func TestShellChanged(t *testing.T) {
	for _, script := range []bool{false, true} {
		t.Run(map[bool]string{false: "supervisor", true: "sh"}[script], func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath("zsh"); err != nil {
				t.Skip("zsh is not installed")
			}
			srv := tmuxtest.New(t)
			r := newRigWith(t, srv, "zsh")
			if script {
				r.opt.Host = localHost(t, srv.Env)
				r.Session = tmux.New(r.opt)
				r.closeAtEnd()
			}
			r.run("f() { echo f; }; setopt nullglob; export V=zsh")
			r.start(tmux.Spec{Command: "echo ready; while [ ! -e go ]; do sleep 0.02; done; echo ${ZSH_VERSION:+zsh}"})
			r.untilOutput("ready")
			if left, err := r.Close(t.Context()); err != nil || len(left) == 0 {
				t.Fatalf("Close = %v, %v", left, err)
			}
			again := r.opt
			again.Shell = ""
			r.Session = tmux.New(again)
			r.closeAtEnd()
			run, err := r.Reattach(t.Context(), filepath.Join(r.dir, "cmds", itoa(r.n)), nil)
			if err != nil {
				t.Fatal(err)
			}
			r.letGo()
			if res := r.wait(run); string(res.Stdout.Head) != "ready\nzsh\n" {
				t.Errorf("stdout %q", res.Stdout.Head)
			}
			if err := r.killSupervisor(); err != nil {
				t.Fatal(err)
			}
			r.want("echo ${BASH_VERSION:+bash}; type f 2>/dev/null || echo none", "bash\nnone\n")
		})
	}
}

// killSupervisor kills the supervisor and waits until the loss is known.
func (r *rig) killSupervisor() error {
	pid := r.supervisor()
	if err := exec.Command("kill", "-9", itoa(pid)).Run(); err != nil {
		return err
	}
	tmuxtest.Until(r.t, "the loss is told", func() bool { return strings.HasSuffix(r.kinds(), "lost") })
	return nil
}
