package views

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"buddy/app/keymap"
	"buddy/themes"
)

// hint is a key and what it does, in a word or two.
type hint struct {
	key   keymap.Key
	label string
	keep  bool   // when there is no room for all
	sign  string // stands for the name of the key, unless it is ""
}

func (h hint) name() string { return cmp.Or(h.sign, h.key.String()) }

func (h hint) width() int { return textWidth(h.name()) + 1 + textWidth(h.label) }

// matters says that an action is among those that a dialog names last of all to leave out: what
// leads out of it, and what it is for where another key comes first.
func matters(a keymap.Action) bool {
	switch a {
	case keymap.AmendRun, keymap.PickClose, keymap.CloseChanges, keymap.PagerClose, keymap.CloseHelp, keymap.SecretCancel, keymap.AskClose,
		keymap.ReasonBack, keymap.NamingCancel, keymap.ConfirmNo, keymap.Deny, keymap.PaneTypeEnd:
		return true
	}
	return false
}

// hintsOf lists the keys of a scope that have a label, in the order of the key map.
func hintsOf(keys *keymap.Map, scope keymap.Scope) []hint {
	var all []hint
	for _, e := range keys.In(scope) {
		if e.Label != "" && len(e.Keys) > 0 {
			all = append(all, hint{key: e.Keys[0], label: e.Label, keep: matters(e.Action)})
		}
	}
	return all
}

// fitHints leaves out hints until the rest fits into w cells with gaps between them: the last
// ones first, and those to keep last of all.
func fitHints(all []hint, w, gap int) []hint {
	chosen := make([]bool, len(all))
	used := -gap
	for _, keep := range []bool{true, false} {
		for i, h := range all {
			if n := gap + h.width(); h.keep == keep && used+n <= w {
				chosen[i], used = true, used+n
			}
		}
	}
	i := -1
	return slices.DeleteFunc(slices.Clone(all), func(hint) bool { i++; return !chosen[i] })
}

// hintGap are the cells between two hints in a dialog.
const hintGap = 2

// hintRow draws as hints what fits into w cells.
func hintRow(all []hint, w int) []span {
	var row []span
	for i, h := range fitHints(all, w, hintGap) {
		if i > 0 {
			row = append(row, own(themes.Muted, strings.Repeat(" ", hintGap)))
		}
		row = append(row, pressing(h.key, own(themes.Key, h.name()), own(themes.Muted, " "+h.label))...)
	}
	return row
}

// CommandHelp is a command that the prompt offers. Name begins with the slash.
type CommandHelp struct{ Name, Help string }

// ApprovalGrace is how long a request must have been on the screen before a key answers
// it, so that text meant for the prompt never approves.
const ApprovalGrace = 300 * time.Millisecond
