package compose

import (
	"os"
	"path/filepath"

	"github.com/adrg/xdg"

	"buddy/app/slash"
	"buddy/features/tryfirst"
)

// tryFirst returns the session part that tries commands before they are approved. It returns nil on other targets, and
// in sessions without a user, who would have to decide about the commands' changes.
func (p *Program) tryFirst(f *Options, target string) *tryfirst.Part {
	if f.Headless || target != slash.ThisMachine || p.ID == "" {
		return nil
	}
	env, _ := p.Config.Environ(os.Environ())
	work := append([]string{p.Env.Dir}, p.Env.Also...)
	own := p.own()
	settings := FenceSettings(p.Config.Sandbox, work, own.Files)
	return tryfirst.New(tryfirst.Options{
		Target: target, Session: p.ID, Fence: *settings, Env: env, Withheld: p.withheld,
		Bases: tryfirst.Bases(p.Env.Dir, filepath.Join(xdg.StateHome, "buddy", "try"), filepath.Join(xdg.CacheHome, "buddy", "try")),
		Shell: p.Config.Tools.ShellName(), Output: p.Config.Tools.Output,
		Exported: p.Targets.First().Exported,
	})
}
