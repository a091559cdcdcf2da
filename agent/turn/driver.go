package turn

import (
	"context"
	"time"

	"buddy/agent/approval"
	"buddy/agent/event"
	"buddy/agent/record"
	"buddy/agent/stream"
	"buddy/agent/usage"
)

// Driver is a [Part] that has its own commands and controls the main tasks of a session: how a task runs, whether
// another one follows, and how an interrupted one continues. Drivers are asked in the order of the parts.
type Driver interface {
	// Bind is called first and gives the driver its dependencies.
	Bind(d Driving)
	// Handle executes a command and reports whether it did; false leaves the command to others. It also gets
	// [event.Continue] if there is something to continue.
	Handle(c event.Command) bool
	// Run runs a main task and returns its outcome; "" leaves the task to others. again means that the task continues
	// one that has ended or was interrupted.
	Run(ctx context.Context, x *Exchange, again bool) (event.Outcome, error)
	// Ended is called with the end of a main task, and reports whether another main task follows.
	Ended(outcome event.Outcome, err error) (again bool)
	// Left gets the recovery state of the main conversation, nil for none. It reports whether the driver itself continues
	// all of the interrupted work when it gets [event.Continue].
	Left(l *record.Branch) bool
	// Waits returns a text for the person that describes what [event.Continue] continues, "" if nothing.
	Waits() string
	// Past prepares a rewind: seen gets the stored events up to an earlier moment, and then goBack rewinds the driver
	// to that moment.
	Past() (seen func(event.Event), goBack func())
}

// Work runs a task and returns its outcome.
type Work = func(context.Context, *Exchange) (event.Outcome, error)

// Driving holds the dependencies of a [Driver]. Run and Handle may call its functions. The other methods may call
// only Closing, because the tasks are locked while they run.
type Driving struct {
	Loop      *Loop
	Stream    *stream.Stream
	Approvals *approval.Broker
	Ledger    *usage.Ledger
	Now       func() time.Time

	// Closing reports whether the session is ending: approvals and questions are denied, then tasks are cancelled.
	Closing func() bool
	// Submit sends a prompt to the main conversation, unless prompts are not accepted now. It calls the function accepted
	// before it sends the prompt.
	Submit func(text string, accepted func()) error
	// Start starts a main task for a line that a person typed. The line is rejected while another main task is
	// running.
	Start func(line string, do Work)
	// Continue starts a main task that continues the last one, unless a main task is running.
	Continue func()
	// Cancel stops a task, and reports whether it was running.
	Cancel func(task int) bool
	// Waiting reports whether a prompt waits for the main task.
	Waiting func() bool
}
