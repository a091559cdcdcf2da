package app

import (
	"errors"
	"fmt"
)

// Exit codes.
const (
	exitDone      = 0
	exitFailed    = 1
	exitUsage     = 2
	exitCancelled = 130
)

// exit is an error that carries an exit code. An empty text prints nothing.
type exit struct {
	code int
	text string
	help bool // the help says how it is right
}

func (e exit) Error() string { return e.text }

func usage(format string, args ...any) error {
	return exit{exitUsage, fmt.Sprintf(format, args...), true}
}

// failed gives an error the exit code of a failure, unless it has one.
func failed(err error) error {
	if err == nil || errors.As(err, &exit{}) {
		return err
	}
	return exit{code: exitFailed, text: err.Error()}
}

// mistake gives an error the exit code of wrong settings.
func mistake(err error) error { return exit{code: exitUsage, text: err.Error()} }
