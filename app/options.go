package app

import "buddy/agent/action"

// flags are what the command line says.
type flags struct {
	config  string
	model   string
	baseURL string
	noColor bool
	plain   bool
	theme   string
	tmux    string
	approve action.Mode

	// where commands run
	ssh       string
	sshConfig string
	container string
	targets   []string // of the configuration; the first is where the session begins
	dir       string
	also      []string // more folders to work in

	debug bool
	log   *debugLog // nil without --debug

	headless bool // nobody sees a title, or a demo in the place of a model
}
