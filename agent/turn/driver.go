package turn

import (
	"context"
	"time"

	"buddy/agent/approval"
	"buddy/agent/event"
	"buddy/agent/stream"
	"buddy/agent/usage"
)

// Driver is a [Part] that decides when the main task of a session ends, and when one begins that no prompt opens. A
// session has at most one.
type Driver interface {
	// Bind gives the driver what it works with, before anything else.
	Bind(d Driving)
	// Take does what a command asks for, and reports whether the command is one of the driver's. It gets
	// [event.Continue], too, before the main task goes on.
	Take(c event.Command) bool
	// Run does the work of a main task up to its outcome. again means that it takes up what has ended or was
	// interrupted.
	Run(ctx context.Context, x *Exchange, again bool) (event.Outcome, error)
	// Ended gets how a main task has ended, "" when its process did, and reports whether another one is to begin.
	Ended(outcome event.Outcome, err error) (again bool)
	// Waits says, for the person, what goes on with [event.Continue]; "" is nothing.
	Waits() string
	// Past returns a function that gets the stored events up to an earlier moment, and one that goes back to it.
	Past() (take func(event.Event), goBack func())
}

// Driving holds what a [Driver] works with. Run may call its functions, and Take with the driver's own commands; the
// other methods may not, because the tasks are locked while they are called.
type Driving struct {
	Context   context.Context // ends with the session
	Loop      *Loop
	Stream    *stream.Stream
	Approvals *approval.Broker
	Ledger    *usage.Ledger
	Now       func() time.Time

	// Submit gives the main conversation a prompt, unless it can't be taken. accepted is called before that.
	Submit func(text string, accepted func()) error
	// GoOn begins a main task that runs again, unless one runs.
	GoOn func()
	// Waiting reports whether a prompt waits for the main task.
	Waiting func() bool
}
