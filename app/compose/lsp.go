package compose

import (
	"path/filepath"

	"github.com/adrg/xdg"

	"buddy/app/slash"
	"buddy/features/lsp"
	"buddy/tmux/host/child"
	"buddy/tools"
)

// lspState returns the folder with records of running language servers.
func lspState() string { return filepath.Join(xdg.StateHome, "buddy", "lsp") }

// newChecks returns the language server clients. Servers start only after a file was changed.
func (p *Program) newChecks(deferred *tools.Deferred) *lsp.Clients {
	away := ""
	if p.Dest.Name != slash.ThisMachine {
		away = p.Dest.Name
	}
	all := lsp.New(lsp.Options{
		Servers: p.Project().LanguageServers, Folders: append([]string{p.Env.Dir}, p.Env.Also...), State: lspState(), Away: away, Publish: p.Live.Publish,
		Env: starter{p}.startEnv(), Hold: func(s lsp.Server) (child.Holder, error) {
			return p.inside.hold(p, true, append(starter{p}.shownTo(s.Command...), s.Copies), nil)
		},
		Checked: p.Project().CheckedLanguageServer,
	})
	deferred.Add(all.Tool(), all.CodeTool(p.Targets.First().Files))
	return all
}

// LanguageServersHere returns the language servers that a session in this folder would have.
func LanguageServersHere(f *Options) ([]lsp.Server, error) {
	c, _, _, err := LoadConfig(f)
	if err != nil {
		return nil, err
	}
	s := Setup{Config: c, Target: slash.ThisMachine}
	return s.Project().LanguageServers(), nil
}
