package views

import (
	"slices"

	"github.com/gdamore/tcell/v2"

	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/themes"
	"buddy/views/draw"
)

// Footer is the last row, with the keys of the focused view.
type Footer struct {
	draw.Frame
	scope  keymap.Scope
	dialog bool
	retry  bool // Enter retries a waiting request; the conversation shows this
	panes  bool // there are panes besides the conversation
	busy   bool // a task is not done, so a detached session would keep working
}

// NewFooter returns a footer for the prompt.
func NewFooter(theme *themes.Theme, keys *keymap.Map) *Footer {
	return &Footer{Frame: draw.NewFrame(theme, keys), scope: keymap.Prompt}
}

// SetScope sets the scope of the focused view, and whether it is a dialog, which keeps the focus.
func (f *Footer) SetScope(s keymap.Scope, dialog bool) { f.scope, f.dialog = s, dialog }

// SetPanes sets whether there are panes besides the conversation.
func (f *Footer) SetPanes(on bool) { f.panes = on }

// SetRetry sets whether Enter retries a waiting request.
func (f *Footer) SetRetry(on bool) { f.retry = on }

// Update processes changes of the state.
func (f *Footer) Update(s *state.State, _ state.Changed) {
	f.busy = slices.ContainsFunc(s.Tasks, func(t *state.Task) bool { return t.State != state.TaskDone })
}

// typed lists typed characters that have an effect but are not in the key map.
var typed = map[keymap.Scope][]draw.Hint{keymap.Prompt: {{Key: keymap.Typed('/'), Label: "commands"}, {Key: keymap.Typed('@'), Label: "files"}}}

// Draw draws as many keys as fit.
func (f *Footer) Draw(screen tcell.Screen) {
	c := f.Whole(screen).Cleared()
	if c.W < 2 {
		return
	}
	room := c.W - 1
	hints := f.hints()
	hints[len(hints)-1].Keep = true // the help key stays, because the help lists all other keys
	keys := []draw.Span{draw.Text(themes.Footer, " ")}
	for i, h := range draw.FitHints(hints, room-1, footerGap) {
		if i > 0 {
			keys = append(keys, draw.Text(themes.Footer, " "))
		}
		keys = append(keys, draw.Clickable(h.Key, draw.Text(themes.Key, h.Name()), draw.Text(themes.Footer, " "+h.Label+" "))...)
	}
	if len(keys) > 1 {
		c.Cols(0, room).Spans(0, keys...)
	}
}

// footerGap is the number of cells between two hints.
const footerGap = 2

// hints returns the scope's keys, then the typed characters, then the global keys.
func (f *Footer) hints() []draw.Hint {
	var all []draw.Hint
	switch f.scope {
	case keymap.Typing: // the other keys go to the pane
		return append(f.labels(f.scope), draw.Hint{Label: "all other keys go to the pane"})
	case keymap.Secret: // no key reaches the views below the dialog
		return f.labels(f.scope)
	case keymap.Approval, keymap.Amend, keymap.Reason, keymap.Question, keymap.Confirm, keymap.Leaving, keymap.Picker, keymap.Sessions, keymap.Board, keymap.Naming, keymap.Document: // each names its own keys
		return f.general(nil)
	}
	if f.scope != keymap.Global {
		all = append(f.labels(f.scope), typed[f.scope]...)
	}
	return f.general(all)
}

// general adds the keys that work everywhere.
func (f *Footer) general(all []draw.Hint) []draw.Hint {
	for _, l := range f.labels(keymap.Global) {
		if f.scope == keymap.Global || !f.bound(l.Key) {
			all = append(all, l)
		}
	}
	if len(all) == 0 {
		return []draw.Hint{{}} // everything is unbound
	}
	return all
}

// bound reports whether the scope binds a key itself.
func (f *Footer) bound(key keymap.Key) bool {
	for e := range f.Keys.In(f.scope) {
		if !slices.Contains(e.Scopes, keymap.Global) && slices.Contains(e.Keys, key) {
			return true
		}
	}
	return false
}

func (f *Footer) labels(scope keymap.Scope) []draw.Hint {
	var all []draw.Hint
	for e := range f.Keys.In(scope) {
		hidden := e.Action == keymap.NextPane && (f.dialog || !f.panes && f.scope == keymap.Prompt) || !f.busy && e.Action == keymap.Detach || f.retry && e.Action == keymap.Send
		if e.Label != "" && len(e.Keys) > 0 && !hidden {
			all = append(all, draw.Hint{Key: e.Keys[0], Label: e.Label, Keep: draw.Essential(e.Action) || e.Action == keymap.Detach})
		}
	}
	return all
}
