package pane

import "sync"

const (
	mailboxMax = 256 << 10 // bytes that may wait for a slow reader
	chunkMax   = 32 << 10  // size up to which pieces are joined
)

// Chunk is a piece of live output. Total counts the stream's bytes so far, including this piece; a jump means that
// bytes were skipped.
type Chunk struct {
	Stream string
	Bytes  []byte
	Total  int64
}

// Mailbox buffers live output for one reader. Put never blocks: pieces are joined, and the oldest are dropped when more
// than 256 KiB wait. Create it with [NewMailbox].
type Mailbox struct {
	mu     sync.Mutex // guards the fields below
	wake   sync.Cond
	chunks []Chunk
	size   int
	closed bool
}

// NewMailbox returns an empty mailbox.
func NewMailbox() *Mailbox {
	m := new(Mailbox)
	m.wake.L = &m.mu
	return m
}

// Put adds a copy of p, unless the mailbox is closed.
func (m *Mailbox) Put(stream string, p []byte, total int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	if i := len(m.chunks) - 1; i >= 0 && m.chunks[i].Stream == stream && len(m.chunks[i].Bytes)+len(p) <= chunkMax &&
		m.chunks[i].Total+int64(len(p)) == total {
		m.chunks[i].Bytes = append(m.chunks[i].Bytes, p...)
		m.chunks[i].Total = total
	} else {
		m.chunks = append(m.chunks, Chunk{stream, append([]byte(nil), p...), total})
	}
	m.size += len(p)
	drop := 0
	for ; m.size > mailboxMax && drop < len(m.chunks)-1; drop++ {
		m.size -= len(m.chunks[drop].Bytes)
	}
	if drop > 0 {
		m.chunks = append(m.chunks[:0], m.chunks[drop:]...)
	}
	m.wake.Signal()
}

// Take waits for output and returns the oldest piece, which then belongs to the caller.
// It returns false when the mailbox is closed and empty.
func (m *Mailbox) Take() (Chunk, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.chunks) == 0 && !m.closed {
		m.wake.Wait()
	}
	if len(m.chunks) == 0 {
		return Chunk{}, false
	}
	c := m.chunks[0]
	m.chunks = append(m.chunks[:0], m.chunks[1:]...)
	m.size -= len(c.Bytes)
	return c, true
}

// Close closes the mailbox: Put does nothing any more, Take still returns the waiting pieces.
func (m *Mailbox) Close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.wake.Broadcast()
}
