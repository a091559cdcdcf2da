package fullscreen

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"buddy/agent/event"
	"buddy/app/client"
	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/app/host"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/app/ui"
	"buddy/sessions"
	"buddy/views/draw"
)

const (
	// pace is the interval at which streamed text arrives. It is slightly longer than the interval between two draws, so
	// that each batch is drawn at once instead of waiting for a timer, which saves a sixth of the CPU while an answer is
	// streamed.
	pace = 36 * time.Millisecond

	// endTime limits how long the session may take to end. startTime limits the wait for a session that is still starting
	// when it has to end.
	endTime   = compose.CloseTime + 5*time.Second
	startTime = time.Second
)

// link connects a window to its session. The session starts after the first frame; commands sent before are queued. If
// the session's host dies, the link starts another. Any goroutine may use a link.
type link struct {
	ctx     context.Context // ends with the window
	cancel  context.CancelFunc
	window  *window
	options compose.Options // of the session's host

	mu      sync.Mutex // guards all below
	after   uint64     // number of the newest event received
	session client.Session
	there   chan struct{} // closed when the session has started, or has failed
	held    []event.Command
	sent    []string      // prompts that the session has not accepted yet, in order
	watched event.Command // the latest WatchPanes, for a new host; nil for none
	failed  error
	lost    bool // its host has died
	ended   bool // another screen, or buddy stop, has ended the session
	closing bool
	ending  chan struct{} // closed when closing is set: events are no longer drawn
}

var errLost = errors.New("the process of this session has ended; press Enter to restart it")

func newLink(ctx context.Context, w *window, f *compose.Options, after uint64) *link {
	l := &link{window: w, options: *f, after: after, there: make(chan struct{}), ending: make(chan struct{})}
	l.options.Session = w.setup.ID
	l.ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx)) // a signal still lets the session end cleanly
	return l
}

// begin starts the session, or resumes the stored one.
func (l *link) begin(resume bool) {
	l.window.loop.Go(func() {
		session, events, err := l.connect(resume)
		l.mu.Lock()
		l.session, l.failed = session, err
		if err == nil {
			if l.watched != nil {
				session.Send(l.watched)
			}
			for _, c := range l.held {
				l.pass(c)
			}
			if len(l.held) > 0 {
				l.window.loop.Post(func() { l.window.ui.ShowHint("") }) // the input is being sent
			}
		}
		l.held = nil
		close(l.there)
		l.mu.Unlock()
		if err != nil {
			l.window.loop.Quit()
			return
		}
		l.follow(session, events)
	})
}

// connect starts a host and receives its greeting.
func (l *link) connect(resume bool) (client.Session, <-chan []event.Envelope, error) {
	session, err := host.Start(&l.options, l.window.setup.Store, resume, false)
	if err != nil {
		return nil, nil, exit.Failure(err)
	}
	hello, err := session.Hello(l.ctx)
	switch {
	case hello.Failed != nil:
		return nil, nil, *hello.Failed
	case err != nil:
		return nil, nil, exit.Failure(err)
	}
	compose.WorktreeStarted(&l.options)
	events, err := session.Subscribe(l.ctx, l.last(), pace)
	if err != nil {
		return nil, nil, exit.Failure(err)
	}
	w := l.window
	w.loop.Post(func() { ui.SetPlace(w.ui, hello.Screen) })
	if w.far {
		w.loop.Post(func() { ui.SetHome(w.ui, hello.Home) })
	}
	if session.Joined {
		w.loop.Post(func() { ui.ApplyOpen(w.ui, hello.Open) })
	}
	return session, events, nil
}

// follow passes events to the window until there are no more.
func (l *link) follow(session client.Session, batches <-chan []event.Envelope) {
	for batch := range batches {
		for _, env := range batch {
			select {
			case l.window.events <- env:
			case <-l.ending: // dropped, so that the reply after them arrives
			case <-l.ctx.Done():
				return
			}
			l.mu.Lock()
			l.after = env.Seq
			l.accepted(env.Payload)
			l.mu.Unlock()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch err := session.Err(); {
	case l.closing || l.ctx.Err() != nil:
	case err == nil:
		l.ended = true
		l.window.loop.Quit()
	default:
		l.lost = true
		sent := notStored(l.window.setup.Store, l.window.setup.ID, l.after, l.sent)
		l.sent = nil
		l.window.loop.Post(func() { ui.Lose(l.window.ui, err.Error(), sent) })
	}
}

// notStored returns the prompts in sent that a dead session has not stored. It searches the events with numbers above
// after, which the session may have stored without reporting them.
func notStored(store sessions.Store, id string, after uint64, sent []string) []string {
	if len(sent) == 0 {
		return nil
	}
	j, err := store.View(id)
	if err != nil { // it has no file yet
		return sent
	}
	defer j.Close() //nolint:errcheck // only read
	_ = j.Range(after, func(env event.Envelope) bool {
		if _, submitted := env.Payload.(event.PromptSubmitted); submitted {
			sent = sent[1:]
		}
		return len(sent) > 0
	})
	return sent
}

// pass sends a command to the session. The caller holds l.mu.
func (l *link) pass(c event.Command) {
	if p, ok := c.(event.Submit); ok && p.Task == 0 && !p.Background {
		l.sent = append(l.sent, p.Text)
	}
	l.session.Send(c)
}

// accepted removes the oldest prompt from sent if an event accepts or rejects a prompt. It does not check that the
// prompt came from this screen, because prompts from two screens at the same moment are rare. The caller holds l.mu.
func (l *link) accepted(e event.Event) {
	refused, isError := e.(event.Error)
	_, submitted := e.(event.PromptSubmitted)
	if len(l.sent) > 0 && (submitted || isError && refused.Code == event.BadCommand) {
		l.sent = l.sent[1:]
	}
}

// again starts another host for a session whose host has died. The caller holds l.mu.
func (l *link) again() {
	l.lost, l.session, l.there = false, nil, make(chan struct{})
	l.window.loop.Post(func() {
		ui.Restart(l.window.ui)
		l.begin(l.window.setup.Stored())
	})
}

func (l *link) last() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.after
}

// failure returns the error with which the start of the session failed, nil if the session has started or is still
// starting.
func (l *link) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

// send sends a command to the session, or queues it until the session has started. If the session's host has died, send
// first starts another host, and drops an event.Continue, which only asks for that. UI goroutine only.
func (l *link) send(c event.Command) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if watch, ok := c.(event.WatchPanes); ok {
		l.watched = watch
	}
	if l.lost && byItself(c) {
		return
	}
	if l.lost {
		l.again()
		if _, only := c.(event.Continue); only {
			return
		}
	}
	if l.session != nil && !l.lost {
		l.pass(c)
		return
	}
	if _, watch := c.(event.WatchPanes); watch {
		return // the latest is sent when the session has started
	}
	l.held = append(l.held, c)
	switch {
	case byItself(c):
	case l.after > 0:
		l.window.ui.ShowHint("the session is loading; your input will be sent")
	case l.window.far:
		l.window.ui.ShowHint("connecting to " + l.window.setup.Target + "; your input will be sent")
	}
}

// byItself reports whether the screen sends a command of this type on its own, without an action of the user.
func byItself(c event.Command) bool {
	switch c.(type) {
	case event.WatchPanes, event.FitPane:
		return true
	}
	return false
}

// await waits until the session has started or ctx ends, and returns the session, nil if there is none.
func (l *link) await(ctx context.Context) client.Session {
	l.mu.Lock()
	there := l.there
	l.mu.Unlock()
	select {
	case <-there:
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost {
		return nil
	}
	return l.session
}

// ask waits until the session has started, sends it a request and returns the reply.
func ask[R any](l *link, ctx context.Context, q client.Request) (R, error) {
	session := l.await(ctx)
	if session == nil {
		var none R
		return none, errLost
	}
	return client.Ask[R](ctx, session, q)
}

func (l *link) files(ctx context.Context, query string) (paths []string, ok bool) {
	reply, err := ask[client.FilesReply](l, ctx, client.Files{Query: query})
	return reply.Paths, err == nil // unreadable ones are not offered
}

// named returns the subagents and resources that match a query.
func (l *link) named(ctx context.Context, query string) []string {
	reply, err := ask[client.FilesReply](l, ctx, client.Named{Query: query})
	if err != nil {
		return nil // unreadable ones are not offered
	}
	return reply.Paths
}

// arguments returns the completions of the last word of a command line.
func (l *link) arguments(ctx context.Context, line string) []draw.CommandHelp {
	reply, err := ask[client.ArgumentsReply](l, ctx, client.Arguments{Line: line})
	if err != nil {
		return nil // unreadable ones are not offered
	}
	words := make([]draw.CommandHelp, 0, len(reply.Words))
	for _, w := range reply.Words {
		words = append(words, draw.CommandHelp{Name: w.Word, Help: w.Help})
	}
	return words
}

// run runs a slash command in the session.
func (l *link) run(now slash.Now, words []string) (show.Answer, error) {
	return ask[show.Answer](l, l.ctx, client.Run{Words: words, Now: &now})
}

// close ends the session and returns the messages to print. reason is passed to hooks.
func (l *link) close(kill bool, reason string) []string {
	l.mu.Lock()
	ended := l.ended
	if !l.closing {
		l.closing = true
		close(l.ending)
	}
	l.mu.Unlock()
	if ended {
		return []string{"buddy: the session was stopped from another terminal"}
	}
	starting, cancel := context.WithTimeout(l.ctx, startTime)
	defer cancel()
	if l.await(starting) == nil {
		return nil // there is none, or it ends when it notices that no screen is attached
	}
	ctx, cancel := context.WithTimeout(l.ctx, endTime)
	defer cancel()
	reply, err := ask[client.CloseReply](l, ctx, client.Close{Kill: kill, Reason: reason})
	if err != nil {
		return []string{"buddy: " + notEnded(l.options.Session, err)}
	}
	return reply.Lines
}

// notEnded explains that a session has not ended, and what to do.
func notEnded(id string, err error) string {
	if !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("the session did not end cleanly: %v", err)
	}
	return fmt.Sprintf("the session did not end within %v: commands on a target that does not answer may still be running · "+
		"check with buddy ls; when the session has ended, buddy resume %s shows how the commands ended", endTime, host.Short(id))
}

// leave disconnects from the session.
func (l *link) leave() { l.cancel() }
