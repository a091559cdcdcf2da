package tmux_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buddy/tmux"
	"buddy/tmux/pane"
)

// TestSandbox: what a person approved by mistake can't write outside of the workspace.
func TestSandbox(t *testing.T) {
	work, outside := t.TempDir(), t.TempDir()
	box := &pane.Sandbox{Write: []string{work}}
	if err := box.Possible(); err != nil {
		t.Skip(err)
	}
	cmds := t.TempDir()
	box.Write = append(box.Write, cmds)
	r := newRig(t)
	r.opt.Sandbox, r.opt.Cwd = box, work
	s := tmux.New(r.opt)
	t.Cleanup(func() { _, _ = s.Close(t.Context()) })
	n := 0
	run := func(command string) tmux.Result {
		t.Helper()
		n++
		c, err := s.Start(t.Context(), tmux.Spec{Dir: filepath.Join(cmds, string(rune('a'+n))), Command: command})
		if err != nil {
			t.Fatal(err)
		}
		res, err := c.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	if res := run("touch in && echo ok >/dev/null && cat /etc/hostname >copy; ls /; mkdir d && mv in d/"); res.ExitCode != 0 {
		t.Errorf("in the workspace: exit %d, %s", res.ExitCode, res.Stderr.Head)
	}
	for _, command := range []string{
		"touch " + outside + "/x", "echo x >" + outside + "/x", "mkdir " + outside + "/d", "sh -c 'touch " + outside + "/x'",
		"ln d/in " + outside + "/x", "mv d/in " + outside + "/x", "python3 -c \"open('" + outside + "/x','w')\"", "(setsid touch " + outside + "/x)",
	} {
		res := run(command)
		if res.ExitCode == 0 {
			t.Errorf("%s: exit 0", command)
		}
		if left, _ := os.ReadDir(outside); len(left) > 0 {
			t.Fatalf("%s wrote %v", command, left)
		}
	}
	if res := run("touch " + outside + "/x"); !strings.Contains(box.Explain(string(res.Stderr.Head)), work) {
		t.Errorf("not explained: %s", res.Stderr.Head)
	}
}

func TestSandboxWithoutNetwork(t *testing.T) {
	cmds := t.TempDir()
	box := &pane.Sandbox{Write: []string{cmds}, NoNetwork: true}
	if err := box.Possible(); err != nil {
		t.Skip(err)
	}
	r := newRig(t)
	r.opt.Sandbox = box
	s := tmux.New(r.opt)
	t.Cleanup(func() { _, _ = s.Close(t.Context()) })
	c, err := s.Start(t.Context(), tmux.Spec{Dir: filepath.Join(cmds, "a"), Command: "exec 3<>/dev/tcp/127.0.0.1/1"})
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Wait(t.Context())
	if err != nil || res.ExitCode == 0 || !strings.Contains(string(res.Stderr.Head), "ermission denied") {
		t.Errorf("exit %d, %s (%v)", res.ExitCode, res.Stderr.Head, err)
	}
}
