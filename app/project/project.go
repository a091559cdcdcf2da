// Package project finds everything that a project, the settings or plugins would run without a further command of the
// user: hooks, MCP servers, language servers, skills that contain commands, and output styles.
//
// Each of these is a [Part], which does nothing until the user trusts it. A part that has changed must be trusted
// again. The package starts nothing itself.
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

// Source reads the hooks, servers and plugins of a session, and checks their trust.
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
