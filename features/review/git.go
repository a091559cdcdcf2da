package review

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"buddy/texts"
	"buddy/texts/searchpath"
	"buddy/tmux/host"
	"buddy/tools/fs"
	"buddy/tools/target"
)

// On returns a function that finds the session's folder on a target, "" for the first target. It connects to other
// machines if necessary.
func On(targets *target.Set) func(ctx context.Context, name string) (Folder, error) {
	return func(ctx context.Context, name string) (Folder, error) {
		one := targets.First()
		if name != "" {
			var err error
			if one, err = targets.Open(ctx, name); err != nil {
				return Folder{}, err
			}
		}
		dir := one.Env.Dir
		if one.Host == nil {
			run := runHere(dir)
			if one.Confined() {
				run = runConfined(one, dir)
			}
			return Folder{Git: gitIn(run), Files: fs.Local, Dir: dir}, nil
		}
		if dir == "" { // the target was unreachable at the start of the session, whose folder there is the home folder
			var err error
			if dir, err = one.Host.Home(ctx); err != nil {
				return Folder{}, err
			}
		}
		return Folder{Git: gitIn(runThere(one.Host, dir)), Files: fs.On(one.Host, one.Name), Dir: dir, Target: one.Name}, nil
	}
}

// gitIn returns a Git that runs no program named by the repository: no hooks, filters, diff drivers or watchers, and no
// fetch for a partial clone. Submodules have settings of their own, which this does not cover, so args must not lead
// into them.
func gitIn(run runner) Git {
	var filters []string
	known := false
	return func(ctx context.Context, args ...string) ([]byte, error) {
		if !known {
			out, _ := runGit(ctx, run, nil, "config", "--name-only", "-z", "--get-regexp", `^filter\..*\.(clean|smudge|process|required)$`) // no match is an error, too
			for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
				if name != "" {
					filters = append(filters, name)
				}
			}
			known = true
		}
		return runGit(ctx, run, filters, args...)
	}
}

// runner runs a program in a folder with environment variables. The error is [errEnded] if the program ran and failed.
type runner func(ctx context.Context, env, argv []string, stdout, stderr io.Writer) error

// runConfined runs programs in the read-only sandbox of a session, so that even a program named by the repository can
// read only what commands may read without approval.
func runConfined(s *target.Session, dir string) runner {
	return func(ctx context.Context, env, argv []string, stdout, stderr io.Writer) error {
		got, err := s.Ask(ctx, append(append(append([]string{"env"}, env...), argv[0], "-C", dir), argv[1:]...)...)
		if err != nil {
			return err
		}
		_, err = stdout.Write(got.Stdout)
		_, _ = stderr.Write(got.Stderr)
		switch {
		case err != nil:
			return err
		case got.ExitCode == notFound:
			return fmt.Errorf("there is no %s here; install it", argv[0])
		case got.ExitCode != 0:
			return errEnded
		}
		return nil
	}
}

// runHere returns a runner for a folder of this machine, without a sandbox.
func runHere(dir string) runner {
	return func(ctx context.Context, env, argv []string, stdout, stderr io.Writer) error {
		c := searchpath.Command(ctx, argv[0], argv[1:]...)
		c.Dir, c.WaitDelay, c.Env = dir, time.Second, append(c.Env, env...)
		c.Stdout, c.Stderr = stdout, stderr
		err := c.Run()
		if _, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
			return errEnded
		}
		return err
	}
}

// notFound is the exit code of env for a missing program.
const notFound = 127

// errEnded is returned for a program that failed; its stderr has the reason.
var errEnded = errors.New("it ended with an exit code other than 0")

// runThere runs programs in a folder of another machine.
func runThere(h *host.Host, dir string) runner {
	return func(ctx context.Context, env, argv []string, stdout, stderr io.Writer) error {
		line := "cd " + host.Quote(dir) + " && " + host.Line(append(append([]string{"env"}, env...), argv...)...)
		code, err := h.Run(ctx, line, stdout, stderr)
		switch {
		case err == nil && code == notFound:
			return fmt.Errorf("%s has no %s; install it there", h.Name(), argv[0])
		case err == nil && code != 0:
			return errEnded
		}
		return err
	}
}

// runGit runs git with the settings named in emptied switched off, and returns at most MaxDiff+1 bytes of output.
func runGit(ctx context.Context, run runner, emptied []string, args ...string) ([]byte, error) {
	argv := append([]string{"git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "diff.external="}, args...)
	env := []string{
		"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_EXTERNAL_DIFF=",
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", // git before 2.45 may know only the second one
		fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(emptied)),
	}
	for i, name := range emptied {
		value := ""
		if strings.HasSuffix(name, ".required") {
			value = "false"
		}
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, name), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, value))
	}
	out, stderr := limited{max: MaxDiff + 1, full: errFull}, limited{max: 4096}
	err := run(ctx, env, argv, &out, &stderr)
	switch {
	case err == nil || out.kept.Len() == out.max: // output beyond the limit is not needed
		return out.kept.Bytes(), nil
	case errors.Is(err, errEnded):
		return nil, GitError(texts.Clip(texts.OneLine(stderr.kept.String()), 300))
	}
	return nil, err
}

// errFull ends a program whose output exceeds the limit.
var errFull = errors.New("it printed more output than buddy reads")

// limited keeps the first max bytes written to it; a write beyond them returns the error full. It does not embed its
// buffer, whose ReadFrom would bypass the limit.
type limited struct {
	kept bytes.Buffer
	max  int
	full error
}

// Write keeps the bytes of p that the limit leaves room for.
func (l *limited) Write(p []byte) (int, error) {
	n := max(0, min(len(p), l.max-l.kept.Len()))
	l.kept.Write(p[:n])
	if n < len(p) && l.full != nil {
		return n, l.full
	}
	return len(p), nil
}
