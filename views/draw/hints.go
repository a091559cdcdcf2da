package draw

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"buddy/app/keymap"
	"buddy/themes"
)

// Hint holds a key and what it does, in a word or two.
type Hint struct {
	Key   keymap.Key
	Label string
	Keep  bool   // when there is no room for all
	Sign  string // stands for the name of the key, unless it is ""
}

// Name returns what stands for the key.
func (h Hint) Name() string { return cmp.Or(h.Sign, h.Key.String()) }

func (h Hint) width() int { return TextWidth(h.Name()) + 1 + TextWidth(h.Label) }

// Essential reports whether an action is among those that a dialog names last of all to leave out: what
// leads out of it, and what it is for where another key comes first.
func Essential(a keymap.Action) bool {
	switch a {
	case keymap.PickClose, keymap.CloseChanges, keymap.PagerClose, keymap.SecretCancel, keymap.AskClose,
		keymap.ReasonBack, keymap.NamingCancel, keymap.ConfirmNo, keymap.Deny, keymap.PaneTypeEnd:
		return true
	}
	return false
}

// HintsOf lists the keys of a scope that have a label, in the order of the key map.
func HintsOf(keys *keymap.Map, scope keymap.Scope) []Hint {
	var all []Hint
	for e := range keys.In(scope) {
		if e.Label != "" && len(e.Keys) > 0 {
			all = append(all, Hint{Key: e.Keys[0], Label: e.Label, Keep: Essential(e.Action)})
		}
	}
	return all
}

// FitHints leaves out hints until the rest fits into w cells with gaps between them: the last
// ones first, and those to keep last of all.
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

// HintRow draws as hints what fits into w cells.
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

// CommandHelp describes a command that the prompt offers. Name begins with the slash.
type CommandHelp struct {
	Means      []string // other words by which it is found
	Name, Help string
	Args       string // what may follow it, shown once it is marked
	Completes  bool   // what follows it is completed
}

// GracePeriod is the time that a request must have been on the screen before a key answers
// it, so that text meant for the prompt never approves.
const GracePeriod = 300 * time.Millisecond
