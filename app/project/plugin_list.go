package project

import (
	"fmt"
	"path/filepath"
	"slices"

	"buddy/config"
	"buddy/extensions/plugin/install"
)

// ListedPlugin is a plugin of the session, or a folder that was left out. Its texts are untrusted.
type ListedPlugin struct {
	Name    string
	Version string
	About   string
	Dir     string
	State   string         // its trust, or why it is left out
	Waits   bool           // it could be trusted and is not
	Lines   []string       // what it has and runs; empty if it is left out
	Git     install.Record // empty if the person did not add it from a git repository
}

// From returns where the plugin comes from, in one line.
func (p ListedPlugin) From() string {
	if p.Git.Commit == "" {
		return p.Dir
	}
	return fmt.Sprintf("commit %.12s of %s", p.Git.Commit, p.Git.Source())
}

// PluginList returns all plugins of the session.
func (s *Source) PluginList() ([]ListedPlugin, error) {
	found, problems, err := s.plugins()
	var all []ListedPlugin
	for _, f := range found {
		check := Check{f.part, f.state}
		one := ListedPlugin{Name: f.Name, Version: f.Version, About: f.About, Dir: f.Dir, State: string(check.state()), Waits: check.item().Waits(), Lines: check.Lines()}
		if check.state() == Changed {
			one.State = "off: changed since you trusted it"
		}
		all = append(all, one)
	}
	for _, p := range problems {
		all = append(all, ListedPlugin{Name: filepath.Base(p.File), Dir: p.File, State: "left out: " + p.Reason})
	}
	names, _ := Installed().Names() // an unreadable folder is among the problems
	for _, name := range names {
		dir := Installed().Files(name)
		real, bad := filepath.EvalSymlinks(dir)
		i := slices.IndexFunc(all, func(p ListedPlugin) bool { return p.Dir == dir || bad == nil && p.Dir == real })
		if i < 0 {
			continue
		}
		all[i].Name = name
		if all[i].Git, bad = Installed().Record(name); bad != nil {
			all[i].State = "can't be updated: " + bad.Error()
		}
	}
	return all, err
}

// ForgetPlugin ends the trust in an installed plugin.
func ForgetPlugin(name string) error {
	dir, err := filepath.EvalSymlinks(Installed().Files(name))
	if err != nil {
		return err
	}
	return TrustStore().ForgetParts(dir, config.Part{Kind: pluginKind, Name: name})
}
