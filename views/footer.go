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
var typed = map[keymap.Scope][]choice{keymap.Prompt: {{keymap.Typed('/'), "commands"}, {keymap.Typed('@'), "files"}}}

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
	last := hints[len(hints)-1] // help, which leads to all others
	keys := []span{own(themes.Footer, " ")}
	for _, h := range hints[:len(hints)-1] {
		if more := f.hint(h, len(keys) == 1); spansWidth(keys)+spansWidth(more)+spansWidth(f.hint(last, false)) <= room {
			keys = append(keys, more...)
		}
	}
	if more := f.hint(last, len(keys) == 1); spansWidth(keys)+spansWidth(more) <= room {
		c.cols(1, 1+room).spans(0, append(keys, more...)...)
	}
}

// hint is a key and its label as they are drawn.
func (f *Footer) hint(h choice, first bool) []span {
	spans := pressing(h.key, own(themes.Key, h.key.String()), own(themes.Footer, " "+h.label+" "))
	if first {
		return spans
	}
	return append([]span{own(themes.Footer, "  ")}, spans...)
}

// hints lists key and label: the scope's own, what is typed, then the global ones.
func (f *Footer) hints() []choice {
	var all []choice
	switch f.scope {
	case keymap.Typing: // the others go to the pane
		return append(f.labels(f.scope), choice{label: "all other keys go to the pane"})
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
		return []choice{{}} // everything is unbound
	}
	return all
}

// bound says that a key means something of its own in the scope.
func (f *Footer) bound(key keymap.Key) bool {
	return slices.ContainsFunc(f.keys.In(f.scope), func(e keymap.Entry) bool {
		return !slices.Contains(e.Scopes, keymap.Global) && slices.Contains(e.Keys, key)
	})
}

func (f *Footer) labels(scope keymap.Scope) []choice {
	var all []choice
	for _, e := range f.keys.In(scope) {
		hidden := f.lone && e.Action == keymap.AllowSimilar || f.dialog && e.Action == keymap.NextPane
		if e.Label != "" && len(e.Keys) > 0 && !hidden {
			all = append(all, choice{e.Keys[0], e.Label})
		}
	}
	return all
}
