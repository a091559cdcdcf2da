package compose

import (
	"cmp"

	"buddy/agent/action"
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

	// where commands run
	SSH       string
	SSHConfig string
	Container string
	Targets   []string // of the configuration; the first is where the session begins
	Dir       string
	Also      []string // more folders to work in

	Session string // the id of a new session; "" makes one

	Log *DebugLog `json:"-"` // nil without --debug

	Cleared   bool // a person left another session for this new one
	Modelless bool // nothing asks a model unless a step of a workflow does: without one there is the demo
	Headless  bool // nobody sees a title, or a demo in the place of a model
}

// mode returns how approvals are decided at the start.
func (f *Options) mode(c config.Config) action.Mode {
	return cmp.Or(f.Approve, action.Mode(c.Agent.Mode))
}
