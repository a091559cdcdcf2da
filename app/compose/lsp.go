package compose

import (
	"os/exec"
	"path/filepath"

	"github.com/adrg/xdg"

	"buddy/app/slash"
	"buddy/extensions/lsp"
	"buddy/tools"
)

// lspState is the folder in which running language servers are noted.
func lspState() string { return filepath.Join(xdg.StateHome, "buddy", "lsp") }

// newChecks returns the clients of language servers. Nothing is looked for before a file was changed.
func (p *Program) newChecks(deferred *tools.Deferred) *lsp.Clients {
	away := ""
	if p.Dest.Name != slash.ThisMachine {
		away = p.Dest.Name
	}
	all := lsp.New(lsp.Options{
		Servers: p.LanguageServers, Folders: append([]string{p.Env.Dir}, p.Env.Also...), State: lspState(), Away: away, Publish: p.Live.Publish,
	})
	deferred.Add(all.Tool())
	return all
}

// LanguageServers returns the language servers that there are.
func (s *Setup) LanguageServers() []lsp.Server {
	var all []lsp.Server
	for _, def := range lsp.BuiltIn() {
		path, err := exec.LookPath(def.Command[0])
		if err != nil {
			continue
		}
		def.Command = append([]string{path}, def.Command[1:]...)
		all = append(all, def)
	}
	return all
}
