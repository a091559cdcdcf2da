package app

import (
	"io"
	"time"

	"buddy/agent"
	"buddy/agent/model"
)

// onceFlags holds what the command line says of one prompt.
type onceFlags struct {
	resume   string        // a session: its id, the beginning of one, or last
	json     bool          // print every event instead of the answer
	quiet    bool          // print nothing but errors on stderr
	schema   string        // a file with a JSON Schema that the answer has to fit
	timeout  time.Duration // 0 is none
	maxTurns *int          // nil: as the configuration says; 0 is no limit
	maxCost  *model.Money  // nil: as the configuration says; 0 is no limit
}

// said returns where to print what is no error.
func (o onceFlags) said(stderr io.Writer) io.Writer {
	if o.quiet {
		return io.Discard
	}
	return stderr
}

// limit puts the limits of the command line in place of those of the configuration.
func (o onceFlags) limit(to *agent.Options) {
	if o.maxTurns != nil {
		to.MaxTurns = *o.maxTurns
	}
	if o.maxCost != nil {
		to.MaxCost = *o.maxCost
	}
}
