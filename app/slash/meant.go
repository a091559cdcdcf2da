package slash

import (
	"buddy/agent/event"
	"buddy/app/fuzzy"
)

// DidYouMean asks whether a command was meant by a name that is none, "" if there is none that is near enough.
// custom are those of the session beside buddy's own.
func DidYouMean(custom []event.CustomCommand, wrong string) string {
	names := make([]string, 0, len(Commands))
	for _, c := range Commands {
		names = append(names, c.Name)
	}
	for _, c := range Typed(custom) {
		names = append(names, c.Name)
	}
	if name := fuzzy.Meant(wrong, append(names, AliasNames()...)); name != "" {
		return " (did you mean /" + name + "?)"
	}
	return ""
}
