// Package prompt writes the system prompt: one template, one way to fill it.
// It holds nothing that changes during a session, so that providers can cache it: first
// the rules, which are the same everywhere, then what is so here.
//
//	text, err := prompt.System(prompt.Facts{OS: "linux", Shell: "bash", Cwd: "/home/ann/shop", Target: "local"})
package prompt

import (
	_ "embed"
	"fmt"
	"strings"
	"text/template"
)

// Facts fill the template. All of them stay as they are for a whole session.
type Facts struct {
	OS     string   // of the target: linux, darwin
	Shell  string   // the program that runs commands
	Cwd    string   // where commands start; "" is the home folder
	Also   []string // more folders to work in
	Target string   // "local", or where else commands run
	// Targets are all places on which tools may work, Target among them; nil: that is the only one.
	Targets []Target
	Tools   bool   // there are some
	Says    string // what models of this family need to be told besides; "" for nothing
	Extra   string // the operator's own instructions, of lower priority
}

// Target is a place on which tools may work.
type Target struct {
	Name string
	Doc  string // what it is; "" is not known
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
