// Command buddy is a terminal agent. You talk to a language model, which runs commands in tmux panes that you can
// watch, type into and attach to. buddy asks you before anything is changed.
//
// Results go to stdout; messages go to stderr as "buddy: message", if possible with a line about what to do next. The
// exit code is 0 for success, 1 for a failure, 2 for wrong usage and 130 after cancelling.
package main

import (
	"os"

	"buddy/app"
)

func main() { os.Exit(app.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
