package tmux

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// frame is the least time between two pictures of the same panes.
const frame = 33 * time.Millisecond

// Screen is a picture of a pane.
type Screen struct {
	Pane string
	W, H int
	// The cursor, from 0.
	CursorX, CursorY int
	CursorVisible    bool
	// AppKeys says that the program asked for the other codes of the arrow keys, those that
	// begin with ESC O.
	AppKeys bool
	// Rows hold the text of each row with SGR sequences and the shifts to line drawing (SO,
	// SI), as tmux captured it; no other control characters. It is a program's text:
	// sanitise it before it reaches a terminal.
	Rows []string
}

// painter takes pictures of watched panes when they print. While a picture is due, tmux
// is told to hold the pane's output back from us, so that a flood costs nobody anything.
type painter struct {
	connect func(context.Context) (*control, error)
	show    func(Screen)
	wake    chan struct{} // of one: there is something to do
	ctx     context.Context
	stop    context.CancelFunc
	ended   chan struct{} // closed when run has returned; nil if it was never started

	mu      sync.Mutex // guards what follows, and ended
	watched map[string]bool
	dirty   map[string]bool
	ctl     *control // that tells what panes print
}

func newPainter(connect func(context.Context) (*control, error), show func(Screen)) *painter {
	p := &painter{connect: connect, show: show, wake: make(chan struct{}, 1), watched: map[string]bool{}, dirty: map[string]bool{}}
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p
}

// watch sets the panes of which pictures are wanted; new ones get a picture at once.
func (p *painter) watch(panes []string) {
	if p.show == nil || p.ctx.Err() != nil {
		return
	}
	p.mu.Lock()
	old := p.watched
	p.watched = map[string]bool{}
	for _, id := range panes {
		p.watched[id] = true
		if !old[id] {
			p.dirty[id] = true
		}
	}
	if p.ended == nil && len(panes) > 0 {
		p.ended = make(chan struct{})
		go p.run()
	}
	p.mu.Unlock()
	p.poke()
}

// again asks for new pictures of everything: a pane was made or the connection ended.
func (p *painter) again() {
	p.mu.Lock()
	for id := range p.watched {
		p.dirty[id] = true
	}
	p.mu.Unlock()
	p.poke()
}

// printed is called by the control client's reader.
func (p *painter) printed(pane string) {
	p.mu.Lock()
	ctl, first := p.ctl, !p.dirty[pane]
	p.dirty[pane] = true
	watched := p.watched[pane]
	p.mu.Unlock()
	if ctl != nil && first {
		ctl.ask("refresh-client -A '"+pane+":pause'", "")
	}
	if watched {
		p.poke()
	}
}

func (p *painter) poke() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *painter) close() {
	p.stop()
	p.mu.Lock()
	ended := p.ended
	p.mu.Unlock()
	if ended != nil {
		<-ended
	}
}

func (p *painter) run() {
	defer close(p.ended)
	for last := (time.Time{}); ; last = time.Now() {
		select {
		case <-p.ctx.Done():
			return
		case <-p.wake:
		}
		if early := frame - time.Since(last); early > 0 {
			select {
			case <-p.ctx.Done():
				return
			case <-time.After(early):
			}
		}
		p.cycle()
	}
}

// cycle takes the pictures that are due.
func (p *painter) cycle() {
	ctl, err := p.connect(p.ctx)
	if err != nil {
		return // no pane: again is called when there is one
	}
	p.mu.Lock()
	p.ctl = ctl
	var due []string
	for id := range p.watched {
		if p.dirty[id] {
			due = append(due, id)
			delete(p.dirty, id)
		}
	}
	wanted := len(p.watched) > 0
	p.mu.Unlock()
	ctl.tellOutput(wanted)
	for _, id := range due {
		s, err := ctl.picture(p.ctx, id)
		if err == nil && p.ctx.Err() == nil {
			p.show(s)
		}
	}
}

// picture lets the pane's output come again, without what was held back, and then
// captures it: so nothing can be missed.
func (c *control) picture(ctx context.Context, pane string) (Screen, error) {
	ctx, stop := context.WithTimeout(ctx, answerWait)
	defer stop()
	const facts = `"#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{cursor_flag} #{keypad_cursor_flag}"`
	c.ask("refresh-client -A '"+pane+":continue'", "")
	about := c.ask("display-message -p -t "+pane+" "+facts, "")
	text := c.capture("capture-pane -p -e -t " + pane)
	lines, err := c.wait(ctx, about)
	if err != nil {
		return Screen{}, err
	}
	rows, err := c.wait(ctx, text)
	if err != nil {
		return Screen{}, err
	}
	return parseScreen(pane, lines, rows)
}

func parseScreen(pane string, facts, rows []string) (Screen, error) {
	s := Screen{Pane: pane, Rows: rows}
	visible, app := 0, 0
	if len(facts) != 1 {
		return Screen{}, fmt.Errorf("pane %s: %d lines about it (want 1)", pane, len(facts))
	}
	if _, err := fmt.Sscanf(facts[0], "%d %d %d %d %d %d", &s.W, &s.H, &s.CursorX, &s.CursorY, &visible, &app); err != nil {
		return Screen{}, fmt.Errorf("pane %s: size and cursor %q: %w", pane, facts[0], err)
	}
	s.CursorVisible, s.AppKeys = visible != 0, app != 0
	return s, nil
}
