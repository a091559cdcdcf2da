// Package exit defines errors that carry the exit code of the program.
//
//	return exit.Usage("--at takes a number, not %q", text) // the process exits with exit.BadUsage
package exit

import (
	"errors"
	"fmt"
)

// Exit codes.
const (
	Done      = 0
	Failed    = 1
	BadUsage  = 2
	Cancelled = 130
)

// Error is an error that carries an exit code. An empty text prints nothing.
type Error struct {
	Code int
	Text string
	Help bool // the help shows the right usage
}

func (e Error) Error() string { return e.Text }

// Usage returns an error about wrong arguments. When it is printed, a hint to the command's help follows.
func Usage(format string, args ...any) error {
	return Error{BadUsage, fmt.Sprintf(format, args...), true}
}

// Failure returns err with the exit code of a failure. It returns err unchanged if it is nil or has a code already.
func Failure(err error) error {
	if _, coded := errors.AsType[Error](err); coded || err == nil {
		return err
	}
	return Error{Code: Failed, Text: err.Error()}
}

// Mistake returns err, which must not be nil, with the exit code of wrong settings.
func Mistake(err error) error { return Error{Code: BadUsage, Text: err.Error()} }
