package compose

import (
	"cmp"
	"errors"

	"buddy/agent/action"
	"buddy/agent/policy"
	"buddy/app/debuglog"
	"buddy/app/exit"
	"buddy/app/slash"
	"buddy/config"
)

// Options holds what the command line says.
type Options struct {
	Config  string
	Model   string
	BaseURL string
	NoColor bool
	Theme   string
	Tmux    string
	Approve action.Mode // "": as the settings say
	Place
	Session string // the id of a new session; "" makes one

	Log *debuglog.Log `json:"-"` // nil without --debug

	Line []string `json:"-"` // what stands behind the program's name, for a hint that repeats it

	Cleared   bool // a person left another session for this new one
	Modelless bool // nothing asks a model unless a step of a workflow does: without one there is the demo
	Headless  bool // nobody sees a title, or a demo in the place of a model
}

// Place says where commands run.
type Place struct {
	SSH       string
	SSHConfig string
	Container string
	Targets   []string // of the configuration; the first is where the session begins
	Dir       string
	Also      []string // more folders to work in
}

// mode returns how approvals are decided at the start.
func (f *Options) mode(c config.Config) action.Mode {
	return cmp.Or(f.Approve, action.Mode(c.Agent.Mode))
}

// startMode returns how approvals are decided at the start. Mode auto begins only where the fence holds, and
// in a resumed session only if the command line says so.
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
