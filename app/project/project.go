// Package project finds what a folder, the settings and plugins bring that acts by itself: hooks, MCP servers, language
// servers, skills with commands, output styles. It starts nothing. Each such thing is a [Part] that does nothing before
// the person trusts it in the form that it has; a changed part has to be trusted again.
//
//	source := project.Source{Config: settings}
//	servers, err := source.Servers() // one that is not trusted has a problem
//	hooks := source.Hooks()
package project

import (
	"path/filepath"

	"github.com/adrg/xdg"

	"buddy/config"
)

// Source says where a session gets its parts from.
type Source struct {
	Config config.Config
	// Away names the target on which the project is; "" is this machine. Programs of a project elsewhere do not run.
	Away string
}

// TrustStore returns the file of the folders that the person trusts.
func TrustStore() *config.TrustStore {
	s := config.NewTrustStore(filepath.Join(xdg.StateHome, "buddy"))
	return &s
}
