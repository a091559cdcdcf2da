// Package host runs a session independently of the screens that show it. A [Host] owns the session's runtime, targets
// and servers, and outlives every screen.
//
//	h := host.Open(&options, false)
//	session := h.Connect(ctx, socket.Screen{}) // one screen is attached until ctx ends
//	<-h.Over()
package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"buddy/agent/event"
	"buddy/agent/record"
	"buddy/app/client"
	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/app/input"
	"buddy/app/slash"
	"buddy/app/socket"
	"buddy/app/version"
	"buddy/sessions"
	"buddy/texts"
)

// Host runs a session. Any goroutine may use it.
type Host struct {
	flags   *compose.Options
	dest    *compose.Destination
	program *compose.Program
	ready   *compose.Prepared
	failed  *exit.Error // why there is no session; nil if there is one
	start   sync.Once
	close   sync.Once
	closed  client.CloseReply // valid when ctx has ended
	ctx     context.Context   // of the session
	cancel  context.CancelFunc
	naming  naming
	latest  latest
	files   files
	tmux    tmuxServer
	awake   atomic.Pointer[func()] // called on any activity
	present atomic.Bool            // a screen is attached; atomic, because note reads it without waiting for mu

	unwatched unwatched
	socket    *hostSocket // nil if its screens are in the same process

	mu      sync.Mutex // guards the fields below, and those of each screen
	screens map[*screen]bool
	alone   unattended
}

// Open opens a new session with the id options.Session, or with resume the stored session with that id. If that fails,
// screens get the error in the greeting. Nothing runs before the first screen subscribes, so that the screen misses no
// event.
func Open(options *compose.Options, resume bool) *Host { return open(options, resume, nil) }

// open is Open with a listener for screens of other processes; nil for none.
func open(options *compose.Options, resume bool, l *net.UnixListener) *Host {
	h := &Host{flags: options, screens: make(map[*screen]bool), alone: unattended{minute: time.Minute, notify: notifyTime}}
	if l != nil {
		h.socket = openSocket(h, l)
	}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	if err := h.compose(resume); err != nil {
		failed := exit.Error{Code: exit.Failed, Text: err.Error()}
		errors.As(err, &failed)
		h.failed = &failed
	}
	return h
}

func (h *Host) compose(resume bool) error {
	d, err := compose.NewDestination(h.flags)
	if err != nil {
		return err
	}
	h.dest = d
	if err := d.Reach(io.Discard); err != nil {
		return errors.Join(err, d.Close())
	}
	id := ""
	if resume {
		id = h.flags.Session
	}
	p, err := compose.New(h.flags, d, id)
	if err != nil {
		return errors.Join(err, d.Close())
	}
	if h.ready, err = p.Prepare(); err != nil {
		p.Close(io.Discard)
		return errors.Join(err, d.Close())
	}
	h.ready.Observe(h.note)
	h.program, h.files.targets = p, p.Targets
	h.files.indexes.Here = input.NewFileIndex()
	return nil
}

// note handles the events of the session, in order. It must not block.
func (h *Host) note(env event.Envelope) {
	h.touch()
	h.latest.apply(env)
	alone := h.program != nil && !h.attended() // read first: a screen may leave or come right after the event
	switch env.Payload.(type) {
	case event.PromptSubmitted:
		go h.socket.note() // the first one creates the session's file
	case event.PaneOpened:
		go h.tmux.processes() // before a command of the session can hide the processes
	case event.TaskFinished:
		go h.scheduleEnd()
		if alone {
			go h.unattended(env)
		}
	case event.ApprovalAsked, event.QuestionAsked:
		if alone {
			go h.unattended(env)
		}
	}
}

// Connect attaches a screen to the session until ctx ends.
func (h *Host) Connect(ctx context.Context, at socket.Screen) client.Session {
	s := &screen{host: h, place: placeOf(at)}
	h.mu.Lock()
	h.screens[s] = true
	h.present.Store(true)
	h.alone.visits++
	h.mu.Unlock()
	context.AfterFunc(ctx, func() { h.leave(s) })
	return s
}

// Look connects a program without a user to the session. The program does not count as an attached screen.
func (h *Host) Look(_ context.Context, at socket.Screen) client.Session {
	return &screen{host: h, looks: true, place: placeOf(at)}
}

// Over returns a channel that is closed when the session is over.
func (h *Host) Over() <-chan struct{} { return h.ctx.Done() }

// begin starts the runtime and its watchers, once.
func (h *Host) begin() {
	h.start.Do(func() {
		go h.program.Tidy()
		go h.named() // reading a long file takes a while; later calls have the result
		if h.ready.Start() == nil {
			go h.watchRules()
			go h.watchExtensions()
		}
	})
}

// hello returns the current greeting of the session.
func (h *Host) hello() client.Hello {
	hello := client.Hello{Protocol: client.Protocol, Version: version.Text(), PID: os.Getpid(), Failed: h.failed}
	if p := h.program; p != nil {
		hello.Session, hello.Target, hello.Journal = p.ID, p.Target, p.Store.File(p.ID)
		hello.Cwd, hello.Home = p.Env.Dir, p.Env.Home
		h.look(func(r *record.Record) { hello.Last, hello.Open = r.Last, r.Open() })
	}
	return hello
}

// describe returns the title and the state of the session.
func (h *Host) describe() client.Description {
	d := client.Description{ID: h.program.ID, Folder: h.program.Env.Dir, Target: h.program.Target}
	h.look(func(r *record.Record) { d.State, d.Cost = stateOf(r), r.Usage().SessionCost })
	d.Here, _ = os.Getwd()             // if "", entering the folder reports an error
	d.Options, _ = texts.JSON(h.flags) // data only
	d.Title, d.Began = h.named()
	d.Latest = h.latest.get()
	h.mu.Lock()
	defer h.mu.Unlock()
	d.Screens = len(h.screens)
	return d
}

// named returns the title and the start time of the session, "" and 0 while it has no prompt.
func (h *Host) named() (title string, began int64) {
	var renamed string
	var ok bool
	h.look(func(r *record.Record) { renamed, ok = r.Renamed() })
	return h.naming.of(renamed, ok, func() (sessions.Entry, error) { return h.program.Store.Entry(h.program.ID) })
}

// leave detaches a screen. Panes that only this screen has watched are no longer watched, and the pane sizes that it
// has set no longer apply.
func (h *Host) leave(s *screen) {
	h.mu.Lock()
	delete(h.screens, s)
	if h.program != nil && !h.ended() {
		h.watch()
		for pane := range s.fits {
			h.fit(pane)
		}
	}
	last := len(h.screens) == 0
	h.present.Store(!last)
	h.mu.Unlock()
	if !last || h.program == nil {
		h.scheduleEnd()
		return
	}
	for _, id := range h.approvals() {
		h.limit(id)
	}
	h.scheduleEnd()
}

func (h *Host) ended() bool { return h.ctx.Err() != nil }

// watch tells the runtime which panes the screens show, so that their contents are reported. The caller holds h.mu.
func (h *Host) watch() { h.program.Live.Send(event.WatchPanes{IDs: h.watched()}) }

// watched returns the panes that at least one screen shows. The caller holds h.mu.
func (h *Host) watched() []string {
	var ids []string
	for s := range h.screens {
		ids = append(ids, s.watched...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// fit gives a pane the size that a screen wants, or its default size. The caller holds h.mu.
func (h *Host) fit(pane string) { h.program.Live.Send(h.sizeOf(pane)) }

// sizeOf returns the size that a screen wants for a pane, or zeros for the pane's default size. The caller holds h.mu.
func (h *Host) sizeOf(pane string) event.FitPane {
	for s := range h.screens {
		if size, ok := s.fits[pane]; ok {
			return size
		}
	}
	return event.FitPane{Pane: pane}
}

// OnActivity sets a function that is called on any activity, often and from any goroutine. It must not block.
func (h *Host) OnActivity(f func()) { h.awake.Store(&f) }

func (h *Host) touch() {
	if f := h.awake.Load(); f != nil {
		(*f)()
	}
}

// Busy reports whether anything runs or waits for the user.
func (h *Host) Busy() bool { return h.busy() }

// End ends the session, once, and returns the messages to print. Later calls return the same reply.
func (h *Host) End(q client.Close) client.CloseReply {
	h.close.Do(func() {
		if h.program != nil {
			h.closed = h.end(q)
		}
		h.cancel()
	})
	return h.closed
}

func (h *Host) end(q client.Close) (reply client.CloseReply) {
	var out bytes.Buffer
	h.program.Options.Programs.Leave(q.Reason)
	if q.Reason == (slash.Next{Again: true}).Reason() || q.Reason == (slash.Next{Again: true, Resume: "ID"}).Reason() {
		compose.StayInWorktree(h.program)
	}
	if q.Abandon {
		h.program.Desert(&out)
	} else {
		reply.Stored = h.program.Finish(&out, q.Kill)
	}
	if err := h.dest.Close(); err != nil {
		_, _ = fmt.Fprintf(&out, "buddy: %v\n", err)
	}
	for line := range strings.Lines(out.String()) {
		reply.Lines = append(reply.Lines, strings.TrimRight(line, "\n"))
	}
	return reply
}
