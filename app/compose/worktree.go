package compose

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"buddy/agent"
	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/exit"
	"buddy/app/project"
	"buddy/app/slash"
	"buddy/config"
	"buddy/features/worktree"
	"buddy/texts"
	"buddy/tmux"
	"buddy/tools"
	"buddy/tools/target"
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

// WorksFor reports whether a session of the repository around the folder cwd works for this folder: dir, where the session
// works, is the folder, the same folder in a worktree that buddy made, or in such a worktree that is gone.
func WorksFor(dir, cwd string) bool {
	if dir == cwd || texts.Worktree(dir) == "" {
		return dir == cwd
	}
	main := worktree.MainOf(dir)
	return main == "" || main == cwd
}

// trustsFolder reports whether the user trusts a folder with its present settings.
func trustsFolder(dir string) bool {
	print, err := config.Fingerprint(dir)
	if err != nil {
		return false
	}
	trusted, _, err := project.TrustStore().Trusted(dir, print)
	return err == nil && trusted
}

// StayInWorktree keeps the session's worktree when the session ends, because another session follows in it.
func StayInWorktree(p *Program) {
	if part, ok := p.Parts[worktree.Feature].(*worktree.Part); ok {
		part.Stay()
	}
}

// leaveWorktree ends the session's use of its worktree.
func leaveWorktree(ctx context.Context, p *Program, out io.Writer, mayRemove bool) {
	part, ok := p.Parts[worktree.Feature].(*worktree.Part)
	if !ok {
		return
	}
	if line := part.Leave(ctx, mayRemove); line != "" {
		_, _ = fmt.Fprintln(out, "buddy: "+markup.Plain(line))
	}
}

// DiffToBase returns the difference between the session's worktree and the commit that the worktree started from.
func DiffToBase(ctx context.Context, p *Program) (diff string, files int, err error) {
	part, ok := p.Parts[worktree.Feature].(*worktree.Part)
	if !ok {
		return "", 0, errors.New("/diff base works in a session with --worktree; this session is not in a worktree that buddy made")
	}
	return part.DiffToBase(ctx)
}

// isolator makes worktrees for the subagents of a session.
type isolator struct{ *Program }

// isolate makes a worktree for a subagent. Its file tools and commands work there, and it can name no other target.
func (p isolator) isolate(ctx context.Context, title string, all *tools.Registry) (own agent.Isolated, err error) {
	if p.Dest.Host != nil {
		return own, errors.New("worktrees work only on this machine")
	}
	q := worktree.Request{Prompt: title, Setup: worktree.Settings.In(&p.Config).Setup, Trusted: trustsFolder}
	q.Environ, _ = p.Config.Environ(os.Environ())
	t, dir, err := worktree.Enter(ctx, p.Env.Dir, q)
	if err != nil {
		return own, err
	}
	for _, text := range t.TakeNotices() {
		p.Live.Publish(event.Notice{Text: text, Code: "worktree"})
	}
	env := p.Env
	env.Dir = dir
	one, err := p.open(&target.Target{Name: action.InWorktree(t.Name)}, env, tmux.Options{Session: p.ID + "-" + t.Name, Short: true}, false)
	if err == nil {
		err = p.Targets.Join(one)
	}
	if err != nil {
		t.Leave(ctx, trustsFolder(t.Main), true)
		return own, err
	}
	apart := one.Deferred() // they work in the panes of the first target
	own.Tools = all.Only(func(name string) bool {
		return !slices.ContainsFunc(apart, func(t tools.Tool) bool { return t.Definition().Name == name })
	}).Swap(one.Tools())
	own.Note = fmt.Sprintf("You work in a git worktree of your own: %s, on the branch %s. Your commands and relative paths start there. Do not change files elsewhere. Commit your work if the task asks for commits.", dir, t.Branch)
	own.End = func(ctx context.Context) string {
		ctx, cancel := context.WithTimeout(ctx, CloseTime)
		defer cancel()
		runs := false
		one.Close(ctx, func(string, ...any) { runs = true })
		return t.Deliver(ctx, trustsFolder(t.Main), !runs)
	}
	return own, nil
}
