package host

import (
	"sync"

	"buddy/agent/event"
	"buddy/agent/record"
	"buddy/app/live"
	"buddy/sessions"
)

// look lets a function read what is open in the session; see [stream.Stream.Look]. Without a session the record is empty.
func (h *Host) look(read func(*record.Record)) {
	if h.ready == nil {
		read(&record.Record{})
		return
	}
	h.ready.Look(read)
}

// busy reports whether anything runs or waits for a person.
func (h *Host) busy() (busy bool) {
	h.look(func(r *record.Record) { busy = r.Busy() })
	return busy
}

// waits reports whether an approval or a question has no answer yet.
func (h *Host) waits(id string) (waits bool) {
	h.look(func(r *record.Record) { _, waits = r.Asked[id] })
	return waits
}

// approvals returns the ids of the approvals that have no answer yet.
func (h *Host) approvals() (ids []string) {
	h.look(func(r *record.Record) {
		for id, env := range r.Asked {
			if _, ok := env.Payload.(event.ApprovalAsked); ok {
				ids = append(ids, id)
			}
		}
	})
	return ids
}

// stateOf says what a session does.
func stateOf(r *record.Record) live.State {
	state := live.Idle
	switch {
	case r.Busy():
		state = live.Background
	case r.Main.Failed:
		state = live.Failed
	}
	for _, t := range r.Tasks {
		if !t.Lost && t.Kind != event.ShellTask {
			state = live.Working
		}
	}
	for _, env := range r.Asked {
		if _, approval := env.Payload.(event.ApprovalAsked); approval {
			return live.WaitsForApproval
		}
		state = live.WaitsForAnswer
	}
	return state
}

// naming holds the title of a session and when it began.
type naming struct {
	mu    sync.Mutex // guards all below
	title string
	began int64 // Unix milliseconds; 0: the session's file has not been read yet
}

// of returns the title and when the session began, zeros while it has no prompt. It reads the file once, as that takes the
// longer the more there is in it; renamed is the later title that came as an event, if ok.
func (n *naming) of(renamed string, ok bool, read func() (sessions.Entry, error)) (title string, began int64) {
	n.mu.Lock()
	title, began = n.title, n.began
	n.mu.Unlock()
	if began == 0 {
		entry, err := read() // without the lock: others don't wait
		if err != nil || entry.Title == "" {
			return "", entry.Header.Created
		}
		title, began = entry.Title, entry.Header.Created
		n.mu.Lock()
		n.title, n.began = title, began
		n.mu.Unlock()
	}
	if ok {
		title = renamed
	}
	return title, began
}
