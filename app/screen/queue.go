package screen

import (
	"slices"
	"sync"

	"github.com/gdamore/tcell/v2"
)

// queue passes events from tcell's goroutines to the caller of PollEvent. Its length is not limited, because a full
// queue would keep tcell from ending. Only typing and mouse moves fill it.
type queue struct {
	mu    sync.Mutex // guards items
	items []tcell.Event

	arrived chan struct{} // holds one token while items may not be empty
}

func newQueue() *queue { return &queue{arrived: make(chan struct{}, 1)} }

func (q *queue) push(ev tcell.Event) {
	q.mu.Lock()
	q.items = append(q.items, ev)
	q.mu.Unlock()
	q.signal()
}

// unread puts events at the front.
func (q *queue) unread(events []tcell.Event) {
	q.mu.Lock()
	q.items = append(slices.Clip(events), q.items...)
	q.mu.Unlock()
	q.signal()
}

func (q *queue) signal() {
	select {
	case q.arrived <- struct{}{}:
	default:
	}
}

// pop waits for an event. It returns nil when stop or quit is closed.
func (q *queue) pop(stop, quit <-chan struct{}) tcell.Event {
	for {
		select {
		case <-stop:
			return nil
		case <-quit:
			return nil
		default:
		}
		if ev := q.next(); ev != nil {
			return ev
		}
		select {
		case <-stop:
			return nil
		case <-quit:
			return nil
		case <-q.arrived:
		}
	}
}

func (q *queue) next() tcell.Event {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		q.items = nil
		return nil
	}
	ev := q.items[0]
	q.items = q.items[1:]
	return ev
}

func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items)
}
