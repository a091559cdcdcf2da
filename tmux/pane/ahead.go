package pane

import (
	"runtime"

	"buddy/tmux/pane/confine"
)

// ahead holds what a Shell needs to start the shell of the next command before that comes.
type ahead struct {
	allowed bool
	waits   *waitingShell // for the next command; nil: none does
	within  Sandboxed     // what held the last command
	alike   int           // how many commands before now were of that kind, one after the other
}

// aheadAfter limits starting ahead to after so many commands of a kind: a pane for one command needs no second shell.
const aheadAfter = 2

// StartAhead lets the shell of the next command start before that comes, where the last two were approved, or ran in
// the read-only sandbox: while the model thinks, it starts up, restricts itself or finds its state. Call it before the
// first command, in a process that is the parent of its orphans anyway: it is while such a shell waits.
func (s *Shell) StartAhead() { s.ahead.allowed = true }

// manner says how a command runs.
type manner struct {
	mode   Mode
	within Sandboxed
	// free means that it passes on only its folder, background that nobody looks at it at first.
	free, background bool
}

// set returns a line of shell that is evaluated before the command, "" for none.
func (m manner) set() string {
	if !m.background {
		return ""
	}
	return Exports(confine.Unattended)
}

// shellFor returns the shell for a command, which waits: the one that was started ahead if it is the same as one
// that starts now, in every respect.
func (s *Shell) shellFor(m manner) (*waitingShell, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &s.ahead
	switch {
	case m.mode != Capture || m.free || m.within == Fenced: // a fence is mounted when its shell starts, so that may not wait
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

// finish closes done, after which the next command may start, and starts the shell for that ahead.
func (s *Shell) finish(done chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(done)
	if !s.ahead.allowed || s.ahead.alike < aheadAfter {
		return
	}
	runtime.Gosched() // who waits for done tells the client first
	h, err := s.describe(manner{mode: Capture, within: s.ahead.within})
	if err != nil || h.at == nil || h.start() != nil {
		return // the next command finds out what is wrong
	}
	s.ahead.waits = h
}

// dropWaiting ends the shell that was started ahead, if there is one. The caller holds mu, and no command
// runs.
func (s *Shell) dropWaiting() {
	if s.ahead.waits != nil {
		s.ahead.waits.end()
		s.ahead.waits = nil
	}
}

// describe returns the shell for the next command, not started yet. The caller holds mu.
func (s *Shell) describe(m manner) (*waitingShell, error) {
	switch {
	case s.env == nil:
		return nil, errNoGreeting
	case m.within == Unheld:
		return s.unheld(m), nil
	}
	return s.held(m.mode, m.within)
}
