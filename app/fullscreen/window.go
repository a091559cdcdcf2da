// Package fullscreen runs sessions on the full screen.
//
//	err := fullscreen.Run(options, "") // a new session
//	err := fullscreen.Replay(options, journal, 2)
package fullscreen

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"buddy/agent/event"
	"buddy/app/compose"
	"buddy/app/doctor"
	"buddy/app/exit"
	"buddy/app/input"
	"buddy/app/keymap"
	"buddy/app/loop"
	"buddy/app/screen"
	"buddy/app/slash"
	"buddy/app/state"
	"buddy/app/ui"
	"buddy/sessions"
	"buddy/themes"
	"buddy/tmux"
)

// Run opens the full screen on a new session, or on the one to resume, and on
// others as long as the person changes to them.
func Run(f *compose.Options, resume string) error {
	if err := tmux.CheckOutside(os.Getenv); err != nil {
		return exit.Failure(err)
	}
	t, err := compose.NewDestination(f)
	if err != nil {
		return err
	}
	defer func() { _ = t.Close() }() // its commands have ended or are named
	if err := t.Reach(os.Stderr); err != nil {
		return err
	}
	loop.QuickStart()
	s, err := screen.Open()
	if err != nil {
		return exit.Failure(err)
	}
	var said bytes.Buffer // what is to be read after the screen is gone
	defer func() {
		s.Fini() // gives the terminal back on every way out
		_, _ = said.WriteTo(os.Stderr)
	}()
	for n := (slash.Next{Again: true, Resume: resume}); n.Again; {
		if n, err = oneSession(f, t, s, n, &said); err != nil {
			return err
		}
	}
	return nil
}

// oneSession runs the screen until the person leaves the session. If another one follows,
// this one is seen until then.
func oneSession(f *compose.Options, d *compose.Destination, s *screen.Screen, n slash.Next, said io.Writer) (slash.Next, error) {
	p, err := compose.New(f, d, n.Resume)
	if err != nil {
		return slash.Next{}, err
	}
	name, theme, err := FirstTheme(f, p.Config, p.Index)
	if err != nil {
		return slash.Next{}, err
	}
	keys, err := compose.BoundKeys(p.Config.Keys, p.Index)
	if err != nil {
		return slash.Next{}, err
	}
	ctx, cancel := exit.UntilEnded()
	defer cancel()
	w := &window{program: p, screen: s, files: input.FileIndexes{Here: input.NewFileIndex()}, events: make(chan event.Envelope, eventRoom)}
	w.ui = ui.New(w.deps(ctx, ui.Looks{Theme: theme, Colours: Colours(f)}, keys))
	w.ui.Prompt().SetVi(p.Config.UI.Editor == "vi")
	w.loop = w.ui.Loop(s, w.events, func() {
		if ctx.Err() != nil || w.loop.Failure() != nil {
			p.Desert(said)
			return
		}
		p.Finish(said, w.next.Kill)
	})
	w.loop.Post(func() { w.ui.GoTo(n.Spot) }) // after the first frame
	used := newSettings(f, p)
	if err := w.open(ctx); err != nil {
		p.Close(said)
		return slash.Next{}, exit.Failure(err)
	}
	if name == themes.Auto {
		w.loop.Post(w.ui.Follow) // after the first frame
	}
	unwatch := w.watchSettings(ctx, used)
	err = w.loop.Run(ctx)
	unwatch()
	w.saveDraft()
	if w.unsent != nil {
		w.unsent.Close()
	}
	if ctx.Err() != nil {
		return slash.Next{}, context.Cause(ctx)
	}
	if err != nil {
		return slash.Next{}, exit.Error{Code: exit.Failed, Text: fmt.Sprintf("terminal: %v", err)}
	}
	if line := p.Farewell(w.ui.Info().Event.Title, w.ui.Info().Usage.SessionCost); line != "" && !w.next.Again {
		_, _ = fmt.Fprintln(said, line)
	}
	return w.next, nil
}

// eventRoom is how many events wait for the next draw before their sender does.
const eventRoom = 256

// window joins the screen with the program behind it.
type window struct {
	program *compose.Program
	screen  *screen.Screen
	ui      *ui.UI
	loop    *loop.Loop[event.Envelope]
	events  chan event.Envelope
	lines   *input.History
	saving  *time.Timer
	drafted string           // the draft that is on the disk
	unsent  *sessions.Unsent // the draft of a session that has no file yet; nil: it has one
	files   input.FileIndexes
	next    slash.Next
}

func (w *window) deps(ctx context.Context, look ui.Looks, keys *keymap.Map) ui.Deps {
	choices := w.program.Catalog(ctx)
	choices.Doctor = func(profile string) string { return doctor.Text(doctor.ExamineSession(ctx, w.program.Config, profile)) }
	return ui.Deps{
		Looks:    look,
		Terminal: ui.Terminal{Repaint: w.screen.Sync, AskBackground: w.screen.AskBackground, Copy: w.copy, Edit: w.edit, Look: w.look, Attention: w.attention()},
		Timing: ui.Timing{
			Now:   time.Now,
			Tick:  func(on bool) { w.loop.SetTicking(on) },
			Later: func(f func()) { w.loop.Post(f) },
			After: func(d time.Duration, f func()) { time.AfterFunc(d, func() { w.loop.Post(f) }) },
			Background: func(work func() func()) {
				w.loop.Go(func() { w.loop.PostLazily(work()) })
			},
		},
		Drafting: ui.Drafting{
			Draft:  w.draftChanged,
			Record: func(text string) { w.loop.Go(func() { w.lines.Add(text) }) },
			Files:  w.findFiles,
			Attach: input.Attached,
		},
		Send: w.send, Keys: keys, Home: w.program.Env.Home,
		Leave:     w.leave,
		Shape:     loadShape(shapeFile(w.program.Env.Dir)),
		KeepShape: w.keepShape,
		Catalog:   choices,
	}
}

// leave ends the session for another one, or for good.
func (w *window) leave(n slash.Next) {
	w.next = n
	if n.Again {
		w.loop.HandOver()
		return
	}
	w.loop.Quit()
}

// attention returns how the person wants to be notified.
func (w *window) attention() ui.Attention {
	a := ui.Attention{How: screen.Call(w.program.Config.UI.Notify), Notify: w.screen.Notify}
	if w.program.Config.UI.Title {
		a.SetTitle = w.screen.SetTitle
	}
	return a
}

// open shows what there is of the session and starts it. A stored session shows its end
// at once; its runtime and the rest of what is to be seen come later.
func (w *window) open(ctx context.Context) error {
	p := w.program
	switch {
	case p.Config.Active == nil && p.Problem != "":
		w.introduce(ctx)
	case p.Config.Active == nil:
		w.ui.SetWelcome(ui.Welcome(true))
	}
	w.loop.Go(p.Tidy)
	w.lines = input.OpenHistory()
	w.ui.Prompt().SetHistory(w.lines.Load())
	w.loop.SetFocus(w.ui)
	if p.Journal.Stored() == nil {
		w.unsent, w.drafted = p.Store.Unsent()
		w.ui.Prompt().SetText(w.drafted)
		return w.begin(ctx)
	}
	if text, err := p.Store.LoadDraft(p.ID); err == nil {
		w.ui.Prompt().SetText(text)
	}
	w.ui.ApplyTail(p.ID, p.Tail.Events, p.Resumed())
	w.loop.Go(func() {
		if err := w.begin(ctx); err != nil {
			w.loop.Post(func() { w.ui.Tell("the session can be looked at only: " + err.Error()) })
		}
		w.readRest(ctx)
	})
	return nil
}

// begin starts the runtime and passes its events on until ctx ends.
func (w *window) begin(ctx context.Context) error {
	events, err := w.program.Begin(ctx)
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
	err := w.program.Journal.Stored().Older(w.program.Tail, func(env event.Envelope) bool {
		before.Apply(env)
		return ctx.Err() == nil
	})
	if ctx.Err() != nil {
		return
	}
	w.loop.Post(func() {
		w.ui.Prepend(&before)
		if err != nil {
			w.ui.Tell("the beginning of the session can't be read: " + err.Error())
		}
	})
}

// send hands a command to the runtime, or keeps it until there is one.
func (w *window) send(c event.Command) {
	if _, watch := c.(event.WatchPanes); !w.program.Live.Send(c) && !watch {
		w.ui.Tell("the session is still being read; this comes next")
	}
}

// keepShape remembers how the panes are arranged.
func (w *window) keepShape(s ui.Shape) {
	path := shapeFile(w.program.Env.Dir)
	w.loop.Go(func() {
		if err := saveShape(path, s); err != nil {
			w.loop.Post(func() { w.ui.Tell("the arrangement of the panes was not kept: " + err.Error()) })
		}
	})
}

// draftChanged saves the draft a second later.
func (w *window) draftChanged() {
	if w.saving == nil {
		w.saving = time.AfterFunc(time.Second, func() { w.loop.Post(w.saveDraft) })
	}
}

// findFiles answers with the files of the current target that fit a query, unless another
// one comes first.
func (w *window) findFiles(query string, answer func(paths []string)) {
	find := w.files.Of(w.program.Targets).Request(query)
	w.loop.Go(func() {
		if paths, ok := find(); ok {
			w.loop.Post(func() { answer(paths) })
		}
	})
}

// saveDraft writes the draft, beside the session if that has a file.
func (w *window) saveDraft() {
	w.saving = nil
	text := w.ui.Prompt().Text()
	if slash.Private(text) {
		text = ""
	}
	save := func(text string) error { return w.program.Store.SaveDraft(w.program.ID, text) }
	switch {
	case w.unsent != nil && w.program.Journal.Stored() != nil: // what was typed first is sent
		_ = w.unsent.Save("")
		w.unsent, w.drafted = nil, ""
	case w.unsent != nil:
		save = w.unsent.Save
	}
	if text == w.drafted {
		return
	}
	w.drafted = text
	if err := save(text); err != nil {
		w.ui.Tell("the draft was not saved: " + err.Error())
	}
}
