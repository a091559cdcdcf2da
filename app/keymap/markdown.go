package keymap

import (
	"fmt"
	"strings"
)

// Markdown is the text of docs/keys.md.
func (m *Map) Markdown() string {
	var b strings.Builder
	b.WriteString("# Keys\n\n")
	b.WriteString("This page is generated from the table in `app/keymap`; `go test ./app/keymap -update` writes it anew.\n")
	b.WriteString("Every action can have other keys:\n\n")
	b.WriteString("```toml\n[keys]\nnewline = [\"Ctrl+J\"]        # replaces its keys\nredraw = []                 # none\n```\n\n" +
		"A built-in key that you give to another action is taken from the one that had it: a start and `buddy config check` say which\n" +
		"one lost it. Keys that answer an approval are taken from nobody, and two of your own actions can't share one: these are mistakes.\n")
	for _, s := range scopes {
		fmt.Fprintf(&b, "\n## %s\n\n| keys | action | what it does |\n|---|---|---|\n", s.title)
		for e := range m.In(s.scope) {
			names := make([]string, len(e.Keys))
			for i, k := range e.Keys {
				names[i] = "`" + k.String() + "`"
			}
			fmt.Fprintf(&b, "| %s | `%s` | %s |\n", strings.Join(names, ", "), e.Action, e.Help)
		}
	}
	return b.String()
}
