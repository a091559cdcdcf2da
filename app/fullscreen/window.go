// Package fullscreen runs sessions in the full-screen user interface.
//
//	err := fullscreen.Run(options, slash.Next{}) // a new session
//	err := fullscreen.Replay(options, journal, 2, 0)
package fullscreen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"buddy/agent/event"
	"buddy/agent/undo"
	"buddy/app/client"
	"buddy/app/commands"
	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/app/host"
	"buddy/app/input"
	"buddy/app/keymap"
	"buddy/app/loop"
	"buddy/app/screen"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/app/state"
	"buddy/app/statusline"
	"buddy/app/ui"
	"buddy/sessions"
	"buddy/texts"
	"buddy/tmux"
	"buddy/views/draw"
	"buddy/views/markup"
)

// Run opens the full screen and shows a new or resumed session. When the user changes to another session, it shows that
// one.
func Run(f *compose.Options, first slash.Next) error {
	if err := tmux.CheckOutside(os.Getenv); err != nil {
		return exit.Failure(err)
	}
	if _, err := compose.NewDestination(f); err != nil { // a mistake in the options is reported without the screen
		return err
	}
	s, err := screen.Open()
	if err != nil {
		return exit.Failure(err)
	}
	var said bytes.Buffer // printed after the screen is gone
	defer func() {
		s.Fini() // restores the terminal in every case
		_, _ = said.WriteTo(os.Stderr)
	}()
	return sessionsFrom(f, s, first, &said, false)
}

// sessionsFrom shows a session, and then each session that the user changes to. back means that the dashboard follows,
// so that the screen stays open.
func sessionsFrom(f *compose.Options, s *screen.Screen, n slash.Next, said io.Writer, back bool) error {
	options := *f
	for n.Again = true; n.Again; options.Cleared = n.Resume == "" {
		if n.Options != "" {
			there, err := enterFolder(f, n)
			if err != nil {
				return exit.Failure(err)
			}
			options = *there
		}
		d, err := compose.NewDestination(&options) // for its name: the session's host connects to it
		if err != nil {
			return err
		}
		if n, err = oneSession(&options, d, s, n, said, back); err != nil {
			return err
		}
	}
	return nil
}

// oneSession shows a session until the user leaves it, and returns where the user goes next. The session stays visible
// until another one is drawn.
func oneSession(f *compose.Options, d *compose.Destination, s *screen.Screen, n slash.Next, said io.Writer, back bool) (slash.Next, error) {
	setup, err := compose.NewSetup(f, d.Name, n.Resume)
	if err != nil {
		return slash.Next{}, err
	}
	looks, err := LooksOf(f, setup.Config, setup.Index)
	if err != nil {
		return slash.Next{}, err
	}
	keys, err := compose.BoundKeys(setup.Config.Keys, setup.Index)
	if err != nil {
		return slash.Next{}, err
	}
	stored, err := readStored(&setup, n.Resume != "")
	if err != nil {
		return slash.Next{}, err
	}
	defer stored.close()
	ctx, cancel := exit.UntilEnded()
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	w := &window{back: back, signals: make(chan os.Signal, 4), setup: &setup, far: d.Host != nil, folder: folderOf(f, d), screen: s, files: input.NewFileIndex(), events: make(chan event.Envelope, eventRoom)}
	w.line = w.newLine()
	w.ui = ui.New(w.deps(ctx, looks, keys))
	w.ui.Prompt().SetVi(setup.Config.UI.Editor == "vi")
	s.SetMouse(setup.Config.UI.Mouse)
	w.loop = w.ui.Loop(s, w.events, func() { w.end(ctx, said) })
	defer w.follow(end)()
	w.link = newLink(ctx, w, f, stored.last())
	w.loop.Post(func() { // after the first frame
		w.link.begin(n.Resume != "")
		ui.Begin(w.ui, n)
		w.loop.Go(func() { w.readRest(ctx, stored) })
	})
	w.show(ctx, stored)
	if looks.Auto {
		w.loop.Post(w.ui.Follow) // after the first frame
	}
	stop := w.background(ctx, f)
	err = w.loop.Run(ctx)
	stop()
	w.link.leave()
	w.saveDraft()
	w.draft.file.Close()
	switch {
	case ctx.Err() != nil:
		return slash.Next{}, context.Cause(ctx)
	case err != nil:
		return slash.Next{}, exit.Error{Code: exit.Failed, Text: fmt.Sprintf("terminal: %v", err)}
	case w.link.failure() != nil:
		return slash.Next{}, w.link.failure()
	}
	if line := setup.Farewell(w.ui.Info().Event.Title, w.ui.Info().Usage.SessionCost); line != "" && !w.next.Again && !w.next.Detach {
		_, _ = fmt.Fprintln(said, line)
	}
	f.KeepModel(&setup, w.ui.Info().Event)
	return w.next, nil
}

// background watches the settings and runs the command for the status line until stop is called. stop waits until both
// have ended.
func (w *window) background(ctx context.Context, f *compose.Options) (stop func()) {
	unwatch, endLine := w.watchSettings(ctx, f), w.whileShown(ctx, w.line.Run)
	return func() { unwatch(); endLine() }
}

// whileShown runs f in a goroutine until stop is called. stop waits until f has returned.
func (w *window) whileShown(ctx context.Context, f func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	w.loop.Go(func() {
		defer close(done)
		f(ctx)
	})
	return func() { cancel(); <-done }
}

// folderOf returns a name for the folder in which commands run. The pane layout is saved under this name.
func folderOf(f *compose.Options, d *compose.Destination) string {
	if d.Host != nil {
		return d.Name + ":" + f.Dir
	}
	dir, _ := os.Getwd() // if unknown, nothing is stored for it
	return dir
}

// stored holds the file of a stored session, opened for reading, and the session's last events.
type stored struct {
	file *sessions.Journal // nil if the session is new
	tail sessions.Part
	runs bool // in a running host
}

func readStored(s *compose.Setup, resume bool) (r stored, err error) {
	if resume {
		r.runs = host.Runs(s.Store, s.ID) // before its end is read, so that later events are received
		r.file, r.tail, err = s.View()
	}
	return r, err
}

// last returns the number of the last event that was read.
func (s stored) last() uint64 {
	if n := len(s.tail.Events); n > 0 {
		return s.tail.Events[n-1].Seq
	}
	return 0
}

func (s stored) close() {
	if s.file != nil {
		_ = s.file.Close() // only read
	}
}

// eventRoom limits the events that wait for the next draw before their sender blocks.
const eventRoom = 256

// window connects the screen with the session, and with the files that the screen reads itself.
type window struct {
	setup  *compose.Setup
	far    bool   // the session starts on another machine
	folder string // of commands
	screen *screen.Screen
	ui     *ui.UI
	loop   *loop.Loop[event.Envelope]
	link   *link
	events chan event.Envelope
	lines  *input.History
	draft  draft
	files  *input.FileIndex // of this machine
	next   slash.Next
	back   bool // a dashboard follows
	line   *statusline.Runner

	unwatched func() // reads settings that can't be watched; nil if they can

	signals chan os.Signal
}

func (w *window) deps(ctx context.Context, looks ui.Looks, keys *keymap.Map) ui.Deps {
	return ui.Deps{
		Looks:    looks,
		Terminal: ui.Terminal{Repaint: w.screen.Sync, AskBackground: w.screen.AskBackground, Copy: w.copy, Edit: w.edit, Look: w.look, OpenAt: w.openAt, MayOpen: w.mayOpen(), Suspend: w.suspend, Attention: w.attention()},
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
			Files:  func(query string, answer func([]string)) { w.findFiles(ctx, query, answer) },
			Arguments: func(line string, answer func([]draw.CommandHelp)) {
				w.loop.Go(func() {
					words := w.link.arguments(ctx, line)
					w.loop.Post(func() { answer(words) })
				})
			},
			Attach: input.Attached, Picture: input.Picture, ClipboardPicture: func() (string, error) { return input.ClipboardPicture(ctx) },
		},
		Send: w.send, Keys: keys, Home: w.home(),
		Leave:     w.leave,
		Shape:     loadShape(shapeFile(w.folder)),
		KeepShape: w.keepShape,
		Run:       func(now slash.Now, words []string) (show.Answer, error) { return w.run(ctx, now, words) },
		Live:      w.live(ctx),
		Saved:     ui.SavedSessions{Saved: slash.SavedIn(w.setup.Store), Running: runningStates},
		File:      w.sessionFile(ctx),
		Line:      ui.StatusCommand{Update: w.line.Update, Report: w.line.Report},
	}
}

// send sends a command to the session. UI goroutine only.
func (w *window) send(c event.Command) {
	if _, prompt := c.(event.Submit); prompt && w.unwatched != nil {
		w.loop.Go(w.unwatched)
	}
	w.link.send(c)
}

// mayOpen returns a function that reports whether the terminal may open a file to which an answer links. It may if the
// file is in the workspace and the workspace is on this machine.
func (w *window) mayOpen() func(path string) bool {
	if w.far {
		return input.Inside("")
	}
	return input.Inside(w.folder)
}

// home returns the user's home folder on the target, "" if unknown.
func (w *window) home() string {
	if w.far {
		return ""
	}
	home, _ := os.UserHomeDir() // "" if unknown
	return home
}

// run runs a slash command: in this process if it works before the session has started, else in the session's host.
func (w *window) run(ctx context.Context, now slash.Now, words []string) (show.Answer, error) {
	if c, ok := slash.Find(words[0]); !ok || !c.Early {
		return w.link.run(now, words)
	}
	return commands.Run(ctx, &commands.Session{
		Setup: w.setup, Now: &now, Say: w.print, Send: func(c event.Command) { w.loop.Post(func() { ui.Send(w.ui, c) }) },
		Since: func() ([]undo.Change, error) {
			reply, err := ask[client.ChangedSinceReply](w.link, ctx, client.ChangedSince{})
			return reply.Changes, err
		},
	}, words...)
}

// print shows a message while a command runs. Any goroutine may call it.
func (w *window) print(text string) {
	w.loop.Post(func() {
		w.ui.ShowHint("")
		ui.Show(w.ui, event.Notice{Text: text})
	})
}

// leave leaves the session for another one, or ends the screen.
func (w *window) leave(n slash.Next) {
	w.next = n
	if n.Again || w.back {
		w.loop.HandOver()
		return
	}
	w.loop.Quit()
}

// end ends the session, and prints what keeps running. If the user detaches, or after a signal or the loss of the
// terminal, it leaves a stored session running and prints how to attach again.
func (w *window) end(ctx context.Context, said io.Writer) {
	gone := ctx.Err() != nil || w.loop.Failure() != nil
	w.next.Detach = (w.next.Detach || gone) && w.setup.Stored() // otherwise there is nothing to come back to
	switch {
	case !w.next.Detach:
		reason := w.next.Reason()
		if gone {
			reason = ""
		}
		for _, line := range w.link.close(w.next.Kill, reason) {
			_, _ = fmt.Fprintln(said, line)
		}
	case !w.next.Again && w.link.failure() == nil:
		_, _ = fmt.Fprintln(said, farewell(ui.Running(w.ui), host.Short(w.setup.ID)))
		if advice := host.LogoutAdvice(); advice != "" {
			_, _ = fmt.Fprintln(said, advice)
		}
	}
}

// farewell returns a line with the running tasks and the command that attaches again.
func farewell(running []string, id string) string {
	back := "Come back with: buddy attach " + id
	if len(running) == 0 {
		return back
	}
	for i, title := range running {
		running[i] = draw.Shorten(markup.Inline(title), maxLeft)
	}
	return "Still running: " + texts.Some(running) + ". " + back
}

// maxLeft limits the columns of a task's title in the farewell.
const maxLeft = 60

// attention returns how the user wants to be notified.
func (w *window) attention() ui.Attention {
	a := ui.Attention{How: screen.Call(w.setup.Config.UI.Notify), Notify: w.screen.Notify}
	if w.setup.Config.UI.Title {
		a.SetTitle = w.screen.SetTitle
	}
	return a
}

// show shows what is known before the session has started, such as the end of a stored session.
func (w *window) show(ctx context.Context, r stored) {
	s := w.setup
	switch {
	case s.Config.Active == nil && s.Problem != "":
		w.introduce(ctx)
	case s.Config.Active == nil:
		ui.SetFirst(w.ui, ui.Examples(true, true))
	}
	w.lines = input.OpenHistory()
	w.loop.SetFocus(w.ui)
	if r.file == nil {
		w.lookAtFolder(ctx, s.Config.Active == nil)
		w.loadUnsent(ctx, s.Store.Unsent())
		return
	}
	w.ui.Prompt().SetHistory(w.lines.Load())
	w.loadDraft(ctx, s.Store.Draft(s.ID))
	if r.runs {
		w.ui.ApplyTail(s.ID, r.tail.Events, nil)
		return
	}
	resumed := s.Resumed(r.file.Info().Header)
	w.ui.ApplyTail(s.ID, r.tail.Events, &resumed)
	if n := len(r.tail.Events); n > 0 {
		ui.Show(w.ui, event.Notice{Text: compose.ResumedLine(s, w.ui.Info().Event.Title, r.tail.Events[n-1].Time, time.Now())})
	}
}

// readRest adds the earlier part of a session whose end is shown already.
func (w *window) readRest(ctx context.Context, r stored) {
	if r.file == nil {
		return
	}
	w.link.await(ctx) // the session is more urgent
	var before *state.State
	var err error
	w.loop.Busy(func() {
		before, err = state.Fold(func(f func(event.Envelope) bool) error {
			return r.file.Older(r.tail, func(env event.Envelope) bool { return f(env) && ctx.Err() == nil })
		})
	})
	if ctx.Err() != nil {
		return
	}
	w.loop.Post(func() {
		w.ui.Prepend(before)
		if err != nil {
			w.ui.ShowHint("the start of the session can't be read: " + err.Error())
		}
	})
}

// sessionFile returns functions that read the session's file, even while the host writes to it. They may take long, so
// call them in the background.
func (w *window) sessionFile(ctx context.Context) ui.SessionFile {
	view := func(read func(*sessions.Journal) error) error {
		j, err := w.setup.Store.View(w.setup.ID)
		if err == nil {
			err = errors.Join(read(j), j.Close())
		}
		return err
	}
	return ui.SessionFile{
		Transcript: w.setup.Transcript,
		Newest: func() (seq uint64, err error) {
			err = view(func(j *sessions.Journal) error { seq = j.Info().LastSeq; return nil })
			return seq, err
		},
		Read: func(after uint64, f func(event.Envelope) bool) (err error) {
			w.loop.Busy(func() {
				err = view(func(j *sessions.Journal) error {
					return j.Range(after, func(env event.Envelope) bool { return f(env) && ctx.Err() == nil })
				})
			})
			return err
		},
	}
}

// keepShape saves the arrangement of the panes.
func (w *window) keepShape(s ui.Shape) {
	path := shapeFile(w.folder)
	w.loop.Go(func() {
		if err := saveShape(path, s); err != nil {
			w.loop.Post(func() { w.ui.ShowHint("the pane layout was not saved: " + err.Error()) })
		}
	})
}

// findFiles answers with the files of the current target, the subagents and the resources of MCP servers that match a
// query, unless there is a later query.
func (w *window) findFiles(ctx context.Context, query string, answer func(paths []string)) {
	find := w.files.Request(query)
	if on := w.ui.Info().Event.Target; on != slash.ThisMachine && on != "" {
		find = func() ([]string, bool) { return w.link.files(ctx, query) }
	}
	w.loop.Go(func() {
		paths, ok := find()
		if ok {
			paths = input.Merge(query, w.link.named(ctx, query), paths)
		}
		if ok {
			w.loop.Post(func() { answer(paths) })
		}
	})
}
