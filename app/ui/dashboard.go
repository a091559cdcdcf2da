package ui

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rivo/tview"

	"buddy/agent/event"
	"buddy/app/dashboard"
	"buddy/app/keymap"
	"buddy/app/show"
	"buddy/app/state"
	"buddy/texts"
	"buddy/views/dialog"
	"buddy/views/markup"
	"buddy/views/transcript"
)

// LiveSessions provides the live sessions for a dashboard, and acts on them. Functions that return an error may take
// long; the dashboard calls them in the background.
type LiveSessions struct {
	// Watch starts to watch the sessions. changed is called after changes, from any goroutine, until stop.
	Watch func(changed func()) LiveTable
	// Ask returns the oldest request of a session that waits for an answer.
	Ask func(dashboard.Session) (*dashboard.Asked, error)
	// Stop ends a session, which stays saved.
	Stop func(dashboard.Session) error
	// Start starts a session that works on a prompt in a folder.
	Start func(folder, prompt string) error
	// Attach leaves the dashboard for a session. The error explains why it can't.
	Attach func(dashboard.Session) error
	Here   string // the folder to start sessions in, unless the user names another
	Home   string // the user's home folder, to abbreviate paths; "" is unknown
}

// LiveTable is a table of sessions that is being watched. Its functions may be called from any goroutine.
type LiveTable struct {
	Sessions func() []dashboard.Session // in the order of the list
	Notes    func() []string            // what people have to know about the list
	Stop     func()                     // may take long
}

// boardDeps holds the dependencies of a dashboard.
type boardDeps struct {
	Looks
	Timing
	Keys *keymap.Map
	Copy func(text string)
	Live LiveSessions
	Call func(text string)    // notifies a user who looks elsewhere
	Own  func(id string) bool // whether the screen shows this session
}

// board is the dashboard: the list of live sessions, and the dialog in which the user answers a request of one of them.
// It is a single overlay.
type board struct {
	*tview.Box
	d        boardDeps
	p        *dialog.Picker
	approval *dialog.Approval
	question *dialog.Confirm
	line     *dialog.Ask // for an answer in own words
	table    LiveTable
	sessions map[string]dashboard.Session // by key
	shown    slot                         // about the selected session
	preview  string                       // the facts that shown was made from
	calls    map[string]string            // by key: the last notification about the session
	answer   answering
	fresh    time.Time // until then or the first key, the first session is selected
	closed   bool
	close    func() // removes the overlay
}

// answering is the request that is being answered.
type answering struct {
	asked  *dashboard.Asked // nil for none
	of     dashboard.Session
	sent   bool // the user has answered
	full   bool // the dialog fills the screen
	letter *keymap.Press
	number int // counts requests, so that a late result of an earlier one is dropped
}

// The columns of the list.
var boardColumns = []string{"title", "doing", "age", "cost", "where"}

const (
	freshTime  = 2 * time.Second
	costColumn = 3
	doesWidth  = 18 // characters of what a session does
	whereWidth = 16
)

// newBoard returns an open dashboard. close is called when the user closes it.
func newBoard(d boardDeps, close func()) *board {
	b := &board{
		Box: tview.NewBox(), d: d, close: close, calls: make(map[string]string),
		approval: dialog.NewApproval(d.Theme, d.Keys, d.Now), question: dialog.NewConfirm(d.Theme, d.Keys), line: dialog.NewAsk(d.Theme, d.Keys),
	}
	b.shown.Primitive = tview.NewBox()
	b.p = dialog.NewPicker(d.Theme, d.Keys, dialog.PickerOptions{
		Title: "Dashboard", Hint: "type to filter", Columns: boardColumns, Preview: &b.shown, Keys: keymap.Board, OnKeys: true,
		Empty:  "looking for running sessions …",
		OnMove: b.look, OnChoose: b.attach, OnKey: b.key, OnClose: b.leave,
	})
	b.approval.Highlighter = &markup.Highlighter{Background: d.Background}
	b.approval.OnAnswer = func(a event.AnswerApproval) { b.send(a) }
	b.approval.OnHint, b.question.OnHint = b.p.Say, b.p.Say
	b.approval.OnCopy, b.question.OnCopy = d.Copy, d.Copy
	return b
}

// watch starts to show the sessions.
func (b *board) watch() {
	b.fresh = b.d.Now().Add(freshTime)
	b.table = b.d.Live.Watch(func() { b.d.Later(b.update) })
	b.update()
}

// openBoard opens the dashboard over the panes.
func openBoard(u *UI) {
	d := boardDeps{
		Looks: u.deps.Looks, Timing: u.deps.Timing, Keys: u.deps.Keys, Copy: u.copy, Live: u.deps.Live, Call: u.attention.call,
		Own: func(id string) bool { return id == u.state.Info.Session },
	}
	if d.Live.Watch == nil {
		u.hint("", "there is no dashboard here")
		return
	}
	b := newBoard(d, u.overlays.closeSheet)
	b.watch()
	u.overlays.sheet = b
}

// leave closes the dashboard.
func (b *board) leave() {
	if b.closed {
		return
	}
	b.drop("")
	b.closed = true
	table := b.table
	b.d.Background(func() func() { table.Stop(); return func() {} })
	b.close()
}

// update shows the sessions as they are now.
func (b *board) update() {
	if b.closed {
		return
	}
	all := b.table.Sessions()
	before := b.sessions
	b.sessions = make(map[string]dashboard.Session, len(all))
	rows := make([]show.Row, 0, len(all))
	now := b.d.Now()
	for _, s := range all {
		b.sessions[s.Key()] = s
		rows = append(rows, b.row(s, now))
		b.notify(s, before != nil)
	}
	notes := b.table.Notes()
	if n := dashboard.Count(all, dashboard.Waiting); n > 0 {
		notes = slices.Insert(notes, 0, fmt.Sprintf("%d waiting", n))
	}
	b.p.SetEmpty("no session is running; n starts one")
	if len(all) == 0 && before == nil {
		b.p.SetEmpty("looking for running sessions …")
	}
	b.p.SetNote(strings.Join(notes, " · "))
	b.p.SetColumns(boardColumns)
	if !slices.ContainsFunc(rows, func(r show.Row) bool { return r.Cells[costColumn] != "" }) {
		b.p.SetColumns(slices.Delete(slices.Clone(boardColumns), costColumn, costColumn+1))
		for i := range rows {
			rows[i].Cells = slices.Delete(rows[i].Cells, costColumn, costColumn+1)
		}
	}
	b.p.SetRows(rows)
	if now.Before(b.fresh) && len(rows) > 0 { // sessions answer one after the other
		b.p.Select(rows[0].ID)
	}
	if r, ok := b.p.Selected(); ok {
		b.look(r)
	}
}

func (b *board) row(s dashboard.Session, now time.Time) show.Row {
	since := ""
	if at := cmp.Or(s.Since, s.Began); at > 0 {
		since = texts.Age(now.Sub(time.UnixMilli(at)))
	}
	if len(s.Waits) > 0 {
		since = texts.Age(now.Sub(time.UnixMilli(s.Waits[0].Since)))
	}
	cost := ""
	if s.Cost > 0 {
		cost = s.Cost.String()
	}
	title := titleOf(s)
	return show.Row{
		ID: s.Key(), Group: string(s.Group), Find: strings.Join([]string{title, s.Does(), s.Machine, s.Folder}, " "),
		Cells: []string{title, markup.Shorten(s.Does(), doesWidth), since, cost, markup.Shorten(where(s), whereWidth)},
	}
}

// titleOf returns the title of a session, which is never empty.
func titleOf(s dashboard.Session) string {
	switch {
	case s.Title != "":
		return s.Title
	case s.Prompt != "":
		return texts.OneLine(s.Prompt)
	case s.Problem != "":
		return s.ID
	}
	return "new session"
}

// where names the folder of a session, after the machine and the target if these are not this machine.
func where(s dashboard.Session) string {
	folder := filepath.Base(s.Folder)
	if s.Folder == "" {
		folder = ""
	}
	on := s.Machine
	if s.Target != "" && s.Target != "local" {
		on = strings.TrimPrefix(on+" "+s.Target, " ")
	}
	if on == "" {
		return folder
	}
	return on + ":" + folder
}

// notify notifies a user who is not looking at the screen when a session starts to wait or fails, once each time and in
// fixed words. later is false when the dashboard has just been opened, so that what happened before causes no
// notification.
func (b *board) notify(s dashboard.Session, later bool) {
	what, text := "", ""
	switch {
	case s.Group == dashboard.Waiting && len(s.Waits) > 0:
		what, text = s.Waits[0].ID, "a session is waiting for you"
	case s.Group == dashboard.Failed:
		what, text = fmt.Sprint("failed ", s.Since), "a session has failed"
	}
	if b.calls[s.Key()] == what {
		return
	}
	b.calls[s.Key()] = what
	if later && what != "" && !b.d.Own(s.ID) {
		b.d.Call(text)
	}
}

// look shows the last prompt and the last answer of the selected session next to the list, and the requests that wait
// for the user.
func (b *board) look(r show.Row) {
	s := b.sessions[r.ID]
	about := fmt.Sprint(s.Key(), s.Group, s.Latest, s.Waits, s.Problem, s.Folder)
	if about == b.preview {
		return
	}
	b.preview = about
	c := transcript.NewConversation(b.d.Theme, b.d.Keys)
	c.SetNow(b.d.Now)
	c.SetAfter(b.d.After)
	c.OnCopy = b.d.Copy
	var st state.State
	put := func(e event.Event) {
		st.Apply(event.Envelope{Seq: uint64(len(st.Blocks) + 1), Session: s.ID, Payload: e})
	}
	if s.Folder != "" {
		put(event.Notice{Text: b.folder(s)})
	}
	if s.Prompt != "" {
		put(event.PromptSubmitted{ID: 1, Text: s.Prompt})
	}
	if s.Said != "" {
		m := event.ModelMessage{}
		m.Message.Role, m.Message.Content = "assistant", s.Said
		put(m)
	}
	for _, w := range s.Waits {
		put(event.Warning{Text: waitText(w)})
	}
	if text := cmp.Or(s.Problem, s.Failure); text != "" {
		put(event.Error{Text: text})
	}
	c.Update(&st, state.Everything)
	transcript.Preview(c)
	b.shown.Primitive = c
}

// folder returns the folder of a session, after the session's machine and target unless these are this machine.
func (b *board) folder(s dashboard.Session) string {
	text := texts.WithTilde(s.Folder, b.d.Live.Home)
	if s.Target != "" && s.Target != "local" {
		text = s.Target + " " + text
	}
	if s.Machine != "" {
		text = s.Machine + ": " + text
	}
	return text
}

// waitText describes what a session waits for.
func waitText(w dashboard.Wait) string {
	text := map[dashboard.Kind]string{dashboard.Approval: "Waiting for your approval:\n", dashboard.Question: "Asks you:\n", dashboard.Plan: "Waiting for your approval of a plan:\n"}[w.Kind] + w.Text
	if w.Agent != "" {
		text += "\n(asked by " + w.Agent + ")"
	}
	return text
}

func (b *board) attach(r show.Row) {
	s, ok := b.sessions[r.ID]
	if !ok {
		return
	}
	if s.Problem != "" {
		b.p.Say(s.Problem)
		return
	}
	if err := b.d.Live.Attach(s); err != nil {
		b.p.Say(err.Error())
	}
}

// work calls f in the background, and the function that f returns on the UI goroutine.
func (b *board) work(f func() (apply func())) {
	b.d.Background(func() func() {
		apply := f()
		return func() {
			if apply != nil && !b.closed {
				apply()
			}
		}
	})
}

// key runs an action on the list or on the selected session.
func (b *board) key(a keymap.Action, r show.Row) {
	s, ok := b.sessions[r.ID]
	switch {
	case a == keymap.BoardAttach:
		b.attach(r)
	case a == keymap.BoardFilter:
		b.p.SetQuery("")
		b.p.Press(keymap.Press{Action: keymap.PickKeys, Scope: keymap.Picker}) // the filter has the keys
	case a == keymap.BoardNew:
		b.p.AskText("folder:", b.d.Live.Here, func(folder string) {
			b.p.AskText("prompt:", "", func(prompt string) { b.begin(folder, prompt) })
		})
	case !ok:
	case a == keymap.BoardAnswer:
		b.ask(s)
	case a == keymap.BoardStop:
		b.p.Confirm(fmt.Sprintf("Stop %q? It stays saved.", markup.Shorten(titleOf(s), 30)), func() { b.stop(s) })
	}
}

func (b *board) begin(folder, prompt string) {
	if prompt == "" {
		b.p.Say("a session without a screen needs a prompt; nothing was started")
		return
	}
	b.p.Say("starting …")
	b.work(func() func() {
		err := b.d.Live.Start(cmp.Or(folder, b.d.Live.Here), prompt)
		return func() { b.say(err, "started") }
	})
}

func (b *board) stop(s dashboard.Session) {
	if b.d.Own(s.ID) {
		b.p.Say("this is the session you are in; quit it with /quit")
		return
	}
	b.p.Say("stopping …")
	b.work(func() func() {
		err := b.d.Live.Stop(s)
		return func() { b.say(err, "stopped "+markup.Shorten(titleOf(s), 30)) }
	})
}

// say shows an error, or else a text.
func (b *board) say(err error, text string) {
	if err != nil {
		text = err.Error()
	}
	b.p.Say(text)
}
