// Command buddy is a full-screen terminal agent: you talk to a language model in one
// pane, it runs commands in real tmux panes that you can watch, type into and attach to,
// and it asks before it changes anything.
//
// Output: results go to stdout, everything else to stderr as "buddy: message", without capitals or periods, and a line
// with the next step where there is one. It exits with 0 when done, 1 after a failure, 2 on wrong usage, 130 when
// cancelled.
package main

import (
	"os"

	"buddy/app"
)

func main() { os.Exit(app.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
