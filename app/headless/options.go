package headless

import (
	"io"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/app/slash"
	"buddy/features/goal"
)

// Options holds the options of the command line for one prompt.
type Options struct {
	Resume   string        // a session: its id, the start of one, or last
	ID       string        // of the session, which gets the same prompt only once; only for Detach
	JSON     bool          // print every event instead of the answer
	Quiet    bool          // print only errors and warnings about inactive restrictions on stderr
	Schema   string        // a file with a JSON Schema for the answer
	Timeout  time.Duration // 0 for none
	Workflow bool          // a workflow is run: it has outputs, and may need no model
	MaxTurns *int          // nil for the setting; 0 for no limit
	MaxCost  *model.Money  // nil for the setting; 0 for no limit
	Check    string        // the prompt is a goal that is met when this command exits with 0
	Outside  bool          // in auto mode, too, Check runs outside the sandbox
	Verdict  bool          // the prompt is a goal that a subagent judges
	Every    time.Duration // the time between the starts of two runs of the prompt; 0 runs it once
	Runs     int           // the number of runs with Every; 0 for no limit
}

func (o Options) goal() bool { return o.Check != "" || o.Verdict }

// begin returns the first command for a prompt.
func (o Options) begin(p request) (event.Command, error) {
	if err := o.wordsOnly(p.text); err != nil {
		return nil, err
	}
	switch {
	case o.Every > 0:
		return o.loop(event.Submit{Text: p.text, Images: p.images})
	case !o.goal():
		return event.Submit{Text: p.text, Images: p.images}, nil
	case len(p.images) > 0:
		return nil, exit.Usage("the prompt has pictures, which can't be part of a goal (--check, --verdict): mention the files as text")
	}
	return event.SetGoal{Goal: p.text, Check: o.Check, Outside: o.Outside, Verdict: o.Verdict}, nil
}

// loop returns the command that repeats a prompt.
func (o Options) loop(prompt event.Submit) (event.Command, error) {
	l := slash.NewLoop(o.Every, prompt)
	l.Runs = o.Runs
	if o.Timeout > 0 {
		l.Limit.TimeMS = o.Timeout.Milliseconds()
	}
	if o.MaxTurns != nil {
		l.Limit.Turns = *o.MaxTurns
	}
	if o.MaxCost != nil {
		l.Limit.Cost = *o.MaxCost
	}
	if err := l.Check(); err != nil {
		return nil, exit.Usage("--every: %v", err)
	}
	return l, nil
}

// Said returns the writer for messages that are not errors.
func (o Options) Said(stderr io.Writer) io.Writer {
	if o.Quiet {
		return io.Discard
	}
	return stderr
}

// limit sets the limits of the command line in a program.
func (o Options) limit(p *compose.Program) {
	to, goals := &p.Options, goal.Settings.In(&p.Config)
	if o.MaxTurns != nil {
		to.MaxIterations, goals.Turns = *o.MaxTurns, *o.MaxTurns
	}
	if o.MaxCost != nil {
		to.MaxCost, goals.Cost = *o.MaxCost, *o.MaxCost
	}
}
