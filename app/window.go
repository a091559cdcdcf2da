package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/loop"
	"buddy/app/screen"
	"buddy/app/state"
	"buddy/config"
	"buddy/themes"
	"buddy/tmux"
)

// fullScreen opens the full screen on a new session, or on the one to resume, and on
// others as long as the person changes to them.
func fullScreen(f *flags, resume string) error {
	if err := tmux.CheckOutside(context.Background(), os.Getenv); err != nil {
		return exit{code: exitFailed, text: err.Error()}
	}
	t, err := newTarget(f)
	if err != nil {
		return err
	}
	defer func() { _ = t.close() }() // its commands have ended or are named
	if err := t.connect(os.Stderr); err != nil {
		return err
	}
	loop.QuickStart()
	s, err := screen.Open()
	if err != nil {
		return exit{code: exitFailed, text: err.Error()}
	}
	var said bytes.Buffer // what is to be read after the screen is gone
	defer func() {
		s.Fini() // gives the terminal back on every way out
		_, _ = said.WriteTo(os.Stderr)
	}()
	for n := (next{again: true, resume: resume}); n.again; {
		if n, err = oneSession(f, t, s, n, &said); err != nil {
			return err
		}
	}
	return nil
}

// oneSession runs the screen until the person leaves the session. If another one follows,
// this one is seen until then.
func oneSession(f *flags, t *target, s *screen.Screen, n next, said io.Writer) (next, error) {
	p, err := compose(f, t, n.resume, f.approve)
	if err != nil {
		return next{}, err
	}
	c := coloursOf(f)
	name, theme, err := c.first(f, p)
	if err != nil {
		return next{}, err
	}
	keys, err := boundKeys(p.config.Keys, p.index)
	if err != nil {
		return next{}, err
	}
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	w := &window{program: p, screen: s, files: newFileIndex(t), events: make(chan event.Envelope, eventRoom)}
	w.ui = newUI(w.deps(ctx, looks{theme: theme, colours: c}, keys))
	w.ui.v.prompt.SetVi(p.config.UI.Editor == "vi")
	w.ui.shape = loadShape(shapeFile(p.first.at.dir))
	w.loop = w.ui.loop(s, w.events, func() { p.finish(said, w.next.kill) })
	w.loop.Post(func() { w.ui.goTo(n.spot) }) // after the first frame
	used := newSettings(f, p)
	if err := w.open(ctx); err != nil {
		p.close(said)
		return next{}, exit{code: exitFailed, text: err.Error()}
	}
	if name == themes.Auto {
		w.loop.Post(w.ui.follow) // after the first frame
	}
	unwatch := w.watchSettings(ctx, used)
	err = w.loop.Run(ctx)
	unwatch()
	w.saveDraft()
	if err != nil {
		return next{}, exit{code: exitFailed, text: fmt.Sprintf("terminal: %v", err)}
	}
	if ctx.Err() != nil { // on the way to another session
		return next{}, nil
	}
	return w.next, nil
}

// boundKeys returns the key map with the keys that a person wants. A mistake has its place.
func boundKeys(bindings map[string][]string, index config.Index) (*keymap.Map, error) {
	keys := keymap.Default()
	err := keys.Rebind(bindings)
	var bind *keymap.BindError
	if errors.As(err, &bind) {
		err = exit{code: exitUsage, text: index.Error(config.Path("keys", bind.Action), bind.Err).Error()}
	}
	return keys, err
}

// eventRoom is how many events wait for the next draw before their sender does.
const eventRoom = 256

// window joins the screen with the program behind it.
type window struct {
	program *program
	screen  *screen.Screen
	ui      *ui
	loop    *loop.Loop[event.Envelope]
	events  chan event.Envelope
	lines   *lineHistory
	saving  *time.Timer
	drafted string // the draft that is on the disk
	files   *fileIndex
	next    next
}

func (w *window) deps(ctx context.Context, look looks, keys *keymap.Map) deps {
	choices := w.program.catalog()
	choices.access = w.program.access(ctx)
	choices.doctor = func(profile string) []finding { return w.program.examine(ctx, profile) }
	return deps{
		looks:    look,
		terminal: terminal{repaint: w.screen.Sync, askBackground: w.screen.AskBackground, copy: w.copy, edit: w.edit, look: w.look, attention: w.attention()},
		send:     w.send, keys: keys, now: time.Now, home: w.program.first.at.home,
		leave:     w.leave,
		tick:      func(on bool) { w.loop.SetTicking(on) },
		later:     func(f func()) { w.loop.Post(f) },
		after:     func(d time.Duration, f func()) { time.AfterFunc(d, func() { w.loop.Post(f) }) },
		draft:     w.draftChanged,
		keepShape: w.keepShape,
		record:    func(text string) { w.loop.Go(func() { w.lines.add(text) }) },
		files:     w.findFiles,
		catalog:   choices,
		background: func(work func() func()) {
			w.loop.Go(func() { w.loop.PostLazily(work()) })
		},
	}
}

// leave ends the session for another one, or for good.
func (w *window) leave(n next) {
	w.next = n
	if n.again {
		w.loop.HandOver()
		return
	}
	w.loop.Quit()
}

// attention is how the person wants to be called.
func (w *window) attention() attention {
	a := attention{how: screen.Call(w.program.config.UI.Notify), notify: w.screen.Notify}
	if w.program.config.UI.Title {
		a.setTitle = w.screen.SetTitle
	}
	return a
}

// open shows what there is of the session and starts it. A stored session shows its end
// at once; its runtime and the rest of what is to be seen come later (DECISIONS 12).
func (w *window) open(ctx context.Context) error {
	p := w.program
	switch {
	case p.config.Active == nil && p.problem != "":
		w.introduce(ctx)
	case p.config.Active == nil:
		w.ui.v.conversation.SetWelcome(welcome(true))
	}
	w.loop.Go(p.tidy)
	w.lines = openHistory()
	w.ui.v.prompt.SetHistory(w.lines.load())
	w.loop.SetFocus(w.ui)
	if p.journal.stored() == nil {
		return w.begin(ctx)
	}
	if text, err := p.store.LoadDraft(p.id); err == nil {
		w.ui.v.prompt.SetText(text)
	}
	w.ui.applyTail(p.id, p.tail.Events, p.resumed())
	w.loop.Go(func() {
		if err := w.begin(ctx); err != nil {
			w.loop.Post(func() { w.ui.hint("", "the session can be looked at only: "+err.Error()) })
		}
		w.readRest(ctx)
	})
	return nil
}

// begin starts the runtime and passes its events on until ctx ends.
func (w *window) begin(ctx context.Context) error {
	events, err := w.program.begin(ctx)
	if err != nil {
		return err
	}
	w.loop.Go(func() {
		for env := range events {
			select {
			case w.events <- env:
			case <-ctx.Done():
				return
			}
		}
	})
	return nil
}

// readRest puts what comes before the end of the session in front of it.
func (w *window) readRest(ctx context.Context) {
	var before state.State
	err := w.program.journal.stored().Older(w.program.tail, func(env event.Envelope) bool {
		before.Apply(env)
		return ctx.Err() == nil
	})
	if ctx.Err() != nil {
		return
	}
	w.loop.Post(func() {
		w.ui.update(w.ui.state.PrependState(&before))
		w.ui.arrive()
		if err != nil {
			w.ui.hint("", "the beginning of the session can't be read: "+err.Error())
		}
	})
}

// send hands a command to the runtime, or keeps it until there is one.
func (w *window) send(c event.Command) {
	if _, watch := c.(event.WatchPanes); !w.program.live.send(c) && !watch {
		w.ui.hint("", "the session is still being read; this comes next")
	}
}

// keepShape remembers how the panes are arranged.
func (w *window) keepShape(s shape) {
	path := shapeFile(w.program.first.at.dir)
	w.loop.Go(func() {
		if err := s.save(path); err != nil {
			w.loop.Post(func() { w.ui.hint("", "the arrangement of the panes was not kept: "+err.Error()) })
		}
	})
}

// draftChanged saves the draft a second later (DECISIONS 13).
func (w *window) draftChanged() {
	if w.saving == nil {
		w.saving = time.AfterFunc(time.Second, func() { w.loop.Post(w.saveDraft) })
	}
}

// findFiles answers with the files that fit a query, unless another one comes first or they
// would not be those of the current target.
func (w *window) findFiles(query string, answer func(paths []string)) {
	if fleet := w.program.fleet; fleet.Current() != fleet.first.target.name {
		w.loop.Post(func() { answer(nil) })
		return
	}
	find := w.files.request(query)
	w.loop.Go(func() {
		if paths, ok := find(); ok {
			w.loop.Post(func() { answer(paths) })
		}
	})
}

// saveDraft writes the draft if the session has a file.
func (w *window) saveDraft() {
	w.saving = nil
	text := w.ui.v.prompt.Text()
	if private(text) {
		text = ""
	}
	if text == w.drafted || w.program.journal.stored() == nil {
		return
	}
	w.drafted = text
	if err := w.program.store.SaveDraft(w.program.id, text); err != nil {
		w.ui.hint("", "the draft was not saved: "+err.Error())
	}
}
