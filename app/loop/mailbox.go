package loop

import "sync"

// mail holds requests to the pump.
type mail struct {
	posts   []func()
	lazy    []func() // run before the next draw
	late    bool     // lazy has waited long enough
	draw    bool     // a draw for keys was skipped
	ticking bool     // stays as it is until changed
	quit    bool
}

// mailbox passes requests to the pump. Writing to it never blocks, because the pump may be waiting for the writing
// goroutine.
type mailbox struct {
	mu   sync.Mutex // guards mail
	mail mail

	arrived chan struct{} // holds one token while the mail may be new
}

func newMailbox() *mailbox { return &mailbox{arrived: make(chan struct{}, 1)} }

func (b *mailbox) change(f func(*mail)) {
	b.mu.Lock()
	f(&b.mail)
	b.mu.Unlock()
	b.signal()
}

// setTicking wakes the pump only if the value changes, because it is called with each batch of events.
func (b *mailbox) setTicking(on bool) {
	b.mu.Lock()
	changed := b.mail.ticking != on
	b.mail.ticking = on
	b.mu.Unlock()
	if changed {
		b.signal()
	}
}

func (b *mailbox) signal() {
	select {
	case b.arrived <- struct{}{}:
	default:
	}
}

func (b *mailbox) next() mail {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.mail
	b.mail.posts, b.mail.lazy = nil, nil
	b.mail.draw, b.mail.quit, b.mail.late = false, false, false
	return m
}
