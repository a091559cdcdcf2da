package app

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/loop"
	"buddy/app/screen"
	"buddy/themes"
)

// fullScreen opens the full screen on a new session, or on the one to resume, and on
// others as long as the person changes to them.
func fullScreen(f *flags, resume string) error {
	t, err := newTarget(f)
	if err != nil {
		return err
	}
	defer func() { _ = t.close() }() // its commands have ended or are named
	if err := t.connect(os.Stderr); err != nil {
		return err
	}
	loop.QuickStart()
	for n := (next{again: true, resume: resume}); n.again; {
		if n, err = oneSession(f, t, n.resume); err != nil {
			return err
		}
	}
	return nil
}

// oneSession runs the screen until the person leaves the session.
func oneSession(f *flags, t *target, resume string) (next, error) {
	s, err := screen.Open()
	if err != nil {
		return next{}, exit{code: exitFailed, text: err.Error()}
	}
	defer s.Fini() // gives the terminal back on every way out
	p, err := compose(f, t, resume, f.approve)
	if err != nil {
		return next{}, err
	}
	theme, err := chooseTheme(f, p.config.UI.Theme)
	if err != nil {
		return next{}, err
	}
	var said bytes.Buffer // what is to be read after the screen is gone
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	w := &window{program: p, screen: s, files: newFileIndex(t)}
	w.ui = newUI(w.deps(theme))
	w.loop = w.ui.loop(s, p.rt.Subscribe(ctx), func() { p.close(&said) })
	w.open()
	err = w.loop.Run(ctx)
	w.saveDraft()
	s.Fini()
	_, _ = said.WriteTo(os.Stderr)
	if err != nil {
		return next{}, exit{code: exitFailed, text: fmt.Sprintf("terminal: %v", err)}
	}
	return w.next, nil
}

// chooseTheme returns the theme of the command line or else of the configuration,
// without colours if none are wanted.
func chooseTheme(f *flags, name string) (*themes.Theme, error) {
	if f.theme != "" {
		name = f.theme
	}
	t, err := themes.Load(name)
	if err != nil {
		return nil, usage("%v", err)
	}
	if f.noColor || os.Getenv("NO_COLOR") != "" {
		t = t.WithoutColor()
	}
	return t, nil
}

// window joins the screen with the program behind it.
type window struct {
	program *program
	screen  *screen.Screen
	ui      *ui
	loop    *loop.Loop[event.Envelope]
	lines   *lineHistory
	saving  *time.Timer
	drafted string // the draft that is on the disk
	files   *fileIndex
	next    next
}

func (w *window) deps(theme *themes.Theme) deps {
	return deps{
		send: w.program.rt.Send, keys: keymap.Default(), theme: theme, now: time.Now, home: w.program.at.home,
		leave:   func(n next) { w.next = n; w.loop.Quit() },
		tick:    func(on bool) { w.loop.SetTicking(on) },
		repaint: func() { w.screen.Sync() },
		later:   func(f func()) { w.loop.Post(f) },
		copy:    w.copy,
		draft:   w.draftChanged,
		record:  func(text string) { w.loop.Go(func() { w.lines.add(text) }) },
		files:   w.findFiles,
		catalog: w.program.catalog(),
		background: func(work func() func()) {
			w.loop.Go(func() { w.loop.Post(work()) })
		},
	}
}

// open shows what there is of the session and starts it.
func (w *window) open() {
	if p := w.program; p.config.Active == nil && p.problem != "" {
		w.ui.v.conversation.SetWelcome(append(slices.Clip(welcome), "", "The built-in demo answers, which is not a language model:", p.problem+"."))
	}
	w.lines = openHistory()
	w.ui.v.prompt.SetHistory(w.lines.load())
	if len(w.program.replay) > 0 {
		w.ui.apply(w.program.replay)
		if text, err := w.program.store.LoadDraft(w.program.id); err == nil {
			w.ui.v.prompt.SetText(text)
		}
	}
	w.loop.SetFocus(w.ui)
	w.program.start()
}

// draftChanged saves the draft a second later (DECISIONS 13).
func (w *window) draftChanged() {
	if w.saving == nil {
		w.saving = time.AfterFunc(time.Second, func() { w.loop.Post(w.saveDraft) })
	}
}

// findFiles answers with the files that fit a query, unless another one comes first.
func (w *window) findFiles(query string, answer func(paths []string)) {
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
	if text == w.drafted || !w.program.journal.exists() {
		return
	}
	w.drafted = text
	if err := w.program.store.SaveDraft(w.program.id, text); err != nil {
		w.ui.hint("", "the draft was not saved: "+err.Error())
	}
}
