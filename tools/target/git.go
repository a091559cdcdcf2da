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

// gitAnswer runs git with args in the folder dir of this machine and returns its output. It
// runs only in the read-only sandbox of shells, so that programs named by the repository have
// no effect. It returns an error when ctx ends or the output exceeds [tmux.EdgeMax] bytes.
func gitAnswer(ctx context.Context, shells *tmux.Session, dir string, args ...string) ([]byte, error) {
	temp, err := os.MkdirTemp("", "buddy-git-")
	if err != nil {
		return nil, err
	}
	remove := func() { _ = os.RemoveAll(temp) }
	run, err := shells.Start(ctx, tmux.Spec{
		Dir: filepath.Join(temp, "run"), Command: host.Line(append([]string{"git", "-C", dir}, args...)...),
		Own: true, Title: "git", Free: true, Confined: true,
	})
	if err != nil {
		remove()
		return nil, err
	}
	res, err := run.Wait(ctx)
	if ctx.Err() != nil {
		go func() { // the screen does not wait for a program that won't end
			run.Cancel()
			_, _ = run.Wait(context.WithoutCancel(ctx))
			remove()
		}()
		return nil, ctx.Err()
	}
	defer remove()
	switch {
	case err != nil:
		return nil, err
	case res.ExitCode != 0 || !res.Confined:
		return nil, fmt.Errorf("git ended with %d", res.ExitCode)
	case res.Stdout.Total > int64(len(res.Stdout.Head)):
		return nil, errors.New("git printed too much")
	}
	return res.Stdout.Head, nil
}
