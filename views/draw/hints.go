package draw

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"buddy/app/keymap"
	"buddy/themes"
)

// Hint is a key with a short description.
type Hint struct {
	Key   keymap.Key
	Label string
	Keep  bool   // omit it last
	Sign  string // shown instead of the key's name, unless ""
}

// Name returns the displayed name of the key.
func (h Hint) Name() string { return cmp.Or(h.Sign, h.Key.String()) }

func (h Hint) width() int { return TextWidth(h.Name()) + 1 + TextWidth(h.Label) }

// Essential reports whether a dialog keeps the hint of an action longest when there is too little room, because the
// action leaves the dialog or is its purpose.
func Essential(a keymap.Action) bool {
	switch a {
	case keymap.PickClose, keymap.CloseChanges, keymap.PagerClose, keymap.SecretCancel, keymap.AskClose,
		keymap.ReasonBack, keymap.NamingCancel, keymap.ConfirmNo, keymap.Deny, keymap.PaneTypeEnd:
		return true
	}
	return false
}

// HintsOf returns the keys of a scope that have a label, in the order of the key map.
func HintsOf(keys *keymap.Map, scope keymap.Scope) []Hint {
	var all []Hint
	for e := range keys.In(scope) {
		if e.Label != "" && len(e.Keys) > 0 {
			all = append(all, Hint{Key: e.Keys[0], Label: e.Label, Keep: Essential(e.Action)})
		}
	}
	return all
}

// FitHints omits hints until the others fit into w cells with gaps between them. It omits the last hints first, and
// hints with Keep only after all others.
func FitHints(all []Hint, w, gap int) []Hint {
	chosen := make([]bool, len(all))
	used := -gap
	for _, keep := range []bool{true, false} {
		for i, h := range all {
			if n := gap + h.width(); h.Keep == keep && used+n <= w {
				chosen[i], used = true, used+n
			}
		}
	}
	i := -1
	return slices.DeleteFunc(slices.Clone(all), func(Hint) bool { i++; return !chosen[i] })
}

// HintGap is the number of cells between two hints in a dialog.
const HintGap = 2

// HintRow draws the hints that fit into w cells.
func HintRow(all []Hint, w int) []Span {
	var row []Span
	for i, h := range FitHints(all, w, HintGap) {
		if i > 0 {
			row = append(row, Text(themes.Muted, strings.Repeat(" ", HintGap)))
		}
		row = append(row, Clickable(h.Key, Text(themes.Key, h.Name()), Text(themes.Muted, " "+h.Label))...)
	}
	return row
}

// CommandHelp describes a command of the prompt. Name starts with the slash.
type CommandHelp struct {
	Means      []string // other words that find the command
	Name, Help string
	Args       string // the command's arguments, shown while the command is marked
	Completes  bool   // the command's arguments are completed
}

// GracePeriod is the time that a request must be on the screen before a key answers it, so that text meant for the
// prompt never approves anything.
const GracePeriod = 300 * time.Millisecond
