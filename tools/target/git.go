package target

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"buddy/tmux"
	"buddy/tmux/host"
)

// gitAnswer runs git with args in the folder dir of this machine and returns its output. git runs only in the read-only
// sandbox of shells, where programs that the repository names can change nothing. gitAnswer returns an error when ctx
// ends or the output exceeds [tmux.EdgeMax] bytes.
func gitAnswer(ctx context.Context, shells *tmux.Session, dir string, args ...string) ([]byte, error) {
	got, err := ask(ctx, shells, append([]string{"git", "-C", dir}, args...))
	switch {
	case err != nil:
		return nil, err
	case got.ExitCode != 0:
		return nil, fmt.Errorf("git ended with %d", got.ExitCode)
	case len(got.Stdout) > tmux.EdgeMax:
		return nil, errors.New("git printed too much")
	}
	return got.Stdout, nil
}

// Answer holds the output of a program in the read-only sandbox.
type Answer struct {
	Stdout   []byte // at most the first 4 MiB
	Stderr   []byte // at most [tmux.EdgeMax] bytes
	ExitCode int    // as in a shell
}

// Confined reports whether the session has a read-only sandbox for [Session.Ask].
func (s *Session) Confined() bool { return s.confined }

// Ask runs a program of this machine in the read-only sandbox and returns its output. The program can read the same
// files as commands without approval, and changes nothing.
func (s *Session) Ask(ctx context.Context, argv ...string) (Answer, error) {
	return ask(ctx, s.plain, argv)
}

// ask implements [Session.Ask] with the sandbox of shells.
func ask(ctx context.Context, shells *tmux.Session, argv []string) (Answer, error) {
	temp, err := os.MkdirTemp("", "buddy-ask-")
	if err != nil {
		return Answer{}, err
	}
	remove := func() { _ = os.RemoveAll(temp) }
	run, err := shells.Start(ctx, tmux.Spec{
		Dir: filepath.Join(temp, "run"), Command: host.Line(argv...),
		Own: true, Title: filepath.Base(argv[0]), Free: true, Confined: true,
	})
	if err != nil {
		remove()
		return Answer{}, err
	}
	res, err := run.Wait(ctx)
	if ctx.Err() != nil {
		go func() { // does not keep the screen waiting for a program that won't end
			run.Cancel()
			_, _ = run.Wait(context.WithoutCancel(ctx))
			remove()
		}()
		return Answer{}, ctx.Err()
	}
	defer remove()
	switch {
	case err != nil:
		return Answer{}, err
	case !res.Confined:
		return Answer{}, fmt.Errorf("%s did not run in the read-only sandbox", argv[0])
	}
	out, err := os.ReadFile(res.Stdout.Path)
	return Answer{Stdout: out, Stderr: res.Stderr.Head, ExitCode: res.ExitCode}, err
}
