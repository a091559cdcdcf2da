// Package prompt writes the system prompt from one template. It contains nothing that changes
// during a session, so that providers can cache it: first the rules, which are the same
// everywhere, then the facts.
//
//	text, err := prompt.System(prompt.Facts{OS: "linux", Shell: "bash", Cwd: "/home/ann/shop", Target: "local"})
package prompt

import (
	_ "embed"
	"fmt"
	"strings"
	"text/template"
)

// Facts fill the template. They stay the same for a whole session.
type Facts struct {
	OS     string   // of the target: linux, darwin
	Shell  string   // the program that runs commands
	Cwd    string   // where commands start; "" is the home folder
	Also   []string // more workspace folders
	Target string   // "local", or the name of another target
	// Targets are all targets that tools can use, including Target; nil: only that one.
	Targets []Target
	Tools   bool   // tools are offered
	Says    string // additions for models of this family; "" for none
	Instead string // the operator's own prompt in place of all before the facts; "" for none
	Style   string // how to answer, as the person chose; "" adds nothing
	// StyleOnly leaves out how to work: the style stands for it.
	StyleOnly bool
	Extra     string // the operator's own instructions, added at the end; of lower priority unless Instead is theirs, too
}

// Target is a target that tools can use.
type Target struct {
	Name string
	Doc  string // its description; "" is unknown
}

//go:embed system.md
var source string

var system = template.Must(template.New("system").Funcs(template.FuncMap{"join": strings.Join}).Parse(source))

// System returns the system prompt.
func System(f Facts) (string, error) {
	var b strings.Builder
	if err := system.Execute(&b, f); err != nil {
		return "", fmt.Errorf("system prompt: %w", err)
	}
	return strings.TrimSpace(b.String()), nil
}
