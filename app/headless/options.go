package headless

import (
	"io"
	"time"

	"buddy/agent"
	"buddy/agent/model"
)

// Options holds what the command line says of one prompt.
type Options struct {
	Resume   string        // a session: its id, the beginning of one, or last
	JSON     bool          // print every event instead of the answer
	Quiet    bool          // print nothing but errors on stderr
	Schema   string        // a file with a JSON Schema that the answer has to fit
	Timeout  time.Duration // 0 is none
	Workflow bool          // a workflow is run: it has outputs, and may need no model
	MaxTurns *int          // nil: as the configuration says; 0 is no limit
	MaxCost  *model.Money  // nil: as the configuration says; 0 is no limit
}

// Said returns where to print what is no error.
func (o Options) Said(stderr io.Writer) io.Writer {
	if o.Quiet {
		return io.Discard
	}
	return stderr
}

// limit puts the limits of the command line in place of those of the configuration.
func (o Options) limit(to *agent.Options) {
	if o.MaxTurns != nil {
		to.MaxTurns = *o.MaxTurns
	}
	if o.MaxCost != nil {
		to.MaxCost = *o.MaxCost
	}
}
