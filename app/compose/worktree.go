package compose

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"buddy/app/exit"
	"buddy/app/project"
	"buddy/app/slash"
	"buddy/config"
	"buddy/features/worktree"
	"buddy/views/markup"
)

// MadeUp is the value of [Place.Worktree] for a worktree whose name buddy makes up. No worktree has that name.
const MadeUp = " "

// EnterWorktree makes the worktree that the options name, or finds it, and makes it the folder to work in. The prompt's
// first words may become its name. Call done at the end of the program: if no session has started, it removes a new
// worktree again.
func EnterWorktree(f *Options, prompt string, say func(format string, args ...any)) (done func(), err error) {
	if f.Worktree == "" {
		return func() {}, nil
	}
	if f.SSH != "" || f.Container != "" || len(f.Targets) > 0 && f.Targets[0] != slash.ThisMachine {
		return nil, exit.Usage("--worktree works only on this machine, not with --ssh, --container or another --target")
	}
	c, _, _, err := LoadConfig(f)
	if err != nil {
		return nil, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, exit.Failure(err)
	}
	q := worktree.Request{Name: strings.TrimSpace(f.Worktree), Prompt: prompt, Setup: worktree.Settings.In(&c).Setup, Trusted: trustsFolder, Say: say}
	q.Environ, _ = c.Environ(os.Environ())
	ctx, stop := exit.UntilEnded()
	defer stop()
	t, dir, err := worktree.Enter(ctx, cwd, q)
	if err == nil {
		err = os.Chdir(dir)
	}
	if err != nil {
		t.Release()
		return nil, exit.Failure(err)
	}
	f.Dir, f.Entered = dir, t
	return func() {
		if !t.Held() {
			return // a session has held it, and has left it
		}
		if line := t.Leave(context.Background(), trustsFolder(t.Main), true); line != "" {
			say("%s", line)
		}
	}, nil
}

// WorktreeStarted releases the worktree of the options, because the session holds it now.
func WorktreeStarted(f *Options) {
	f.Entered.Release()
	f.Entered = nil
}

// trustsFolder reports whether the person trusts a folder with its present settings.
func trustsFolder(dir string) bool {
	print, err := config.Fingerprint(dir)
	if err != nil {
		return false
	}
	trusted, _, err := project.TrustStore().Trusted(dir, print)
	return err == nil && trusted
}

// StayInWorktree keeps the session's worktree when the session ends, because another session follows in it.
func (p *Program) StayInWorktree() {
	if part, ok := p.Parts[worktree.Feature].(*worktree.Part); ok {
		part.Stay()
	}
}

// leaveWorktree ends the session's use of its worktree.
func (p *Program) leaveWorktree(ctx context.Context, out io.Writer, mayRemove bool) {
	part, ok := p.Parts[worktree.Feature].(*worktree.Part)
	if !ok {
		return
	}
	if line := part.Leave(ctx, mayRemove); line != "" {
		_, _ = fmt.Fprintln(out, "buddy: "+markup.Plain(line))
	}
}

// DiffToBase returns the difference of the session's worktree to the commit that it started from.
func (p *Program) DiffToBase(ctx context.Context) (diff string, files int, err error) {
	part, ok := p.Parts[worktree.Feature].(*worktree.Part)
	if !ok {
		return "", 0, errors.New("/diff base works in a session with --worktree; this session is not in a worktree that buddy made")
	}
	return part.DiffToBase(ctx)
}
