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

// On returns what finds the folder in which a session works on a target, "" for the first one. One on another
// machine is reached for.
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
		if dir == "" { // it could not be reached when the session began, which works in the home folder there
			var err error
			if dir, err = one.Host.Home(ctx); err != nil {
				return Folder{}, err
			}
		}
		return Folder{Git: gitIn(runThere(one.Host, dir)), Files: fs.On(one.Host, one.Name), Dir: dir, Target: one.Name}, nil
	}
}

// gitIn returns what runs git so that no program runs which the repository names: no hooks, filters, diff
// drivers or watchers, and none that fetches what a partial clone lacks. It does not hold in submodules, which have
// settings of their own: args must not lead into them.
func gitIn(run runner) Git {
	var filters []string
	known := false
	return func(ctx context.Context, args ...string) ([]byte, error) {
		if !known {
			out, _ := runGit(ctx, run, nil, "config", "--name-only", "-z", "--get-regexp", `^filter\..*\.(clean|smudge|process|required)$`) // none is an error, too
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

// runner runs a program in a folder with some variables set. Its error is [errEnded] if the program ran and
// failed.
type runner func(ctx context.Context, env, argv []string, stdout, stderr io.Writer) error

// runConfined runs programs in the read-only sandbox of a session: whatever the repository names, nothing is
// read that lies outside of what commands may read without approval.
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

// runHere runs programs in a folder of this machine where there is no read-only sandbox.
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

// notFound is the exit code of env when there is no such program.
const notFound = 127

// errEnded says why a program that says itself what is wrong has failed.
var errEnded = errors.New("it ended with another exit code than 0")

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

// runGit runs git with some settings emptied, and returns at most one byte more of its output than
// [MaxDiff].
func runGit(ctx context.Context, run runner, emptied []string, args ...string) ([]byte, error) {
	argv := append([]string{"git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "diff.external="}, args...)
	env := []string{
		"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_EXTERNAL_DIFF=",
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", // git before 2.45 may know only the latter
		fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(emptied)),
	}
	for i, name := range emptied {
		value := ""
		if strings.HasSuffix(name, ".required") {
			value = "false"
		}
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, name), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, value))
	}
	out, said := limited{max: MaxDiff + 1, full: errFull}, limited{max: 4096}
	err := run(ctx, env, argv, &out, &said)
	switch {
	case err == nil || out.kept.Len() == out.max: // what comes behind that is not wanted
		return out.kept.Bytes(), nil
	case errors.Is(err, errEnded):
		return nil, GitError(texts.Clip(texts.OneLine(said.kept.String()), 300))
	}
	return nil, err
}

// errFull ends a program whose output is not read further.
var errFull = errors.New("it printed more than is read")

// limited keeps the first bytes that are written to it. With more, full is the error. It does not embed its
// buffer: that would be filled without a limit, by its ReadFrom.
type limited struct {
	kept bytes.Buffer
	max  int
	full error
}

// Write keeps what there is room for.
func (l *limited) Write(p []byte) (int, error) {
	n := max(0, min(len(p), l.max-l.kept.Len()))
	l.kept.Write(p[:n])
	if n < len(p) && l.full != nil {
		return n, l.full
	}
	return len(p), nil
}
