// Package ui is the full screen: which view is where, which of them a key, the mouse or a
// paste is for, the dialogs and lists over them, and what a command after a slash does. It
// draws what the events tell and sends commands; what else it needs from the program comes
// in as functions, in [Deps], so that it runs no tool, no tmux and no model itself.
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

// UI is the full screen: the state, the views that draw it, and what the person means by
// a key. It lives on the UI goroutine: so do calls of its methods, but before Run.
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
	heard     heard // from the session
	earlier   earlier

	pressed pressed // with the mouse

	grace     time.Time // until then keys do nothing: they were meant for a pane that has closed
	watched   watched
	attention attention
	noted     noted
}

// heard tells how far the screen has heard its session, and what that calls it.
type heard struct {
	newest uint64       // number of the newest event
	place  string       // how the session calls this screen when that answers; "" while that is not known
	told   bool         // that something was answered at another screen, until the next task begins
	lost   bool         // nobody runs the session; see Lose
	back   state.Border // the prompt that this screen asked to go back to before; Seq 0 is none
}

// pending is a confirmation that the next key may give: an action that does more when it
// comes twice.
type pending struct {
	action  keymap.Action
	running bool // only while the task runs
}

// Deps hold what the screen needs from outside. Its functions are called on the UI
// goroutine.
type Deps struct {
	Looks
	Terminal
	Timing
	Drafting
	Send      func(event.Command) // to the runtime
	Keys      *keymap.Map
	Home      string           // the person's folder, for people; "" is unknown
	Leave     func(slash.Next) // the person leaves the session
	Shape     Shape            // how the panes were arranged
	KeepShape func(Shape)      // the panes are arranged anew
	// Run runs a command of the table, its name and then its arguments; from any goroutine, and it may take long.
	Run   func(now slash.Now, words []string) (show.Answer, error)
	Saved SavedSessions
	File  SessionFile
}

// Timing holds the clock, and runs functions later or elsewhere.
type Timing struct {
	Now   func() time.Time            // from any goroutine
	Tick  func(on bool)               // something moves, or nothing does any more
	Later func(func())                // runs it on the UI goroutine, after what waits there; from any goroutine
	After func(time.Duration, func()) // the same, when some time has passed

	// Background calls work on another goroutine and what it returns on this one.
	Background func(work func() (apply func()))
}

// Drafting holds what writing a prompt needs.
type Drafting struct {
	Draft  func()                                          // the draft changed
	Record func(text string)                               // a line for the history
	Files  func(query string, answer func(paths []string)) // answers later, on the UI goroutine
	// Arguments asks what the last word of a command's line may become; answers later, on the UI goroutine.
	Arguments func(line string, answer func(words []draw.CommandHelp))
	Attach    func(prompt string) ([]model.Image, error) // the pictures that a prompt names
	// Picture returns the file of a picture whose path was pasted, "" for another text.
	Picture func(pasted string) (path string)
	// ClipboardPicture returns a file with the picture of the clipboard. It may take seconds.
	ClipboardPicture func() (path string, err error)
}

// Looks are the colours now, and which others there are.
type Looks struct {
	Theme   *themes.Theme
	Colours Colours
	Auto    bool // the theme follows the terminal's background

	ShowTokens bool // in the header
}

// Terminal holds what goes to the terminal other than what is drawn.
type Terminal struct {
	Repaint       func()                                  // draws every cell anew
	AskBackground func()                                  // whose answer the loop passes on
	Copy          func(text string)                       // to the clipboard
	Edit          func(name, text string) (string, error) // in the person's editor
	Look          func(name string, text io.Reader) error // the same for what is only looked at, of any size
	OpenAt        func(path string, line int) error       // a file itself in that editor; line 0 is its beginning
	MayOpen       func(path string) bool                  // whether the terminal may open a file that an answer links to
	Suspend       func() error                            // gives the terminal to the shell until that gives it back
	Attention     Attention
}

// viewSet holds the views, each of which lives as long as the UI.
type viewSet struct {
	header       *views.Header
	conversation *transcript.Conversation
	panes        *panes.Panes
	tasks        *views.Tasks
	strip        *panes.Strip // in the place of both
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

// keyView is a view that can have the keys: that of a pane, or an overlay.
type keyView interface {
	tview.Primitive
	Scope() keymap.Scope
	Press(keymap.Press)
}

// pane returns the view of a pane.
func (v *viewSet) pane(p layout.Pane) keyView {
	return [...]keyView{v.prompt, v.conversation, v.panes, v.tasks}[p]
}

// coloured returns the views that show without an overlay.
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
	u.v.header.ShowTokens = d.ShowTokens
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

// connect gives the views what their keys do.
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
	u.v.prompt.OnContinue = func() { goOn(u) }
	u.v.prompt.OnRetry = func() { sendForMain(u, event.RetryNow{}) }
}

// newConversation returns a view of a conversation, whose keys do what they do in each.
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

// apply folds events into the state and tells the views.
func (u *UI) apply(batch []event.Envelope) bool {
	var ch state.Changed
	asked, other, stale := len(requestsIn(&u.state)), "", false
	var back event.HistoryRewound
	for _, env := range batch {
		ch |= u.state.Apply(env)
		u.heard.newest = env.Seq
		if event.Durable(env.Payload) {
			u.earlier.durable = env.Seq
		}
		other = cmp.Or(elsewhere(env.Payload, u.heard.place), other)
		switch p := env.Payload.(type) {
		case event.TaskStarted:
			stale = u.heard.told
		case event.HistoryRewound:
			back, u.earlier.sought = p, nil
		case event.ModelSwitched:
			modelCame(u, p)
		}
	}
	if len(requestsIn(&u.state)) > asked && u.arranged.focus == layout.Prompt {
		u.arranged.tab = layout.Conversation // where the question is: on a narrow screen another pane may show
	}
	changed := u.update(ch)
	trimBlocks(u)
	tookBack(u, back)
	if other != "" || stale {
		u.Tell(other)
		u.heard.told = other != ""
	}
	return changed || other != ""
}

// ApplyTail shows the end of a stored session. Unless it runs, resumed says with what it goes on:
// what an earlier process left running does not run any more; the runtime says the same when it is
// there.
func (u *UI) ApplyTail(session string, newest []event.Envelope, resumed *event.SessionResumed) {
	u.state.ApplyTail(newest)
	env := event.Envelope{Session: session}
	if n := len(newest); n > 0 {
		env.Seq, env.Time = newest[n-1].Seq, newest[n-1].Time
		u.heard.newest = env.Seq
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

// update tells the views what changed and reports whether anything did.
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
	u.attention.update(&u.state)
	u.deps.Tick(u.busy && !u.attention.away)
	return true
}

// quit ends the session; while something runs it asks what becomes of that.
func (u *UI) quit() { runWords(u, []string{"quit"}) }

// Begin does what the person asked for when they came to a session: shows a place, opens the list of
// sessions, sends a prompt as if it were typed.
func Begin(u *UI, n slash.Next) {
	goTo(u, n.Spot)
	if n.Browse {
		browse(u)
	}
	if n.Prompt != "" {
		u.submit(n.Prompt)
	}
}

// Info returns what the header shows. Call it on the UI goroutine, or after the loop has ended.
func (u *UI) Info() state.Info { return u.state.Info }

// Tell shows a line until the next key.
func (u *UI) Tell(text string) { u.hint("", text) }

// Prompt returns the view of the prompt, for its history, its mode and what is in it.
func (u *UI) Prompt() *prompt.Prompt { return u.v.prompt }

// Prepend puts the part of a session that comes before all that is there in front of it. Its first blocks
// may have been trimmed.
func (u *UI) Prepend(before *state.State) {
	u.update(u.state.PrependState(before))
	u.arrive()
	then := u.earlier.then
	u.earlier.then = nil
	for _, do := range then {
		do()
	}
}

// TakeKeys makes the keys those of another map.
func (u *UI) TakeKeys(keys *keymap.Map) {
	u.deps.Keys.Take(keys)
	u.update(state.Everything)
}

// hint shows a line until the next key, which may confirm an action that has to come twice.
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

// focused learns whether the terminal has the focus; spinners rest while it has not.
func (u *UI) focused(on bool) {
	u.attention.focused(on, &u.state)
	u.deps.Tick(u.busy && on)
}
