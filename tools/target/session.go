package target

import (
	"context"
	"fmt"
	"sync"

	"buddy/agent/policy"
	"buddy/texts/unseen"
	"buddy/tmux"
	"buddy/tmux/pane/fence"
	"buddy/tools"
	"buddy/tools/file"
	"buddy/tools/fs"
	"buddy/tools/shell"
)

// Session holds a target and what one session of buddy uses there.
type Session struct {
	*Target
	Env   Environment
	Panes *tmux.Session
	Shell *shell.Shell
	Files *file.Workspace

	plain    *tmux.Session // runs commands where there is no tmux
	tools    map[string]tools.Tool
	confined bool // commands that need no approval run in the read-only sandbox
	fences   func() error
	boxed    bool // approved commands run in the workspace sandbox
	links    links
	own      policy.Own // of this machine
	finder   finder
	unseen   unseen.Place
}

// Options configure a session's use of a target.
type Options struct {
	// Options configure the panes. The target sets Host, Cwd and what confined commands may read.
	tmux.Options
	Limits  shell.Limits // of the text for the model; zero means the defaults of package shell
	Outputs string       // the folder on this machine where calls keep their overflow, "" for none
	Plan    *file.Plan   // of the session, for all of its targets; nil for none
	Own     policy.Own   // buddy's own files on this machine
	// Recovery is the folder on this machine for the old bytes of files that are written in place.
	Recovery fs.Recovery
	// Resumed means that an earlier process may have left a pane, whose shell may be in another folder.
	Resumed bool
	// Boxed means that commands run in the workspace sandbox even after approval.
	Boxed bool
	// Unseen selects where changes without approval are recorded. The zero value is the record of the policy itself,
	// which the first target uses.
	Unseen unseen.Place
	// Warn is called once if commands have to run without tmux.
	Warn func(text string)
}

// Open prepares the panes, files and tools of a session on the target. It starts nothing
// there.
func (t *Target) Open(env Environment, o Options) (*Session, error) {
	o.Options = t.options(env, o.Options)
	files, err := t.workspace(env.Dir)
	if err != nil {
		return nil, err
	}
	if o.Outputs != "" {
		files.Outputs(o.Outputs)
	}
	files.KeepPlan(o.Plan)
	file.KeepOldBytes(files, o.Recovery)
	if t.Host == nil {
		files.Protect(o.Own.Files)
	}
	cwd := env.Dir
	if t.Host != nil && o.Resumed {
		cwd = ""
	}
	panes, plain := tmux.New(o.Options), tmux.NewPlain(o.Options)
	sh := shell.New(panes, plain, t.Name, cwd, o.Warn)
	if o.Boxed {
		sh.Fence()
	}
	if o.Unattended > 0 {
		sh.Unattend()
	}
	if o.Limits != (shell.Limits{}) {
		sh.Limit(o.Limits)
	}
	s := NewSession(t, sh, files)
	s.own, s.unseen = o.Own, o.Unseen
	s.Env, s.Panes, s.plain, s.boxed = env, panes, plain, o.Boxed
	s.fences = sync.OnceValue(func() error { return tmux.Fences(o.Options) })
	if s.confined = tmux.Confines(o.Options) == nil; s.confined {
		sh.Confine()
	}
	if t.Host == nil {
		sh.Fenceable()
	}
	return s, nil
}

// Fences returns nil if commands of the session can run in the workspace sandbox, else an error that tells the user
// what to do. The first call runs a program to find out.
func (s *Session) Fences() error {
	if s.fences == nil {
		return fmt.Errorf("%w: it has no panes of its own", fence.ErrImpossible)
	}
	return s.fences()
}

// Exported returns the variables that earlier commands left exported, as NAME=value; nil before the first one, and on
// other machines.
func (s *Session) Exported() ([]string, error) {
	if all, err := s.Panes.Exported(); all != nil || err != nil {
		return all, err
	}
	return s.plain.Exported()
}

// NewSession returns a session on t whose only panes are those of sh.
func NewSession(t *Target, sh *shell.Shell, files *file.Workspace) *Session {
	s := &Session{Target: t, Shell: sh, Files: files, tools: make(map[string]tools.Tool), finder: finder{secret: files.Secret, most: maxSearched}}
	file.FollowShell(files, sh.Cwd)
	for _, one := range append(s.Tools(), s.Deferred()...) {
		s.tools[one.Definition().Name] = one
	}
	return s
}

// Tools returns the tools for commands and files of the target, in the order in which the model sees them.
func (s *Session) Tools() []tools.Tool { return append([]tools.Tool{s.Shell}, file.Tools(s.Files)...) }

// Deferred returns the tools for the target that a model has to search for.
func (s *Session) Deferred() []tools.Tool { return shell.Panes(s.Shell) }

// Facts returns the facts about the target that the policy needs.
func (s *Session) Facts() policy.Target {
	f := policy.Target{
		Workspace: s.Files.Root(), Also: s.Env.Also, Home: s.Env.Home, Guarded: s.Production, Elsewhere: s.Env.Elsewhere, Confined: s.confined, Boxed: s.boxed,
		Resolve: s.links.remember(s.Files.Follow), Fence: s.Fences, Unseen: s.unseen,
	}
	if s.Host == nil {
		f.Resolve, f.Match, f.Holds, f.GitKeeps, f.Count, f.Own = followLinks, matched, s.finder.holds, gitKeepsAround, countFiles, s.own
	}
	if s.confined {
		f.Git = func(ctx context.Context, dir string, args ...string) ([]byte, error) {
			return gitAnswer(ctx, s.plain, dir, args...)
		}
	}
	return f
}

// Close ends everything that the session runs on the target. It calls report with a line about each command that keeps
// running.
func (s *Session) Close(ctx context.Context, report func(format string, args ...any)) {
	for _, panes := range []*tmux.Session{s.Panes, s.plain} {
		left, err := panes.Close(ctx)
		if err != nil {
			report("%v", err)
		}
		for _, name := range left {
			if s.Host != nil {
				name += " on " + s.Name
			}
			report("a command still runs in the tmux session %s; see it with: %s", name, panes.AttachLine())
			report("or end it with: %s", panes.RemoveLine())
		}
	}
}
