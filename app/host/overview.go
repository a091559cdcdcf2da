package host

import (
	"sync"

	"buddy/agent/event"
	"buddy/agent/record"
	"buddy/app/client"
	"buddy/sessions"
)

// look calls read with the record of the session; see [stream.Stream.Look]. Without a session the record is empty.
func (h *Host) look(read func(*record.Record)) {
	if h.ready == nil {
		read(&record.Record{})
		return
	}
	h.ready.Look(read)
}

// busy reports whether anything runs or waits for the user.
func (h *Host) busy() (busy bool) {
	h.look(func(r *record.Record) { busy = r.Busy() })
	return busy
}

// isOpen reports whether an approval or a question is open.
func (h *Host) isOpen(id string) (waits bool) {
	h.look(func(r *record.Record) { _, waits = r.Asked[id] })
	return waits
}

// approvals returns the ids of the open approvals.
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

func stateOf(r *record.Record) client.State {
	state := client.Idle
	switch {
	case r.Busy():
		state = client.Background
	case r.Main.Failed:
		state = client.Failed
	}
	for _, t := range r.Tasks {
		if !t.Lost && t.Kind.HasConversation() {
			state = client.Working
		}
	}
	for _, env := range r.Asked {
		if _, approval := env.Payload.(event.ApprovalAsked); approval {
			return client.WaitsForApproval
		}
		state = client.WaitsForAnswer
	}
	return state
}

// latest holds the newest texts of the session. Any goroutine may use it.
type latest struct {
	mu sync.Mutex // guards all
	client.Latest
}

func (l *latest) apply(env event.Envelope) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Apply(env)
}

func (l *latest) get() client.Latest {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Latest
}

// naming caches the title and the start time of a session.
type naming struct {
	mu    sync.Mutex // guards all below
	title string
	began int64 // Unix milliseconds; 0 until the session's file has been read
}

// of returns the title and the start time of the session, zeros while it has no prompt. It reads the session's file
// only once, because that may take long. If ok is set, renamed is a newer title than the one in the file.
func (n *naming) of(renamed string, ok bool, read func() (sessions.Entry, error)) (title string, began int64) {
	n.mu.Lock()
	title, began = n.title, n.began
	n.mu.Unlock()
	if began == 0 {
		entry, err := read() // without the lock, so that others don't wait
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
