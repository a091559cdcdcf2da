package headless

import (
	"io"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/features/goal"
)

// Options holds what the command line says of one prompt.
type Options struct {
	Resume   string        // a session: its id, the beginning of one, or last
	JSON     bool          // print every event instead of the answer
	Quiet    bool          // print nothing but errors and lost limits on stderr
	Schema   string        // a file with a JSON Schema that the answer has to fit
	Timeout  time.Duration // 0 is none
	Workflow bool          // a workflow is run: it has outputs, and may need no model
	MaxTurns *int          // nil: as the configuration says; 0 is no limit
	MaxCost  *model.Money  // nil: as the configuration says; 0 is no limit
	Check    string        // the prompt is a goal, which is met when this command exits with 0
	Outside  bool          // Check runs outside the fence in mode auto, too
	Verdict  bool          // the prompt is a goal, of which a subagent says whether it is met
}

// goal reports whether the prompt is a goal.
func (o Options) goal() bool { return o.Check != "" || o.Verdict }

// begin returns the command that begins the work on a prompt.
func (o Options) begin(p request) (event.Command, error) {
	if err := o.wordsOnly(p.text); err != nil {
		return nil, err
	}
	switch {
	case !o.goal():
		return event.Submit{Text: p.text, Images: p.images}, nil
	case len(p.images) > 0:
		return nil, exit.Usage("the prompt has pictures, which can't be part of a goal (--check, --verdict): mention the files as text")
	}
	return event.SetGoal{Goal: p.text, Check: o.Check, Outside: o.Outside, Verdict: o.Verdict}, nil
}

// Said returns where to print what is no error.
func (o Options) Said(stderr io.Writer) io.Writer {
	if o.Quiet {
		return io.Discard
	}
	return stderr
}

// limit puts the limits of the command line in place of those of the configuration.
func (o Options) limit(p *compose.Program) {
	to, goals := &p.Options, goal.Settings.In(&p.Config)
	if o.MaxTurns != nil {
		to.MaxIterations, goals.Turns = *o.MaxTurns, *o.MaxTurns
	}
	if o.MaxCost != nil {
		to.MaxCost, goals.Cost = *o.MaxCost, *o.MaxCost
	}
}
