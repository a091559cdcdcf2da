package worktree

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"buddy/config"
	"buddy/texts"
)

// values are the settings.
type values struct{ Setup string }

// Settings has the section of the settings.
var Settings = config.Own(
	"worktree", "What `--worktree` does in a new worktree (docs/worktrees.md).", values{},
	config.Field[values]{
		Name: "setup", Short: "a shell command", Trusted: true,
		Doc: "Runs once in the folder of a new worktree before the session starts, such as `npm ci`, for at most ten minutes. If it fails, buddy shows the end of its output, and the session starts anyway.",
		At:  func(v *values) any { return &v.Setup },
	},
)

const (
	maxSetup   = 10 * time.Minute
	setupShown = 1500 // bytes of a failed command's output
)

// setup runs the command of the settings and returns what went wrong, "" if nothing did.
func setup(ctx context.Context, dir string, q Request) string {
	ctx, cancel := context.WithTimeout(ctx, maxSetup)
	defer cancel()
	out := tail{most: setupShown}
	c := exec.CommandContext(ctx, "/bin/sh", "-c", q.Setup)
	c.Dir, c.Env, c.Stdout, c.Stderr, c.WaitDelay = dir, q.Environ, &out, &out, time.Second
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	err := c.Run()
	if err == nil {
		return ""
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("it did not end within %v", maxSetup)
	}
	said := strings.TrimSpace(out.text())
	if said != "" {
		said = "\n" + said
	}
	return fmt.Sprintf("[worktree] setup failed (%s): %v. The session starts without it.%s", texts.Clip(texts.OneLine(q.Setup), 200), err, said)
}

// tail keeps the last bytes written to it.
type tail struct {
	kept []byte
	most int
	cut  bool
}

// Write keeps the end.
func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - t.most; over > 0 {
		t.kept, t.cut = append([]byte{}, t.kept[over:]...), true
	}
	return len(p), nil
}

func (t *tail) text() string {
	text := strings.ToValidUTF8(string(t.kept), "")
	if t.cut {
		return "… " + text
	}
	return text
}
