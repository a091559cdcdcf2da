package ui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rivo/tview"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/app/state"
	"buddy/texts"
	"buddy/views/dialog"
	"buddy/views/markup"
	"buddy/views/transcript"
)

const (
	previewEvents = 100                    // from the start of a session
	turnBytes     = 64 << 20               // largest session whose prompts are counted
	mostHits      = 500                    // of a search
	hitsPause     = 100 * time.Millisecond // between two updates of the list during a search
)

// SavedSessions reads and changes the saved sessions. Its functions are called off the UI goroutine.
type SavedSessions struct {
	slash.Saved
	Running func() map[string]string // status of the running sessions, by id; may take long
}

// browser is the list of saved sessions. It reads files in the background, so that keys never wait.
type browser struct {
	u       *UI
	p       *dialog.Picker
	saved   SavedSessions
	all     []slash.SavedSession
	entries map[string]slash.SavedSession
	running map[string]string // status of the running sessions, by id
	rows    []show.Row
	columns []string          // of rows
	hits    []slash.Hit       // in the list
	turns   map[string]string // known numbers of prompts
	shown   slot              // the start of the selected session
	look    *latest
	stop    context.CancelFunc // of the search, nil for none
	count   bool               // whether prompts are being counted
	exec    bool               // whether the sessions of buddy exec are listed instead of the others
	closed  atomic.Bool
}

// slot draws the primitive that was last put into it.
type slot struct{ tview.Primitive }

// latest runs requests one at a time, and skips a request if a later one has been made.
type latest struct {
	n  atomic.Int64
	mu sync.Mutex // held while a request runs
}

// do returns a function that runs work unless a later request exists.
func (l *latest) do(work func()) func() {
	n := l.n.Add(1)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.n.Load() == n {
			work()
		}
	}
}

// browse opens the list of sessions.
func browse(u *UI) {
	b := &browser{u: u, saved: u.deps.Saved, turns: make(map[string]string), look: &latest{}}
	b.shown.Primitive = tview.NewBox()
	b.p = u.overlays.pick(dialog.PickerOptions{
		Title: "Sessions", Hint: "filter titles; / searches all text",
		Columns: sessionColumns, Preview: &b.shown, Keys: keymap.Sessions,
		OnMove: b.preview, OnChoose: b.resume, OnKey: b.key, OnQuery: b.query,
		OnClose: func() {
			b.closed.Store(true)
			b.endSearch()
		},
	})
	b.p.SetNote("loading …")
	b.load()
}

// work calls f in the background, and the function that f returns, if any, on the UI goroutine.
func (b *browser) work(f func() func()) {
	inBackground(b.u, func() func() {
		apply := f()
		if apply != nil {
			b.u.deps.Later(func() {
				if !b.closed.Load() {
					apply()
				}
			})
		}
		return func() {}
	})
}

// load lists the sessions again.
func (b *browser) load() {
	b.work(func() func() {
		entries, err := b.saved.List()
		running := b.saved.Running()
		return func() {
			b.running = running
			b.p.SetNote("")
			if err != nil {
				b.p.Say(err.Error())
				return
			}
			b.setEntries(entries)
		}
	})
}

func (b *browser) setEntries(entries []slash.SavedSession) {
	b.entries = make(map[string]slash.SavedSession, len(entries))
	b.all, b.rows = entries, nil
	b.columns = sessionColumns
	now := b.u.deps.Now()
	for _, e := range entries {
		b.entries[e.ID] = e
		if e.Exec != b.exec {
			continue
		}
		target := cmp.Or(e.Target, "local")
		if e.Problem != "" {
			target = ""
		}
		b.rows = append(b.rows, show.Row{ID: e.ID, Find: e.Title, Cells: []string{
			b.title(e), texts.Age(now.Sub(e.Used)), b.turns[e.ID], e.Model, target, b.folder(e.Cwd),
		}})
	}
	b.dropSame()
	if b.stop == nil {
		b.list()
		b.countVisible()
	}
}

// dropSame removes the last columns (target, folder) as long as all rows have the same value in them.
func (b *browser) dropSame() {
	for n := len(b.columns) - 1; n >= targetColumn; n-- {
		one := ""
		for _, r := range b.rows {
			if cell := r.Cells[n]; cell != "" && one != "" && cell != one {
				return
			}
			one = cmp.Or(r.Cells[n], one)
		}
		b.columns = b.columns[:n]
		for i, r := range b.rows {
			b.rows[i].Cells = r.Cells[:n]
		}
	}
}

// list shows the sessions in place of search hits.
func (b *browser) list() {
	b.p.SetNote(b.note())
	b.p.SetEmpty(b.none())
	b.p.SetColumns(b.columns)
	b.p.SetRows(b.rows)
}

// note returns the line about the hidden sessions.
func (b *browser) note() string {
	key, others := b.u.deps.Keys.Name(keymap.SessionExec), len(b.all)-len(b.rows)
	switch {
	case key == "" || others == 0 && !b.exec:
		return ""
	case b.exec:
		return "buddy exec sessions · press " + key + " in the list for your own"
	}
	return fmt.Sprintf("%d more by buddy exec · press %s in the list to show them", others, key)
}

// none explains why the list is empty, and how to show hidden sessions.
func (b *browser) none() string {
	const first = "your first prompt creates one"
	keys := b.u.deps.Keys
	switch n := len(b.all) - len(b.rows); {
	case n == 0:
		return "no saved sessions yet; " + first
	case b.exec:
		return "no sessions by buddy exec"
	case keys.Name(keymap.SessionExec) == "":
		return fmt.Sprintf("no sessions of your own, %d by buddy exec; %s", n, first)
	default:
		return fmt.Sprintf("no sessions of your own; to show the %d by buddy exec, press %s, then %s", n, keys.Name(keymap.PickKeys), keys.Name(keymap.SessionExec))
	}
}

// title returns the title of a session, with its status if it is running, or with a mark if it can't be opened. The
// preview explains why it can't.
func (b *browser) title(e slash.SavedSession) string {
	if e.Problem != "" {
		return "✗ can't be opened · " + cmp.Or(e.Title, e.ID)
	}
	if e.ID == b.u.state.Info.Session {
		return "this session · " + e.Title
	}
	if does := b.running[e.ID]; does != "" {
		return "● " + does + " · " + e.Title
	}
	return e.Title
}

func (b *browser) folder(dir string) string {
	if label := texts.Worktree(dir); label != "" {
		return label
	}
	return texts.WithTilde(dir, b.u.deps.Home)
}

// sessionOf returns the id of a row's session. The ID of a search hit's row is the session's id and a number.
func sessionOf(row show.Row) string {
	id, _, _ := strings.Cut(row.ID, "#")
	return id
}

// preview shows the start of a session next to the list.
func (b *browser) preview(r show.Row) {
	id := sessionOf(r)
	b.work(func() (apply func()) {
		b.look.do(func() {
			if b.closed.Load() {
				return
			}
			events, err := b.saved.Head(id, previewEvents)
			apply = func() { b.show(id, events, err) }
		})()
		return apply
	})
	b.u.deps.Later(b.countVisible) // after the draw, which determines the visible rows
}

func (b *browser) show(id string, events []event.Envelope, err error) {
	c := transcript.NewConversation(b.u.deps.Theme, b.u.deps.Keys)
	c.SetNow(b.u.deps.Now)
	c.SetAfter(b.u.deps.After)
	c.OnCopy = b.u.copy
	var s state.State
	for _, env := range events {
		s.Apply(env)
	}
	s.Blocks = beginning(s.Blocks)
	if err != nil {
		s.Apply(event.Envelope{Session: id, Payload: event.Warning{Text: "the session can't be read: " + err.Error()}})
	}
	c.Update(&s, state.Everything)
	transcript.Preview(c)
	b.shown.Primitive = c
}

// beginning returns the blocks from the first prompt up to the first call whose result is missing.
func beginning(all []*state.Block) []*state.Block {
	all = all[max(slices.IndexFunc(all, func(b *state.Block) bool { return b.Kind == state.UserBlock }), 0):]
	if n := slices.IndexFunc(all, func(b *state.Block) bool { return b.Call != nil && b.Call.State <= state.CallRunning }); n >= 0 {
		all = all[:n]
	}
	return all
}

// countVisible counts the prompts of the sessions whose rows are visible.
func (b *browser) countVisible() {
	if b.count || b.closed.Load() {
		return
	}
	var ids []string
	for _, r := range b.p.Visible() {
		id := sessionOf(r)
		if _, known := b.turns[id]; !known && b.entries[id].Size <= turnBytes && id == r.ID {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return
	}
	b.count = true
	b.work(func() func() {
		found := make(map[string]string, len(ids))
		for _, id := range ids {
			if b.closed.Load() {
				return nil
			}
			found[id] = b.prompts(id)
		}
		return func() {
			b.count = false
			for id, n := range found {
				b.turns[id] = n
				b.p.SetCell(id, turnsColumn, n)
			}
			b.u.deps.Later(b.countVisible)
		}
	})
}

// The columns of the list, and of search hits.
var (
	sessionColumns = []string{"title", "used", "turns", "model", "target", "folder"}
	hitColumns     = []string{"found", "when", "", "in", "target", ""}
)

const turnsColumn, targetColumn = 2, 4

// prompts returns the number of prompts of a session as text.
func (b *browser) prompts(id string) string {
	all, err := b.saved.Exchanges(id)
	if err != nil {
		return "?"
	}
	return strconv.Itoa(len(all))
}

// resume resumes the session of a row. If the row is a search hit, the hit is shown.
func (b *browser) resume(r show.Row) {
	id := sessionOf(r)
	to := b.spotOf(r)
	if id == b.u.state.Info.Session {
		if to != (slash.Spot{}) {
			b.p.Close()
			goTo(b.u, to)
			return
		}
		b.p.Say("this is the session you are in")
		return
	}
	now := nowOf(b.u)
	b.work(func() func() {
		_, err := b.u.deps.Run(now, []string{"session", "resume", id})
		return func() {
			if err != nil {
				b.p.Say(err.Error())
				return
			}
			change(&b.u.state, b.u.deps.Leave, id, to)
		}
	})
}

func (b *browser) showError(err error) {
	if err != nil {
		b.p.Say(err.Error())
	}
}

// key runs an action on the list or on the selected session.
func (b *browser) key(a keymap.Action, r show.Row) {
	id := sessionOf(r)
	switch a {
	case keymap.SessionSearch:
		b.p.SetQuery("/")
		return
	case keymap.SessionExec:
		if !b.exec && !slices.ContainsFunc(b.all, func(s slash.SavedSession) bool { return s.Exec }) {
			b.p.Say("there are no buddy exec sessions in this folder")
			return
		}
		b.exec = !b.exec
		b.setEntries(b.all)
		return
	}
	if id == "" {
		return
	}
	switch a {
	case keymap.SessionFork:
		b.fork(id)
	case keymap.SessionRename:
		b.p.AskText("title:", b.entries[id].Title, func(title string) { b.rename(id, title) })
	case keymap.SessionDelete:
		if id == b.u.state.Info.Session {
			b.p.Say("you can't delete the session you are in")
			return
		}
		b.p.Confirm(fmt.Sprintf("Move %q to the trash?", markup.Shorten(b.entries[id].Title, 30)), func() { b.remove(id) })
	case keymap.SessionExport:
		b.export(id)
	}
}

func (b *browser) rename(id, title string) {
	if id == b.u.state.Info.Session {
		b.u.deps.Send(event.Rename{Title: title})
		b.u.deps.After(hitsPause, b.load) // the session's file has the title by then
		return
	}
	b.work(func() func() {
		err := b.saved.Rename(id, title)
		return func() {
			b.showError(err)
			b.load()
		}
	})
}

func (b *browser) remove(id string) {
	b.work(func() func() {
		err := b.saved.Remove(id)
		return func() {
			b.showError(err)
			b.load()
			if b.stop != nil {
				b.p.SetQuery(b.p.Query()) // drops the hits of the removed session
			}
		}
	})
}

func (b *browser) export(id string) {
	now := nowOf(b.u)
	b.work(func() func() {
		answer, err := b.u.deps.Run(now, []string{"session", "export", id})
		return func() {
			if err != nil {
				b.p.Say(err.Error())
				return
			}
			b.p.Say(answer.Text.Body)
		}
	})
}

// fork lets the user choose the prompt after which the copy ends.
func (b *browser) fork(id string) {
	b.work(func() func() {
		all, err := b.saved.Exchanges(id)
		return func() {
			if err != nil {
				b.p.Say(err.Error())
				return
			}
			b.forkAt(id, all)
		}
	})
}

func (b *browser) forkAt(id string, all []slash.Exchange) {
	p := b.u.overlays.pick(dialog.PickerOptions{
		Title: "Fork: the copy ends after", Hint: "type to filter", Columns: []string{"prompt", "used", "outcome"},
		Empty:    "no prompt has finished yet",
		OnChoose: func(r show.Row) { b.forkTo(id, r.ID) },
	})
	now := b.u.deps.Now()
	var rows []show.Row
	for _, x := range slices.Backward(all) {
		if x.Outcome != "" {
			rows = append(rows, show.Row{ID: strconv.Itoa(x.Number), Cells: []string{
				fmt.Sprintf("%d  %s", x.Number, x.Prompt), texts.Age(now.Sub(x.Time)), x.Outcome,
			}})
		}
	}
	p.SetRows(rows)
}

func (b *browser) forkTo(id, number string) {
	n, _ := strconv.Atoi(number) // the row's ID is a number
	b.work(func() func() {
		fork, err := b.saved.Fork(id, n)
		return func() {
			b.u.overlays.unpick()
			if err != nil {
				b.p.Say(err.Error())
				return
			}
			change(&b.u.state, b.u.deps.Leave, fork, slash.Spot{})
		}
	})
}
