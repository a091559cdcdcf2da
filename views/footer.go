package views

import (
	"fmt"
	"slices"

	"github.com/gdamore/tcell/v2"

	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/themes"
)

// Footer is the last row: the keys of what has the focus, in the lower border of the
// screen's frame.
type Footer struct {
	frame
	scope  keymap.Scope
	dialog bool
	queued int
	lone   bool // nothing similar to the request that waits can be allowed
}

// NewFooter returns a footer for the prompt.
func NewFooter(theme *themes.Theme, keys *keymap.Map) *Footer {
	return &Footer{frame: newFrame(theme, keys), scope: keymap.Prompt}
}

// SetScope says what has the focus, and whether it is a dialog, which keeps it.
func (f *Footer) SetScope(s keymap.Scope, dialog bool) { f.scope, f.dialog = s, dialog }

// Update takes over what changed.
func (f *Footer) Update(s *state.State, _ state.Changed) {
	f.queued = len(s.Queued)
	f.lone = len(s.Approvals) > 0 && s.Approvals[0].Context.Similar == ""
}

// typed are signs that are typed rather than bound, so the key map does not know them.
var typed = map[keymap.Scope][]hint{keymap.Prompt: {{key: keymap.Typed('/'), label: "commands"}, {key: keymap.Typed('@'), label: "files"}}}

// Draw draws as many keys as fit.
func (f *Footer) Draw(screen tcell.Screen) {
	c := f.whole(screen)
	if c.w < 2 {
		return
	}
	c.edge('└', '┘', themes.Border, nil, nil)
	room := c.w - 3
	if f.queued > 0 {
		text := fmt.Sprintf(" %d queued ", f.queued)
		if n := len(text); n+2 < room {
			c.say(c.w-n-1, text, themes.Notice)
			room -= n + 1
		}
	}
	hints := f.hints()
	hints[len(hints)-1].keep = true // help, which leads to all others
	keys := []span{own(themes.Footer, " ")}
	for i, h := range fitHints(hints, room-2, footerGap) {
		if i > 0 {
			keys = append(keys, own(themes.Footer, "  "))
		}
		keys = append(keys, pressing(h.key, own(themes.Key, h.name()), own(themes.Footer, " "+h.label+" "))...)
	}
	if len(keys) > 1 {
		c.cols(1, 1+room).spans(0, keys...)
	}
}

// footerGap are the cells between two hints.
const footerGap = 3

// hints lists key and label: the scope's own, what is typed, then the global ones.
func (f *Footer) hints() []hint {
	var all []hint
	switch f.scope {
	case keymap.Typing: // the others go to the pane
		return append(f.labels(f.scope), hint{label: "all other keys go to the pane"})
	case keymap.Secret: // nothing below it can be reached
		return f.labels(f.scope)
	}
	if f.scope != keymap.Global {
		all = append(f.labels(f.scope), typed[f.scope]...)
	}
	for _, l := range f.labels(keymap.Global) {
		if f.scope == keymap.Global || !f.bound(l.key) {
			all = append(all, l)
		}
	}
	if len(all) == 0 {
		return []hint{{}} // everything is unbound
	}
	return all
}

// bound says that a key means something of its own in the scope.
func (f *Footer) bound(key keymap.Key) bool {
	return slices.ContainsFunc(f.keys.In(f.scope), func(e keymap.Entry) bool {
		return !slices.Contains(e.Scopes, keymap.Global) && slices.Contains(e.Keys, key)
	})
}

func (f *Footer) labels(scope keymap.Scope) []hint {
	var all []hint
	for _, e := range f.keys.In(scope) {
		hidden := f.lone && e.Action == keymap.AllowSimilar || f.dialog && e.Action == keymap.NextPane
		if e.Label != "" && len(e.Keys) > 0 && !hidden {
			all = append(all, hint{key: e.Keys[0], label: e.Label, keep: matters(e.Action)})
		}
	}
	return all
}
