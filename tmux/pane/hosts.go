package pane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"buddy/tmux/pane/fence"
)

const (
	// hostWait limits how long a command's connection waits for a decision about its host. Clients answer earlier.
	hostWait = 6 * time.Minute
	// hostsMost limits the hosts that the user is asked about per command.
	hostsMost = 32
)

// Host is a host outside the settings that a sandboxed command asks to reach: an internet name in lower case letters,
// digits, - and _.
type Host struct {
	Name string `json:"name"`
	Port string `json:"port"`
}

// hostAnswer is the decision about a host.
type hostAnswer struct {
	Host
	Refused string `json:"refused,omitempty"` // the reason for a refusal; "" allows it
	Nobody  bool   `json:"nobody,omitempty"`  // nobody was asked
}

// err returns nil if the host is allowed.
func (a hostAnswer) err() error {
	switch {
	case a.Nobody:
		return fence.ErrNobody
	case a.Refused != "":
		return errors.New(a.Refused)
	}
	return nil
}

// hosts asks the client of a sandboxed command whether the command may connect to a host, once for each host. The
// answer is valid as long as the command runs.
type hosts struct {
	mu    sync.Mutex // guards the fields below
	send  func(Host) // sends to the client; nil: there is no client
	n     int        // counts the clients
	known map[string]*hostState
}

// hostState is a host that the client was asked about.
type hostState struct {
	port     string
	answered chan struct{} // closed when err is set
	err      error
}

// of makes h decide which hosts the command of a shell may reach, if that command runs in the workspace sandbox.
func (h *hosts) of(shell *waitingShell) {
	if f, ok := shell.by.(*fence.Fence); ok {
		f.Ask(shell.proc.Process.Pid, h.ask)
	}
}

// join sets the client that decides about hosts: new ones, and those that were requested while there was no client.
// leave removes the client and refuses all undecided hosts.
func (h *hosts) join(send func(Host)) (leave func()) {
	h.mu.Lock()
	if h.n > 0 {
		h.refuse()
	}
	h.n++
	me := h.n
	h.send = send
	var wait []Host
	for name, s := range h.known {
		if !s.over() {
			wait = append(wait, Host{Name: name, Port: s.port})
		}
	}
	h.mu.Unlock()
	for _, one := range wait {
		send(one)
	}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.n == me {
			h.send = nil
			h.refuse()
		}
	}
}

// over reports whether the host was allowed or refused.
func (s *hostState) over() bool {
	select {
	case <-s.answered:
		return true
	default:
		return false
	}
}

// refuse refuses all waiting hosts. The caller holds mu.
func (h *hosts) refuse() {
	for name := range h.known {
		h.settle(name, fence.ErrNobody)
	}
}

// settle stores the decision about a host, unless there is one already. The caller holds mu.
func (h *hosts) settle(name string, err error) {
	if s := h.known[name]; s != nil && !s.over() {
		s.err = err
		close(s.answered)
	}
}

// answer handles a client's answer.
func (h *hosts) answer(payload []byte) {
	var a hostAnswer
	if json.Unmarshal(payload, &a) != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.settle(a.Name, a.err())
}

// ask implements [fence.Ask] by asking the client about a host.
func (h *hosts) ask(ctx context.Context, name, port string) error {
	h.mu.Lock()
	s, send := h.known[name], h.send
	switch {
	case s != nil:
		send = nil
	case send == nil && h.n > 0:
		h.mu.Unlock()
		return fence.ErrNobody
	case len(h.known) >= hostsMost:
		h.mu.Unlock()
		return fmt.Errorf("this command has asked for %d others", hostsMost)
	default:
		if h.known == nil {
			h.known = make(map[string]*hostState)
		}
		s = &hostState{port: port, answered: make(chan struct{})}
		h.known[name] = s
	}
	h.mu.Unlock()
	if send != nil {
		send(Host{Name: name, Port: port})
	}
	limit := time.NewTimer(hostWait)
	defer limit.Stop()
	select {
	case <-s.answered:
		return s.err
	case <-limit.C:
		return fmt.Errorf("nobody answered within %v", hostWait)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
