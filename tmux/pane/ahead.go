package pane

import (
	"runtime"

	"buddy/tmux/pane/confine"
)

// ahead holds what a Shell needs to start the next command's shell in advance.
type ahead struct {
	allowed bool
	waits   *waitingShell // for the next command; nil: none
	within  Sandboxed     // the sandbox of the last command
	alike   int           // number of consecutive last commands with that sandbox
}

// aheadAfter is the number of consecutive commands in the same sandbox after which the next shell is started in
// advance. One is not enough, because a pane for a single command needs no second shell.
const aheadAfter = 2

// StartAhead allows the Shell to start the next command's shell in advance, so that the shell restricts itself or loads
// its state while the model thinks. The Shell does so if the last two commands were approved, or if both ran in the
// read-only sandbox. Call StartAhead before the first command, and only in a process that adopts orphans for its whole
// life, because it adopts them while such a shell waits.
func (s *Shell) StartAhead() { s.ahead.allowed = true }

// manner holds the settings with which a command runs.
type manner struct {
	mode   Mode
	within Sandboxed
	// free means that the command takes only the folder from the shell's state; background means that nobody watches
	// the command at first.
	free, background bool
}

// set returns a shell line that is evaluated before the command, "" for none.
func (m manner) set() string {
	if !m.background {
		return ""
	}
	return Exports(confine.Unattended)
}

// shellFor returns a started shell for a command: the one that was started in advance, if a new one would equal it in
// every respect, else a new one.
func (s *Shell) shellFor(m manner) (*waitingShell, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &s.ahead
	switch {
	case m.mode != Capture || m.free || m.within == Fenced: // a workspace sandbox must not be mounted ahead of time
		a.alike = 0
	case a.within != m.within:
		a.alike = 1
	default:
		a.alike++
	}
	a.within = m.within
	h, err := s.describe(m)
	if err == nil && a.waits.same(h) {
		h, a.waits = a.waits, nil
		return h, nil
	}
	s.dropWaiting()
	if err != nil {
		return nil, err
	}
	return h, h.start()
}

// finish closes done, after which the next command may start, and starts the next shell in advance.
func (s *Shell) finish(done chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(done)
	if !s.ahead.allowed || s.ahead.alike < aheadAfter {
		return
	}
	runtime.Gosched() // so that waiters for done notify the client first
	h, err := s.describe(manner{mode: Capture, within: s.ahead.within})
	if err != nil || h.at == nil || h.start() != nil {
		return // the next command reports the error
	}
	s.ahead.waits = h
}

// dropWaiting ends the shell that was started in advance, if there is one. The caller holds mu, and no command runs.
func (s *Shell) dropWaiting() {
	if s.ahead.waits != nil {
		s.ahead.waits.end()
		s.ahead.waits = nil
	}
}

// describe returns a shell for the next command, which the caller has to start. The caller holds mu.
func (s *Shell) describe(m manner) (*waitingShell, error) {
	switch {
	case s.env == nil:
		return nil, errNoGreeting
	case m.within == Unheld:
		return s.unheld(m), nil
	}
	return s.held(m.mode, m.within)
}
