// Package project finds what a folder, the settings and plugins would run by themselves: hooks, MCP servers, language
// servers, skills with commands, output styles. It starts nothing. Each is a [Part] that does nothing before the user
// trusts its current form; a changed part has to be trusted again.
//
//	source := project.Source{Config: settings}
//	hooks := source.Hooks() // untrusted hooks become problems
package project

import (
	"path/filepath"

	"github.com/adrg/xdg"

	"buddy/config"
	"buddy/features/worktree"
)

// Source describes the origin of a session's parts.
type Source struct {
	Config config.Config
	// Away names the target of the project; "" is this machine. Programs of a project on another target do not run.
	Away string
}

// TrustStore returns the record of the user's trust. A worktree that buddy made shares the trust of its main checkout.
func TrustStore() *config.TrustStore {
	s := config.NewTrustStore(filepath.Join(xdg.StateHome, "buddy"))
	s.Main = worktree.MainOf
	return &s
}
