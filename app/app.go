// Package app implements the program's entry point. A key becomes a command for the runtime, and an event of the
// runtime reaches the screen, in these steps:
//
//	prompt ── key ──▶ views ── intent ──▶ app ── event.Command ──▶ agent.Runtime
//	screen ◀─ draw ── views ◀─ Changed ── state.Apply ◀─ pump ◀─ event.Envelope ─┘
//
// Package main only calls Main:
//
//	code := app.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
package app

import (
	"os"

	"buddy/app/cli"
	"buddy/app/gc"
	"buddy/app/host"
	"buddy/tmux/pane"
)

// Main runs the program and returns its exit code.
func Main(args []string, stdin, stdout, stderr *os.File) int {
	if len(args) > 0 && args[0] == "pane" {
		return pane.Main(args[1:]) // the supervisor of a pane: started by us, not by people
	}
	gc.QuickStart()
	if len(args) > 0 && args[0] == "host" {
		return host.Main() // runs a session: started by us as well
	}
	return cli.Main(args, stdin, stdout, stderr)
}
