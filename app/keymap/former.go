package keymap

import (
	"fmt"
	"maps"
	"slices"
)

// former maps action names of earlier versions to their replacements, "" if there is none. Settings with such a name
// are still read.
var former = map[string]Action{
	"close-help":   "", // typing searches in the help; Esc closes it
	"amend-run":    AmendDone,
	"finding-next": "", "finding-previous": "", "open-finding": "", "copy-finding": "", "close-findings": "", // replaced by a list like all others
	"leave-running": LeaveDetach,
	"toggle-output": "",
	"toggle-panes":  ToggleColumn,
	"toggle-tasks":  "",
	"zoom":          "", // its key opens now; full-screen is z everywhere
}

// Current returns bindings with the present names of actions. If an action is bound by both its earlier and its present
// name, the keys of the present name count. notices explains, by old name, each replaced or removed action.
func Current(bindings map[string][]string) (current map[string][]string, notices map[string]string) {
	for _, old := range slices.Sorted(maps.Keys(bindings)) {
		now, ok := former[old]
		if !ok {
			continue
		}
		if current == nil {
			current, notices = maps.Clone(bindings), make(map[string]string)
		}
		delete(current, old)
		_, both := bindings[string(now)]
		switch {
		case now == "":
			notices[old] = "this action no longer exists; remove the line"
		case both:
			notices[old] = fmt.Sprintf("this action is now called %s, and you have set keys for that name too; remove this line", now)
		default:
			current[string(now)] = bindings[old]
			notices[old] = fmt.Sprintf("this action is now called %s; your keys still work", now)
		}
	}
	if current == nil {
		current = bindings
	}
	return current, notices
}

// Former returns the replacement of an action with an earlier name, "" if there is none.
func Former(old string) Action { return former[old] }
