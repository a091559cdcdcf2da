package tmux

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// frame is the minimum time between two rounds. Each round captures all panes that have printed, so that many panes
// cause no more rounds than one. Screens are not drawn more often either.
const frame = 33 * time.Millisecond

// retryGap is the minimum time between two attempts to attach to a session that refuses the control client. Without a
// pause, the painter would try again at once, because the end of each client wakes it.
const retryGap = time.Second

// Screen holds the visible text of a pane.
type Screen struct {
	Pane string
	W, H int
	// The cursor's position, from 0.
	CursorX, CursorY int
	CursorVisible    bool
	// AppKeys means that the program asked for application codes of the arrow keys, which start with ESC O.
	AppKeys bool
	// Rows hold the text of each row with SGR sequences and the shifts to line drawing (SO, SI),
	// as tmux captured it; no other control characters. The text comes from a program: sanitise
	// it before it reaches a terminal.
	Rows []string
}

// painter captures watched panes when they print. While a pane prints faster than it is
// captured, tmux pauses the pane's output to us, so that a flood costs nothing.
type painter struct {
	connect func(context.Context) (*control, error)
	show    func(Screen)
	wake    chan struct{} // work is due
	ctx     context.Context
	stop    context.CancelFunc
	ended   chan struct{} // closed when run has returned; nil if it never started
	retry   time.Time     // the next attempt to attach is not earlier; used by run only

	mu      sync.Mutex // guards the fields below and ended
	watched map[string]bool
	dirty   map[string]bool
	paused  map[string]bool // panes with paused output
	last    time.Time       // when the last round started
	waiting bool            // run waits for the next round, so printing need not wake it
	ctl     *control        // the client that reports printing panes
}

func newPainter(connect func(context.Context) (*control, error), show func(Screen)) *painter {
	p := &painter{connect: connect, show: show, wake: make(chan struct{}, 1), watched: map[string]bool{}, dirty: map[string]bool{}, paused: map[string]bool{}}
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p
}

// watch sets the panes to capture; new ones are captured at once.
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

// invalidate has every pane captured again, after a pane was created or the connection ended.
func (p *painter) invalidate() {
	p.mu.Lock()
	for id := range p.watched {
		p.dirty[id] = true
	}
	p.mu.Unlock()
	p.poke()
}

// printed marks a pane as changed; the control client's reader calls it.
func (p *painter) printed(pane string) {
	p.mu.Lock()
	ctl, first, watched := p.ctl, !p.dirty[pane], p.watched[pane]
	p.dirty[pane] = true
	news := first && watched && !p.waiting
	pause := ctl != nil && !p.paused[pane] && (!first || !watched)
	if pause {
		p.paused[pane] = true
	}
	p.mu.Unlock()
	if pause {
		ctl.ask("refresh-client -A '" + pane + ":pause'")
	}
	if news {
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
	var early <-chan time.Time // a pane printed too soon after the last round
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-p.wake:
		case <-early:
		}
		early = nil
		if wait := p.cycle(); wait > 0 {
			early = time.After(wait)
		}
	}
}

// cycle captures the panes that have printed, if a round is due. It returns the time until the next round, 0 if no pane
// has printed.
func (p *painter) cycle() (wait time.Duration) {
	if wait := time.Until(p.retry); wait > 0 {
		return wait
	}
	ctl, err := p.connect(p.ctx)
	switch {
	case errors.Is(err, errNoPane):
		return 0 // invalidate is called when a pane exists
	case err != nil:
		p.retry = time.Now().Add(retryGap)
		return 0
	}
	due, wait, wanted := p.due(ctl, time.Now())
	ctl.setOutputReports(wanted)
	if len(due) > 0 {
		ctl.pictures(p.ctx, due, p.show)
	}
	return wait
}

// duePane is a pane that is due for capture.
type duePane struct {
	pane   string
	paused bool // its output is paused
}

// due returns the panes to capture now. If there are none, wait is the time until the next round. wanted reports
// whether any pane is watched.
func (p *painter) due(ctl *control, now time.Time) (due []duePane, wait time.Duration, wanted bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctl != ctl { // a new client pauses nothing, and has not reported earlier output
		p.ctl = ctl
		clear(p.paused)
		for id := range p.watched {
			p.dirty[id] = true
		}
	}
	for id := range p.watched {
		if p.dirty[id] {
			due = append(due, duePane{id, p.paused[id]})
		}
	}
	wait = frame - now.Sub(p.last)
	if p.waiting = len(due) > 0 && wait > 0; p.waiting {
		return nil, wait, true
	}
	if len(due) > 0 {
		p.last = now
	}
	for _, d := range due {
		delete(p.dirty, d.pane)
		delete(p.paused, d.pane)
	}
	return due, 0, len(p.watched) > 0
}

// pictures captures panes and shows the screens of those that it could capture. If a pane's output was paused, it first
// resumes the output, skipping the backlog, and then captures the pane: in this order no change is missed. All commands
// are sent in one write.
func (c *control) pictures(ctx context.Context, due []duePane, show func(Screen)) {
	const facts = `"#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{cursor_flag} #{keypad_cursor_flag}"`
	limited, stop := context.WithTimeout(ctx, answerWait)
	defer stop()
	var orders []order
	for _, d := range due {
		if d.paused {
			orders = append(orders, order{command: "refresh-client -A '" + d.pane + ":continue'"})
		}
		orders = append(orders, order{command: "display-message -p -t " + d.pane + " " + facts},
			capture("capture-pane -p -e -t "+d.pane))
	}
	questions := c.send(orders...)
	answers := make([]answer, len(questions))
	for i, q := range slices.Backward(questions) { // the last answer comes last, so that one wait is enough
		answers[i].lines, answers[i].err = c.wait(limited, q)
	}
	for _, d := range due {
		if d.paused {
			answers = answers[1:]
		}
		about, text := answers[0], answers[1]
		answers = answers[2:]
		if about.err != nil || text.err != nil || ctx.Err() != nil {
			continue
		}
		if s, err := parseScreen(d.pane, about.lines, text.lines); err == nil {
			show(s)
		}
	}
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
