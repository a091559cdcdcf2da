// Package ui implements the full-screen user interface. It arranges the views, passes keys, mouse events and pastes
// to them, opens dialogs and lists, and runs slash commands. It only draws events and sends commands: the functions
// in [Deps] do everything that needs a tool, tmux or a model.
//
//	u := ui.New(ui.Deps{Keys: keys, Send: session.Send, Leave: leave, …})
//	l := u.Loop(s, events, stop)
//	l.SetFocus(u)
//	err := l.Run(ctx)
package ui

import (
	"cmp"
	"io"
	"strconv"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/keymap"
	"buddy/app/layout"
	"buddy/app/loop"
	"buddy/app/screen"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/app/state"
	"buddy/themes"
	"buddy/views"
	"buddy/views/dialog"
	"buddy/views/draw"
	"buddy/views/markup"
	"buddy/views/panes"
	"buddy/views/prompt"
	"buddy/views/transcript"
)

// UI is the full screen: the state, the views that draw it, and the handling of keys. Use it on the UI goroutine, or
// before the loop runs.
type UI struct {
	tview.Box
	deps  Deps
	state state.State
	v     viewSet

	arranged  arrangement
	following following
	overlays  overlays
	dock      dock
	colours   colouring
	pending   pending
	busy      bool
	start     start
	received  received
	earlier   earlier

	pressed pressed // by the mouse

	grace     time.Time // until then keys are ignored: they were meant for a pane that has closed
	watched   watched
	attention attention
	noted     noted
}

// received holds how much of the session this screen has received, and the name that the session has given to this
// screen.
type received struct {
	newest         uint64       // number of the newest event
	place          string       // the session's name for this screen in answers; "" while unknown
	shownElsewhere bool         // whether an answer at another screen is shown, until the next task starts
	lost           bool         // whether no process runs the session; see Lose
	rewindTo       state.Border // the first prompt of the rewind that this screen asked for; Seq 0 for none
}

// pending is an action that takes effect if its key is pressed again.
type pending struct {
	action  keymap.Action
	running bool // whether the confirmation ends with the task
}

// Deps holds the dependencies of the screen. Its functions are called on the UI goroutine.
type Deps struct {
	Looks
	Terminal
	Timing
	Drafting
	Send      func(event.Command) // to the runtime
	Keys      *keymap.Map
	Home      string           // the user's home folder, to abbreviate paths; "" is unknown
	Leave     func(slash.Next) // leaves the session
	Shape     Shape            // how the panes were arranged last
	KeepShape func(Shape)      // called after the panes are rearranged
	// Run runs a command, given as its name and arguments. It is called from any goroutine and may take long.
	Run   func(now slash.Now, words []string) (show.Answer, error)
	Saved SavedSessions
	Live  LiveSessions
	File  SessionFile
	Line  StatusCommand
}

// StatusCommand runs the person's own command, which prints the end of the status line (see ShowLine). Without one, the
// functions are nil.
type StatusCommand struct {
	Update func(info *state.Info, busy bool) // called when the session has changed
	Report func() string                     // describes the last run; from any goroutine
}

// Timing holds the clock, and runs functions later or in the background.
type Timing struct {
	Now   func() time.Time            // from any goroutine
	Tick  func(on bool)               // starts or stops the animation ticks
	Later func(func())                // runs the function on the UI goroutine, after pending work; from any goroutine
	After func(time.Duration, func()) // as Later, after a delay

	// Background calls work on another goroutine, and then the function that work returns on the UI goroutine.
	Background func(work func() (apply func()))
}

// Drafting holds the functions that are needed while the user writes a prompt.
type Drafting struct {
	Draft  func()                                          // the draft changed
	Record func(text string)                               // adds a line to the history
	Files  func(query string, answer func(paths []string)) // answers later, on the UI goroutine
	// Arguments completes the last word of a command line. It calls answer later, on the UI goroutine.
	Arguments func(line string, answer func(words []draw.CommandHelp))
	Attach    func(prompt string) ([]model.Image, error) // the pictures that a prompt names
	// Picture returns the file of a picture whose path was pasted, "" for other text.
	Picture func(pasted string) (path string)
	// ClipboardPicture returns a file with the picture in the clipboard. It may take seconds.
	ClipboardPicture func() (path string, err error)
}

// Looks holds the current theme and the available ones.
type Looks struct {
	Theme   *themes.Theme
	Colours Colours
	Auto    bool // the theme follows the terminal's background
	Header  views.Shown
}

// Terminal holds the functions that affect the terminal, except for drawing.
type Terminal struct {
	Repaint       func()                                  // draws every cell again
	AskBackground func()                                  // the loop passes the answer on
	Copy          func(text string)                       // to the clipboard
	Edit          func(name, text string) (string, error) // in the user's editor
	Look          func(name string, text io.Reader) error // read-only, of any size
	OpenAt        func(path string, line int) error       // opens the file itself in the editor; line 0 is its start
	MayOpen       func(path string) bool                  // whether the terminal may open a file that an answer links to
	Suspend       func() error                            // gives the terminal to the shell until it is resumed
	Attention     Attention
}

// viewSet holds the views, which live as long as the UI.
type viewSet struct {
	header       *views.Header
	conversation *transcript.Conversation
	panes        *panes.Panes
	tasks        *views.Tasks
	strip        *panes.Strip // in place of panes and tasks on a narrow screen
	status       *views.StatusLine
	queue        *views.Queue
	border       *draw.Border
	prompt       *prompt.Prompt
	footer       *views.Footer
	help         *dialog.Help
	cheat        *dialog.CheatSheet
	secret       *dialog.Secret
	pager        *dialog.Pager
	ask          *dialog.Ask
}

// keyView is a view to which keys can go: a pane's view or an overlay.
type keyView interface {
	tview.Primitive
	Scope() keymap.Scope
	Press(keymap.Press)
}

func (v *viewSet) pane(p layout.Pane) keyView {
	return [...]keyView{v.prompt, v.conversation, v.panes, v.tasks}[p]
}

// coloured returns the views that are drawn without an overlay.
func (v *viewSet) coloured() []coloured {
	return []coloured{v.header, v.conversation, v.panes, v.tasks, v.strip, v.status, v.queue, v.border, v.prompt, v.footer, v.cheat}
}

// New returns a screen that shows nothing yet. [UI.Loop] feeds it.
func New(d Deps) *UI {
	u := &UI{Box: *tview.NewBox(), deps: d, attention: attention{Attention: d.Attention}}
	t, k := d.Theme, d.Keys
	u.v = viewSet{
		header:       views.NewHeader(t, k, d.Home, time.Local),
		conversation: newConversation(u),
		panes:        panes.New(t, k, &transcript.Output{}),
		tasks:        views.NewTasks(t, k, d.Now),
		status:       views.NewStatusLine(t, k, d.Now),
		queue:        views.NewQueue(t, k),
		border:       draw.NewBorder(t, k),
		prompt:       prompt.New(t, k),
		footer:       views.NewFooter(t, k),
		help:         dialog.NewHelp(t, k),
		cheat:        dialog.NewCheatSheet(t, k),
		secret:       dialog.NewSecret(t, k),
		pager:        dialog.NewPager(t, k),
		ask:          dialog.NewAsk(t, k),
	}
	u.v.strip = panes.NewStrip(t, k, u.v.panes, d.Now)
	u.v.header.Shown = d.Header
	u.arranged = arrangement{tab: layout.Conversation, shape: d.Shape, panes: u.v.panes, keep: d.KeepShape}
	u.dock = dock{
		approval: dialog.NewApproval(t, k, d.Now), question: dialog.NewConfirm(t, k), confirm: dialog.NewConfirm(t, k),
		line: u.v.ask, prompt: u.v.prompt, arranged: &u.arranged, state: &u.state, deps: &u.deps, target: u.target,
	}
	u.overlays = overlays{dock: &u.dock, deps: &u.deps, palette: func() { pickCommand(&u.overlays, u.runChosen, u.runAction) }}
	u.overlays.stackUp(&u.v)
	u.colours = colouring{Looks: &u.deps.Looks, ask: d.AskBackground, views: append(u.v.coloured(), &u.overlays, &shownColours{u})}
	for _, v := range u.overlays.views {
		u.colours.views = append(u.colours.views, v)
	}
	u.connect()
	u.arranged.setFocus(layout.Prompt)
	return u
}

// connect sets the callbacks of the views.
func (u *UI) connect() {
	d := &u.deps
	u.v.panes.SetNow(d.Now)
	SetFirst(u, Examples(false, true))
	u.v.panes.PaneIntents = panes.PaneIntents{
		OnOpen:       u.openRun,
		OnType:       func(id string, p []byte) { d.Send(event.PaneInput{Pane: id, Bytes: p}) },
		OnPaste:      func(id, text string) { d.Send(event.PanePaste{Pane: id, Text: text}) },
		OnFit:        func(id string, w, h int) { d.Send(event.FitPane{Pane: id, W: w, H: h}) },
		OnHistory:    func(id string) { d.Send(event.ReadPane{Pane: id}) },
		OnBackground: func() { u.deps.Send(event.Background{}) },
		OnKill:       func(id, name, why string) { askToKill(u, id, name, why) },
	}
	u.v.strip.OnOpen = func() { u.arranged.setFocus(layout.Live) }
	u.v.tasks.OnCancel = func(id int) { d.Send(event.Cancel{Task: id}) }
	u.v.tasks.OnTimeout = func(id int) { askTimeout(u.v.ask, d.Send, id) }
	u.v.tasks.OnOpen = func(t *state.Task) { openTask(u, t) }
	u.dock.approval.Highlighter = &markup.Highlighter{Background: d.Background}
	u.dock.approval.OnAnswer = func(a event.AnswerApproval) { d.Send(a) }
	u.dock.approval.OnHint = func(text string) { u.hint("", text) }
	u.dock.confirm.OnHint, u.dock.question.OnHint = u.dock.approval.OnHint, u.dock.approval.OnHint
	u.v.help.OnClose = func() { u.overlays.help = false }
	u.v.help.OnCopy, u.dock.approval.OnCopy, u.dock.confirm.OnCopy, u.dock.question.OnCopy = u.copy, u.copy, u.copy, u.copy
	u.v.help.SetCommands(commandHelp(nil))
	u.v.prompt.SetCommands(offeredCommands(nil))
	u.v.prompt.OnSubmit, u.v.prompt.Private = u.submit, slash.Private
	u.v.prompt.OnEmpty = func() { accept(u) }
	u.v.prompt.OnChange = func() {
		if !u.following.on() {
			d.Draft()
		}
	}
	u.v.prompt.OnFiles = func(query string) {
		d.Files(query, func(paths []string) { u.v.prompt.SetFiles(query, paths) })
	}
	u.v.prompt.OnArguments = func(line string) {
		d.Arguments(line, func(words []draw.CommandHelp) { u.v.prompt.SetArguments(line, words) })
	}
	u.v.prompt.OnEOF = u.quit
	u.v.prompt.OnPicture = func() { insertPicture(u) }
	u.v.prompt.OnEdit = func() { u.editFrom("") }
	u.v.pager.OnCopy, u.v.pager.Later = u.copy, d.Later
	u.v.pager.OnEdit = func(doc dialog.Document) { editOutput(u, doc) }
	u.v.prompt.OnUnqueue = func(id int) { d.Send(event.Unqueue{ID: id}) }
	u.v.prompt.OnContinue = func() { resumeSession(u) }
	u.v.prompt.OnRetry = func() { sendForMain(u, event.RetryNow{}) }
}

// newConversation returns the view of a conversation, with its callbacks set.
func newConversation(u *UI) *transcript.Conversation {
	d := &u.deps
	c := transcript.NewConversation(d.Theme, d.Keys)
	c.SetNow(d.Now)
	c.SetBackground(d.Background)
	c.SetFiles(d.MayOpen)
	c.SetAfter(d.After)
	c.ConversationIntents = transcript.ConversationIntents{
		OnCopy: u.copy, Later: d.Later, OnEdit: lookAs(u, "block.md"), OnOpen: u.openOutput,
		OnFindings: func(r *event.ReviewFinished) { runWords(u, []string{"findings", "of", strconv.Itoa(r.Task)}) },
		OnClick:    func() { u.arranged.setFocus(layout.Prompt) },
		OnFound:    func() { u.arranged.setFocus(layout.Prompt) },
	}
	return c
}

// apply applies events to the state and updates the views.
func (u *UI) apply(batch []event.Envelope) bool {
	var ch state.Changed
	asked, other, stale := len(requestsIn(&u.state)), "", false
	var back event.HistoryRewound
	for _, env := range batch {
		ch |= u.state.Apply(env)
		u.received.newest = env.Seq
		if event.Durable(env.Payload) {
			u.earlier.durable = env.Seq
		}
		other = cmp.Or(elsewhere(env.Payload, u.received.place), other)
		switch p := env.Payload.(type) {
		case event.TaskStarted:
			stale = u.received.shownElsewhere
		case event.HistoryRewound:
			back, u.earlier.sought = p, nil
		case event.ModelSwitched:
			modelCame(u, p)
		}
	}
	if len(requestsIn(&u.state)) > asked && u.arranged.focus == layout.Prompt {
		u.arranged.tab = layout.Conversation // on a narrow screen another pane may hide the request
	}
	changed := u.update(ch)
	trimBlocks(u)
	restorePrompt(u, back)
	if other != "" || stale {
		u.ShowHint(other)
		u.received.shownElsewhere = other != ""
	}
	return changed || other != ""
}

// ApplyTail shows the end of a stored session. resumed is nil if the session is running. Otherwise it holds the
// settings with which the session resumes, and everything that an earlier process left unfinished is shown as ended.
// The runtime reports the same once it has started.
func (u *UI) ApplyTail(session string, newest []event.Envelope, resumed *event.SessionResumed) {
	u.state.ApplyTail(newest)
	env := event.Envelope{Session: session}
	if n := len(newest); n > 0 {
		env.Seq, env.Time = newest[n-1].Seq, newest[n-1].Time
		u.received.newest = env.Seq
	}
	if resumed != nil {
		env.Payload = *resumed
		u.state.Apply(env)
	}
	u.update(state.Everything)
}

// updated is a view of the state.
type updated interface {
	Update(*state.State, state.Changed)
}

// update updates the views and reports whether anything changed.
func (u *UI) update(ch state.Changed) bool {
	if ch == 0 {
		return false
	}
	typed := u.arranged.typing()
	for _, v := range []updated{u.v.header, u.v.panes, u.v.tasks, u.v.strip, u.v.status, u.v.footer} {
		v.Update(&u.state, ch)
	}
	shown := u.following.shown(&u.state)
	for _, v := range []updated{u.v.conversation, u.v.prompt, u.v.queue} {
		v.Update(shown, ch)
	}
	u.v.prompt.To, _ = u.following.toWhom(&u.state)
	offer(u, ch)
	if ch&state.Approvals != 0 && u.dock.sync() {
		u.v.conversation.Bottom()
	}
	u.busy = u.v.status.Busy()
	if typed && !u.arranged.typing() {
		u.grace = u.deps.Now().Add(draw.GracePeriod)
		u.hint("", "the pane was closed")
	}
	if u.pending.running && stoppable(u) == nil {
		u.hint("", "") // it was about a task that has ended
	}
	noteMode(u)
	if u.deps.Line.Update != nil && ch&(state.Header|state.Tasks) != 0 {
		u.deps.Line.Update(&u.state.Info, u.busy)
	}
	u.attention.update(&u.state)
	u.deps.Tick(u.busy && !u.attention.away)
	return true
}

// quit ends the session, and asks about running tasks.
func (u *UI) quit() { runWords(u, []string{"quit"}) }

// Begin does what n asks for at the start of a session: it shows a position, opens the list of sessions, or sends a
// prompt as if the user had typed it.
func Begin(u *UI, n slash.Next) {
	goTo(u, n.Spot)
	if n.Browse {
		browse(u)
	}
	if n.Prompt != "" {
		u.submit(n.Prompt)
	}
}

// Info returns the contents of the header. Call it on the UI goroutine, or after the loop has ended.
func (u *UI) Info() state.Info { return u.state.Info }

// ShowHint shows a line until the next key.
func (u *UI) ShowHint(text string) { u.hint("", text) }

// ShowLine sets the end of the status line.
func ShowLine(u *UI, line string) { u.v.status.SetOwn(line) }

// Prompt returns the view of the prompt.
func (u *UI) Prompt() *prompt.Prompt { return u.v.prompt }

// Prepend adds the earlier part of the session in front of the shown part.
func (u *UI) Prepend(before *state.State) {
	u.update(u.state.PrependState(before))
	u.arrive()
	then := u.earlier.then
	u.earlier.then = nil
	for _, do := range then {
		do()
	}
}

// UseKeys replaces the key map.
func (u *UI) UseKeys(keys *keymap.Map) {
	u.deps.Keys.Take(keys)
	u.update(state.Everything)
}

// hint shows a line until the next key is pressed. confirm is the action that this key confirms if it is the action's
// key, "" for none.
func (u *UI) hint(confirm keymap.Action, text string) {
	u.pending = pending{action: confirm}
	u.v.status.SetHint(text)
}

// Loop returns the loop that feeds u with events and keys. stop is called when it ends.
func (u *UI) Loop(s *screen.Screen, events <-chan event.Envelope, stop func()) *loop.Loop[event.Envelope] {
	return loop.New(loop.Config[event.Envelope]{
		Screen: s, Root: u, Events: events, Apply: u.apply, Stop: stop,
		Key: func(ev *tcell.EventKey) *tcell.EventKey { u.key(ev); return nil },
		On:  screen.Handlers{Paste: u.paste, Focus: u.focused, Background: u.colours.background},
	})
}

// focused records whether the terminal has the focus. Spinners stop while it does not.
func (u *UI) focused(on bool) {
	u.attention.focused(on, &u.state)
	u.deps.Tick(u.busy && on)
}
