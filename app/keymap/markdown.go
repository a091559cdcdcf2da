package keymap

import (
	"fmt"
	"strings"
)

// Markdown returns the text of docs/keys.md.
func (m *Map) Markdown() string {
	var b strings.Builder
	b.WriteString("# Keys\n\n")
	b.WriteString("This page is generated from the table in `app/keymap`; `go test ./app/keymap -update` updates it.\n")
	b.WriteString("Every action can have other keys:\n\n")
	b.WriteString("```toml\n[keys]\nnewline = [\"Ctrl+J\"]        # replaces its keys\nredraw = []                 # none\n```\n\n" +
		"If you give a built-in key to another action, its own action loses the key; `buddy config check` and a notice at the start name\n" +
		"it. Keys that answer an approval can't be reassigned, and two of your own actions can't share a key: both are errors.\n")
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
