package fullscreen

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"buddy/agent/event"
	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/app/host"
	"buddy/app/live"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/app/ui"
	"buddy/sessions"
	"buddy/views/draw"
)

const (
	// pace says how often text that streams comes to the screen: a little slower than the screen
	// draws, so that each batch is drawn at once and none waits for a timer. It is a sixth of the
	// CPU of an answer that streams.
	pace = 36 * time.Millisecond

	// endTime limits how long the session may take to end, startTime how long it may still take to
	// start when it is to end.
	endTime   = compose.CloseTime + 5*time.Second
	startTime = time.Second
)

// link is a window's way to its session, which begins after the first frame and may be lost. What
// is sent before it is there waits. Any goroutine may use it.
type link struct {
	ctx     context.Context // ends with the window
	cancel  context.CancelFunc
	window  *window
	options compose.Options // of the session's host

	mu      sync.Mutex // guards all below
	after   uint64     // number of the newest event that came
	session live.Session
	there   chan struct{} // closed when the session is there, or has failed
	held    []event.Command
	sent    []string      // prompts that the session has not taken yet, in their order
	watched event.Command // the latest WatchPanes, which another host has to be told; nil: there is none
	failed  error
	lost    bool // its host has died
	ended   bool // another screen, or buddy stop, has ended the session
	closing bool
	ending  chan struct{} // closed when closing is set: nobody draws events any more
}

var errLost = errors.New("the process of this session has ended; press Enter to restart it")

func newLink(ctx context.Context, w *window, f *compose.Options, after uint64) *link {
	l := &link{window: w, options: *f, after: after, there: make(chan struct{}), ending: make(chan struct{})}
	l.options.Session = w.setup.ID
	l.ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx)) // a signal ends the session in order
	return l
}

// begin starts the session, or goes on with the stored one.
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
				l.window.loop.Post(func() { l.window.ui.ShowHint("") }) // that they come next
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

// connect starts a host and greets it.
func (l *link) connect(resume bool) (live.Session, <-chan []event.Envelope, error) {
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

// follow passes events on until there are no more.
func (l *link) follow(session live.Session, batches <-chan []event.Envelope) {
	for batch := range batches {
		for _, env := range batch {
			select {
			case l.window.events <- env:
			case <-l.ending: // dropped, so that the reply behind them arrives
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

// notStored returns those of some prompts, which were sent after an event, that a session whose process is gone has not
// stored: it may have taken one and told nobody.
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

// accepted notes that the session has taken, or refused, the prompt that was sent first: one of another screen comes too
// seldom just then to tell them apart. The caller holds l.mu.
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

// failure returns why there is no session, nil if there is one or nothing is known yet.
func (l *link) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

// send hands a command to the session, or keeps it until there is one. A session whose host has died
// is started again, which is all that Continue means then. UI goroutine only.
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
		return // the latest is told when the session is there
	}
	l.held = append(l.held, c)
	switch {
	case byItself(c):
	case l.after > 0:
		l.window.ui.ShowHint("the session is loading; your input comes next")
	case l.window.far:
		l.window.ui.ShowHint("connecting to " + l.window.setup.Target + "; your input comes next")
	}
}

// byItself reports whether the screen sends such a command on its own, without a wish of the person.
func byItself(c event.Command) bool {
	switch c.(type) {
	case event.WatchPanes, event.FitPane:
		return true
	}
	return false
}

// await waits until the session is there or ctx ends, and returns it; nil if there is none.
func (l *link) await(ctx context.Context) live.Session {
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

// ask makes a request to the session once that is there.
func ask[R any](l *link, ctx context.Context, q live.Request) (R, error) {
	session := l.await(ctx)
	if session == nil {
		var none R
		return none, errLost
	}
	return live.Ask[R](ctx, session, q)
}

func (l *link) files(ctx context.Context, query string) (paths []string, ok bool) {
	reply, err := ask[live.FilesReply](l, ctx, live.Files{Query: query})
	return reply.Paths, err == nil // what can't be read is not offered
}

// named asks which subagents and resources a prompt can name.
func (l *link) named(ctx context.Context, query string) []string {
	reply, err := ask[live.FilesReply](l, ctx, live.Named{Query: query})
	if err != nil {
		return nil // what can't be read is not offered
	}
	return reply.Paths
}

// arguments asks what the last word of a command's line may become.
func (l *link) arguments(ctx context.Context, line string) []draw.CommandHelp {
	reply, err := ask[live.ArgumentsReply](l, ctx, live.Arguments{Line: line})
	if err != nil {
		return nil // what can't be read is not offered
	}
	words := make([]draw.CommandHelp, 0, len(reply.Words))
	for _, w := range reply.Words {
		words = append(words, draw.CommandHelp{Name: w.Word, Help: w.Help})
	}
	return words
}

// run runs a command of the table in the session.
func (l *link) run(now slash.Now, words []string) (show.Answer, error) {
	return ask[show.Answer](l, l.ctx, live.Run{Words: words, Now: &now})
}

// close ends the session, for a reason that hooks are told, and returns what is to be said of that.
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
		return nil // there is none, or it ends when it finds out that nobody wants it
	}
	ctx, cancel := context.WithTimeout(l.ctx, endTime)
	defer cancel()
	reply, err := ask[live.CloseReply](l, ctx, live.Close{Kill: kill, Reason: reason})
	if err != nil {
		return []string{"buddy: " + notEnded(l.options.Session, err)}
	}
	return reply.Lines
}

// notEnded says that a session has not ended, and what to do.
func notEnded(id string, err error) string {
	if !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("the session did not end cleanly: %v", err)
	}
	return fmt.Sprintf("the session did not end within %v: commands on a target that does not answer may still be running · "+
		"check with buddy ls; when it has ended, buddy resume %s shows how the commands ended", endTime, host.Short(id))
}

// leave lets go of the session.
func (l *link) leave() { l.cancel() }
