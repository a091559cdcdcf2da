package app

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/layout"
	"buddy/app/loop"
	"buddy/app/screen"
	"buddy/app/state"
	"buddy/sessions"
	"buddy/themes"
	"buddy/views"
)

// ui is the full screen: the state, the views that draw it, and what the person means by
// a key. It lives on the UI goroutine.
type ui struct {
	tview.Box
	deps  deps
	state state.State
	v     panes
	lay   placed

	arrangement
	help  bool   // the help shows
	away  string // id of the approval that the person left open
	armed armed
	busy  bool
	over  over

	pressed pressed // with the mouse

	deaf      time.Time // until then keys do nothing: they were meant for a pane that has closed
	watched   []string  // panes whose pictures are wanted
	attention attention
}

// arrangement is what the layout depends on that a person chose.
type arrangement struct {
	focus   layout.Pane // of the panes; dialogs over them come first
	tab     layout.Pane // the pane last focused other than the prompt
	zoom    bool
	shape   shape
	dragged border // with the mouse
}

// armed is what the key after this one may mean: an action that does more when it comes
// twice.
type armed struct {
	action  keymap.Action
	running bool // only while the task runs
}

// deps are what the screen needs from outside.
type deps struct {
	looks
	terminal
	send      func(event.Command)
	keys      *keymap.Map
	now       func() time.Time
	home      string
	leave     func(next)
	tick      func(on bool)
	later     func(func())                                    // runs it on the UI goroutine, after what waits there
	after     func(time.Duration, func())                     // the same, when some time has passed
	draft     func()                                          // the draft changed
	keepShape func(shape)                                     // the panes are arranged anew
	record    func(text string)                               // a line for the history
	files     func(query string, answer func(paths []string)) // answers later, on the UI goroutine
	catalog   catalog

	// background calls work on another goroutine and what it returns on this one.
	background func(work func() (apply func()))
}

// looks are the colours now, and which others there are.
type looks struct {
	theme   *themes.Theme
	colours colours
	auto    bool // the theme follows the terminal's background
}

// terminal is what goes to the terminal other than what is drawn.
type terminal struct {
	repaint       func()
	askBackground func()
	copy          func(text string)
	edit          func(name, text string) (string, error) // in the person's editor
	look          func(name string, text io.Reader) error // the same for what is only looked at, of any size
	attention     attention
}

// next says what comes after the screen: another session, or nothing.
type next struct {
	again  bool
	kill   bool   // what still runs in panes
	resume string // as for compose; "" is a new session
}

// catalog is what there is to choose from. Its functions may read files.
type catalog struct {
	offers   func() []offer         // of models; asks servers on this machine
	sessions func() (string, error) // a list for people
	search   func(text string) (string, error)
	fork     func(exchange int) (id string, err error) // of this session; 0 is its last exchange
	find     func(string) (string, error)              // the id that a person means
	target   func() string                             // where commands run; may take long
	targets  []string                                  // that may be switched to
	notice   func(text string)
	trust    func() (string, error) // what to say, "" when the session has to begin anew
	current  func() string          // the session to go on with
	access   access
	doctor   func(profile string) []finding // asks the model; may take long
	store    sessions.Store
	changes  func() (diff string, files int, err error) // what the agent changed
	export   func(id string, as sessions.ExportFormat, path string) (written string, err error)
}

// panes are the views.
type panes struct {
	header       *views.Header
	conversation *views.Conversation
	output       *views.Output
	panes        *views.Panes
	tasks        *views.Tasks
	status       *views.StatusLine
	border       *views.Border // around status line and prompt
	prompt       *views.Prompt
	footer       *views.Footer
	tabs         *views.TabBar
	approval     *views.Approval
	help         *views.Help
	secret       *views.Secret
	confirm      *views.Confirm
	pager        *views.Pager
	ask          *views.Ask
}

// welcome is what an empty conversation shows; the demo has a tour.
func welcome(demo bool) []string {
	first := `  what does this project do?   and anything else, in your words`
	if demo {
		first = `  tour                         three steps through the program`
	}
	return []string{
		"buddy works with you in this terminal: it runs commands in real tmux panes,",
		"shows you what they print, and asks before it changes anything.",
		"",
		"Try:",
		first,
		"  !git status                  a command that you run yourself",
		"  /init                        it writes AGENTS.md, what is to be known here",
		"  /help                        all keys and commands",
	}
}

func newUI(d deps) *ui {
	u := &ui{Box: *tview.NewBox(), deps: d, arrangement: arrangement{tab: layout.Conversation}, attention: d.attention}
	t, k := d.theme, d.keys
	u.v = panes{
		header:       views.NewHeader(t, k, d.home, time.Local),
		conversation: views.NewConversation(t, k),
		output:       views.NewOutput(t, k),
		panes:        views.NewPanes(t, k),
		tasks:        views.NewTasks(t, k, d.now),
		status:       views.NewStatusLine(t, k, d.now),
		border:       views.NewBorder(t, k),
		prompt:       views.NewPrompt(t, k),
		footer:       views.NewFooter(t, k),
		tabs:         views.NewTabBar(t, k),
		approval:     views.NewApproval(t, k, d.now),
		help:         views.NewHelp(t, k),
		secret:       views.NewSecret(t, k),
		confirm:      views.NewConfirm(t, k),
		pager:        views.NewPager(t, k),
		ask:          views.NewAsk(t, k),
	}
	u.v.conversation.SetNow(d.now)
	u.v.output.SetNow(d.now)
	u.v.conversation.SetWelcome(welcome(false))
	u.v.conversation.SetBackground(d.background)
	u.v.conversation.OnCopy = u.copy
	u.v.conversation.Later = d.later
	u.v.conversation.SetAfter(d.after)
	u.v.output.OnZoom = u.toggleZoom
	u.v.panes.PaneIntents = u.paneIntents()
	u.v.tasks.OnCancel = func(id int) { d.send(event.Cancel{Task: id}) }
	u.v.tasks.OnTimeout, u.v.tasks.OnOpen = u.askTimeout, u.openTask
	u.v.tasks.OnApproval = func(string) { u.away = "" }
	u.v.approval.OnAnswer = func(a event.Approve) { d.send(a) }
	u.v.approval.OnLeave = func() { u.away = u.v.approval.Asked(); u.setFocus(layout.Prompt) }
	u.v.help.OnClose = func() { u.help = false }
	u.v.help.OnCopy, u.v.approval.OnCopy, u.v.confirm.OnCopy = u.copy, u.copy, u.copy
	u.over.palette = u.pickCommand
	u.v.help.SetCommands(commandHelp())
	u.v.prompt.SetCommands(commandHelp())
	u.v.prompt.OnSubmit, u.v.prompt.Private = u.submit, private
	u.v.prompt.OnChange = d.draft
	u.v.prompt.OnFiles = func(query string) {
		d.files(query, func(paths []string) { u.v.prompt.SetFiles(query, paths) })
	}
	u.v.prompt.OnEOF = u.quit
	u.v.prompt.OnEdit = u.edit
	u.v.conversation.OnEdit, u.v.conversation.OnChoice = u.look, u.choose
	u.v.conversation.OnOpen, u.v.output.OnOpen = u.openOutput, u.openOutput
	u.v.pager.OnCopy, u.v.pager.OnEdit, u.v.pager.Later = u.copy, u.editOutput, d.later
	u.v.prompt.OnUnqueue = func(id int) { d.send(event.Unqueue{ID: id}) }
	u.v.prompt.OnContinue = func() { d.send(event.Continue{}) }
	u.setFocus(layout.Prompt)
	return u
}

// apply folds events into the state and tells the views.
func (u *ui) apply(batch []event.Envelope) bool {
	var ch state.Changed
	for _, env := range batch {
		ch |= u.state.Apply(env)
	}
	return u.update(ch)
}

// applyTail shows the end of a stored session. What that process left running does not
// run any more; the runtime says the same when it is there.
func (u *ui) applyTail(session string, newest []event.Envelope, resumed event.SessionResumed) {
	u.state.ApplyTail(newest)
	env := event.Envelope{Session: session, Payload: resumed}
	if n := len(newest); n > 0 {
		env.Seq, env.Time = newest[n-1].Seq, newest[n-1].Time
	}
	u.state.Apply(env)
	u.update(state.Everything)
}

// update tells the views what changed and reports whether anything did.
func (u *ui) update(ch state.Changed) bool {
	if ch == 0 {
		return false
	}
	typed := u.typing()
	for _, v := range []interface {
		Update(*state.State, state.Changed)
	}{u.v.header, u.v.conversation, u.v.output, u.v.panes, u.v.tasks, u.v.status, u.v.prompt, u.v.footer, u.v.approval} {
		v.Update(&u.state, ch)
	}
	u.busy = u.v.status.Busy()
	if typed && !u.typing() {
		u.deaf = u.deps.now().Add(views.ApprovalGrace)
		u.hint("", "typing has ended: the pane is gone")
	}
	if u.armed.running && u.state.Running() == nil {
		u.hint("", "") // it was about a task that has ended
	}
	u.attention.update(&u.state)
	u.deps.tick(u.busy && !u.attention.away)
	return true
}

// asking says that the approval dialog shows and takes the keys. While somebody types into
// a pane it waits: no key meant for the pane may answer it.
func (u *ui) asking() bool {
	id := u.v.approval.Asked()
	return id != "" && id != u.away && !u.typing()
}

// submit takes a line from the prompt.
func (u *ui) submit(text string) {
	if !private(text) {
		u.deps.record(text)
	}
	if runCommand(u, text) || u.runTyped(text) {
		return
	}
	if len(u.state.Questions) > 0 {
		u.deps.send(reply(u.state.Questions[0], text))
		return
	}
	u.send(event.Submit{Text: text})
}

// runTyped runs what follows a "!" as a command of the person, and reports whether there is
// one.
func (u *ui) runTyped(text string) bool {
	if !strings.HasPrefix(text, "!") || strings.TrimSpace(text) == "!" {
		return false
	}
	if t := u.state.Running(); t != nil {
		u.hint("", fmt.Sprintf("task #%d runs; your command can run after it", t.ID))
		u.v.prompt.SetText(text)
		return true
	}
	u.deps.send(event.Submit{Text: text, Shell: true})
	return true
}

// reply is the answer to a question; the number of a choice stands for it.
func reply(q event.QuestionAsked, text string) event.Answer {
	if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil && n >= 1 && n <= len(q.Choices) {
		text = q.Choices[n-1]
	}
	return event.Answer{ID: q.ID, Text: text}
}

// send hands over a prompt with the pictures that it names. One that can't be read
// leaves the prompt where it was.
func (u *ui) send(s event.Submit) {
	images, err := attached(s.Text)
	if err != nil {
		u.hint("", err.Error())
		u.v.prompt.SetText(s.Text)
		return
	}
	s.Images = images
	u.deps.send(s)
}

// quit ends the program; while something runs it asks for one more Ctrl-C.
func (u *ui) quit() {
	if u.leaving() {
		return
	}
	if t := u.state.Running(); t != nil && u.armed.action != keymap.Interrupt {
		u.hint(keymap.Interrupt, fmt.Sprintf("task #%d still runs and will be cancelled · %s quits", t.ID, u.keyName(keymap.Interrupt)))
		u.armed.running = true
		return
	}
	u.deps.leave(next{})
}

// setTheme changes the colours of everything.
func (u *ui) setTheme(t *themes.Theme) {
	u.deps.theme = t
	for _, v := range []interface{ SetTheme(*themes.Theme) }{
		u.v.header, u.v.conversation, u.v.output, u.v.panes, u.v.tasks, u.v.status, u.v.border, u.v.prompt, u.v.footer,
		u.v.tabs, u.v.approval, u.v.help, u.v.secret, u.v.confirm, u.v.pager, u.v.ask,
	} {
		v.SetTheme(t)
	}
	u.over.setTheme(t)
}

// hint shows a line until the next key, which is what arms asks for or something else.
func (u *ui) hint(arms keymap.Action, text string) {
	u.armed = armed{action: arms}
	u.v.status.SetHint(text)
}

// loop returns the loop that feeds u with events and keys.
func (u *ui) loop(s *screen.Screen, events <-chan event.Envelope, stop func()) *loop.Loop[event.Envelope] {
	return loop.New(loop.Config[event.Envelope]{
		Screen: s, Root: u, Events: events, Apply: u.apply, Key: u.key, Stop: stop,
		Tick: func() {}, // the views read the clock when they are drawn
		On:   screen.Handlers{Paste: u.paste, Focus: u.focused, Background: u.background},
	})
}

// focused learns whether the terminal has the focus; spinners rest while it has not.
func (u *ui) focused(on bool) {
	u.attention.focused(on, &u.state)
	u.deps.tick(u.busy && on)
}

// paste goes to what has the focus.
func (u *ui) paste(p screen.Paste) {
	text := p.Text
	if u.v.secret.Asking() {
		u.v.secret.PasteHandler()(text, func(tview.Primitive) {})
		return
	}
	if u.v.confirm.Open() {
		return
	}
	if u.asking() {
		u.v.approval.PasteHandler()(text, func(tview.Primitive) {})
		return
	}
	if scope, view := u.target(); scope == keymap.Finding || scope == keymap.Typing || scope == keymap.Asking || u.over.open() {
		view.PasteHandler()(text, func(tview.Primitive) {})
		return
	}
	u.setFocus(layout.Prompt)
	u.v.prompt.Paste(text)
	if p.Dropped > 0 {
		u.hint("", fmt.Sprintf("the paste was too long: the last %d bytes are missing", p.Dropped))
	}
}

// key gives a key to what has the focus, else to what it means everywhere.
func (u *ui) key(ev *tcell.EventKey) *tcell.EventKey {
	if u.deps.now().Before(u.deaf) {
		return nil
	}
	before := u.armed.action
	u.hint("", "")
	scope, view := u.target()
	a, bound := u.deps.keys.Lookup(scope, ev)
	if a == keymap.FullScreen {
		u.toggleZoom()
		return nil
	}
	if !bound && scope != keymap.Typing {
		if a, ok := u.deps.keys.Lookup(keymap.Global, ev); ok {
			if scope == keymap.Secret && a != keymap.Redraw { // what lies below would change unseen
				return nil
			}
			u.global(a, before)
			return nil
		}
	}
	view.InputHandler()(ev, func(tview.Primitive) {})
	return nil
}
