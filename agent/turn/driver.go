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

// Driver is a [Part] that has commands of its own and decides about the main tasks of a session: when one ends, when one
// begins without a prompt, and how one continues that an earlier process left open. Drivers are asked in the order of the
// parts.
type Driver interface {
	// Bind gives the driver what it works with, before anything else.
	Bind(d Driving)
	// Handle does what a command asks for, and reports whether it did: false leaves the command to others. It also gets
	// [event.Continue], if there is something to continue.
	Handle(c event.Command) bool
	// Run does the work of a main task up to its outcome, "" if the driver leaves that to others. again means that the
	// task continues one that has ended or was interrupted.
	Run(ctx context.Context, x *Exchange, again bool) (event.Outcome, error)
	// Ended gets how a main task has ended, and reports whether another one is to begin.
	Ended(outcome event.Outcome, err error) (again bool)
	// Left gets what an earlier process left open of the main conversation, nil for nothing. It reports whether the
	// driver continues all of that itself, when it gets [event.Continue].
	Left(l *record.Branch) bool
	// Waits tells the person what [event.Continue] continues; "" is nothing.
	Waits() string
	// Past returns a function that gets the stored events up to an earlier moment, and one that goes back to it.
	Past() (seen func(event.Event), goBack func())
}

// Work is the work of a task up to its outcome.
type Work = func(context.Context, *Exchange) (event.Outcome, error)

// Driving holds what a [Driver] works with. Run and Handle may call its functions; the other methods only Closing,
// because the tasks are locked while they are called.
type Driving struct {
	Loop      *Loop
	Stream    *stream.Stream
	Approvals *approval.Broker
	Ledger    *usage.Ledger
	Now       func() time.Time

	// Closing reports whether the session is ending: approvals and questions are denied, then tasks are cancelled.
	Closing func() bool
	// Submit gives the main conversation a prompt, unless it can't be taken. accepted is called before that.
	Submit func(text string, accepted func()) error
	// Start begins a main task for a line that a person typed. The line is rejected while another one is running.
	Start func(line string, do Work)
	// Continue begins a main task that continues the last one, unless one is running.
	Continue func()
	// Cancel stops a task, and reports whether it was running.
	Cancel func(task int) bool
	// Waiting reports whether a prompt waits for the main task.
	Waiting func() bool
}
