package compose

import (
	"cmp"
	"errors"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/policy"
	"buddy/app/debuglog"
	"buddy/app/exit"
	"buddy/app/slash"
	"buddy/config"
	"buddy/features/worktree"
)

// Options holds the options of the command line.
type Options struct {
	Config  string
	Model   string
	BaseURL string
	NoColor bool
	Theme   string
	Tmux    string
	Approve action.Mode // "" for the setting
	Place
	Session string // the id of a new session; "" makes one

	Log *debuglog.Log `json:"-"` // nil without --debug

	// Chosen holds what the user switched to in the previous session; "" keeps the value of the settings.
	Chosen struct{ Profile, Effort string }

	Line []string `json:"-"` // the arguments after the program's name, for a hint that repeats them

	// Servers holds MCP servers of an editor, for this session only. A section of the settings with the same name has
	// priority.
	Servers []config.MCPServer `json:"-"`

	Cleared   bool // the user left another session for this new one
	Modelless bool // a model is only needed for steps of a workflow: without one, use the demo
	Headless  bool // nobody would see a title, or a demo in place of a model
}

// Place holds the options that choose where commands run.
type Place struct {
	SSH       string
	SSHConfig string
	Container string
	Targets   []string // configured targets; the session starts on the first
	Dir       string
	Also      []string // additional workspace folders
	Worktree  string   // the name of a git worktree to work in; "" is none, MadeUp makes a name up

	Entered *worktree.Tree `json:"-"` // the worktree until a session holds it; nil for none
}

// KeepModel makes the next session start with the model that answered in the session that the user leaves. left
// describes that session at its end.
func (f *Options) KeepModel(s *Setup, left event.SessionCreated) {
	active := s.Config.Active
	if active == nil {
		active = &config.Profile{Name: config.Demo}
	}
	if left.Profile == "" || s.Problem != "" && left.Profile == config.Demo { // it never ran, or without its model
		return
	}
	if left.Profile != active.Name {
		f.Chosen.Profile = left.Profile
	}
	if left.Effort != active.Effort {
		f.Chosen.Effort = left.Effort
	}
}

// mode returns the approval mode of the command line, else that of the settings.
func (f *Options) mode(c config.Config) action.Mode {
	return cmp.Or(f.Approve, action.Mode(c.Agent.Mode))
}

// startMode returns the approval mode at the start. Auto mode starts only if the sandbox works, and in a resumed
// session only if the command line sets it.
func (p *Program) startMode(f *Options, judge policy.Policy, resumed bool) (action.Mode, error) {
	mode := f.mode(p.Config)
	if mode != action.ModeAuto {
		return mode, nil
	}
	if resumed && f.Approve == "" {
		how := "/approve auto or Shift+Tab"
		if f.Headless {
			how = "--approve auto"
		}
		p.note("A resumed session starts in ask mode; to change that, use " + how)
		return action.ModeAsk, nil
	}
	err := policy.CanFence(judge, p.Dest.Name)
	switch {
	case err == nil:
		return mode, nil
	case f.Headless && f.Approve != "":
		return "", exit.Failure(errors.New("--approve auto: " + slash.OnCommandLine(err.Error())))
	}
	p.note("Auto mode is not available, so the session uses ask mode: " + err.Error())
	return action.ModeAsk, nil
}
