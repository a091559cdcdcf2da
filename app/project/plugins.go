package project

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/adrg/xdg"

	"buddy/agent/hooks"
	"buddy/agent/policy"
	"buddy/config"
	"buddy/extensions"
	"buddy/extensions/plugin"
	"buddy/extensions/plugin/install"
	"buddy/features/mcp"
	"buddy/owners"
	"buddy/tools/file"
)

const pluginKind = "plugin"

// PluginPrefix starts the names of plugins' servers.
const PluginPrefix = "plugin_"

const pluginDir = ".buddy/plugins"

// Installed returns the store of the plugins that the person added from git repositories.
func Installed() install.Store {
	return install.Store{Dir: filepath.Join(xdg.DataHome, "buddy", "plugins")}
}

// foundPlugin is a plugin, and the one part that is trusted for the whole plugin.
type foundPlugin struct {
	plugin.Plugin
	part  Part
	state config.PartState
}

// off reports whether not even the plugin's texts are used, because the plugin has changed since it was trusted or
// can't be trusted.
func (f foundPlugin) off() bool { return f.state.Changed || f.state.Err != nil }

func (f foundPlugin) dataDir() string {
	return filepath.Join(xdg.StateHome, "buddy", "plugins", f.Name)
}

// findPlugins reads the plugins of the settings, the installed ones, and those of the project that dir belongs to; ""
// for no project. If several plugins have the same name, only the first is used. Without plugins it only lists folders.
func findPlugins(dir string, c config.Config) (found []foundPlugin, problems []Problem) {
	leave := func(at string, err error) {
		problems = append(problems, Problem{File: at, Reason: err.Error()})
	}
	add := func(at, trustedIn, file string) {
		p, err := plugin.Read(at)
		if err == nil && trustedIn == "" { // files of the project are checked with the project
			err = owners.CheckOwn(filepath.Join(p.Dir, plugin.Manifest))
		}
		if err != nil {
			leave(at, err)
			return
		}
		if i := slices.IndexFunc(found, func(f foundPlugin) bool { return f.Name == p.Name }); i >= 0 {
			leave(at, fmt.Errorf("the plugin %q of %s has priority", p.Name, found[i].Dir))
			return
		}
		if trustedIn == "" {
			trustedIn = p.Dir
		}
		found = append(found, foundPlugin{Plugin: p, part: partOfPlugin(p, trustedIn, file)})
	}
	personal, err := personalPlugins(c)
	if err != nil {
		leave(Installed().Dir, err)
	}
	for _, at := range personal {
		add(at, "", plugin.Manifest)
	}
	if dir == "" {
		return found, problems
	}
	for _, folder := range config.ProjectFolders(dir) {
		entries, err := os.ReadDir(filepath.Join(folder, pluginDir))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			leave(filepath.Join(folder, pluginDir), err)
		}
		for _, e := range entries {
			if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
				at := filepath.Join(pluginDir, e.Name())
				add(filepath.Join(folder, at), folder, filepath.Join(at, plugin.Manifest))
			}
		}
	}
	return found, problems
}

// personalPlugins returns the folders of the plugins in the settings and of the installed ones.
func personalPlugins(c config.Config) (dirs []string, err error) {
	for _, name := range c.Plugins.Dirs {
		dirs = append(dirs, pluginPath(name))
	}
	names, err := Installed().Names()
	for _, name := range names {
		dirs = append(dirs, Installed().Files(name))
	}
	return dirs, err
}

// partOfPlugin returns the part to trust before anything of a plugin runs. It covers all files of the plugin.
func partOfPlugin(p plugin.Plugin, dir, file string) Part {
	part := Part{Dir: dir, File: file, When: "provides the items listed below"}
	part.Kind, part.Name = pluginKind, p.Name
	relative := func(paths []string) []string {
		names := make([]string, len(paths))
		for i, at := range paths {
			names[i] = strings.TrimPrefix(at, p.Dir+"/")
		}
		return names
	}
	runs := []string{}
	for _, h := range pluginHooks(p, "").Handlers {
		if h.Lost == "" {
			runs = append(runs, h.What())
		}
	}
	servers, _ := pluginServers(p, "")
	for _, s := range servers {
		runs = append(runs, strings.TrimSpace(strings.Join(s.Process.Command, " ")+" "+s.Endpoint.URL))
	}
	for _, s := range pluginLanguages(p, "") {
		runs = append(runs, strings.Join(s.Command, " "))
	}
	part.Runs = strings.Join(runs, "; ")
	if len(runs) == 0 {
		part.Runs = "commands of its skills, if any"
	}
	definition := map[string]any{
		"name": p.Name, "version": p.Version, "description": p.About, "runs": runs, "print": p.Print,
		"skills": relative(p.Skills), "commands": relative(p.Commands), "agents": relative(p.Agents), "styles": relative(p.Styles),
		"workflows": relative(p.Workflows),
	}
	part.Definition = canonical(definition)
	inDir, err := filepath.Rel(dir, p.Dir)
	for _, name := range p.Files {
		if err == nil {
			part.Files = append(part.Files, filepath.Join(inDir, name))
		}
	}
	return part
}

// plugins returns the plugins of a session with their trust. The plugins of a project on another machine are left out.
func (s *Source) plugins() ([]foundPlugin, []Problem, error) {
	dir := ""
	if s.Away == "" {
		dir = s.Config.Project.Dir
	}
	found, problems := findPlugins(dir, s.Config)
	for i := range found {
		states, err := TrustStore().CheckParts(found[i].part.Dir, found[i].part.Part)
		if err != nil {
			return nil, problems, err
		}
		found[i].state = states[0]
	}
	return found, problems, nil
}

// PluginTexts returns the sources of the plugins' extensions, except for plugins that are off. acts maps plugins to
// whether they are trusted, so that their skills may run commands.
func (s *Source) PluginTexts() (all []extensions.Source, acts map[string]bool, err error) {
	found, _, err := s.plugins()
	acts = make(map[string]bool)
	for _, f := range found {
		if f.off() {
			continue
		}
		files, err := file.NewWorkspace(f.Dir, policy.Secret)
		if err != nil {
			return nil, nil, err
		}
		acts[f.Name] = f.state.Trusted
		all = append(all, extensions.Source{Origin: extensions.Plugin, Files: files, Inside: f.Dir, Prefix: f.Name, Roots: map[extensions.Kind][]string{
			extensions.Skill: f.Skills, extensions.Command: f.Commands, extensions.Agent: f.Agents, extensions.Style: f.Styles, extensions.Workflow: f.Workflows,
		}})
	}
	return all, acts, err
}

// PluginTrusted returns an error if a plugin can't be used.
func (s *Source) PluginTrusted(name string) error {
	found, _, err := s.plugins()
	if err != nil {
		return err
	}
	for _, f := range found {
		if f.Name == name && !f.state.Trusted {
			return errors.New(Check{f.part, f.state}.untrusted("the plugin "+name, "(to trust it, run: buddy trust)"))
		}
	}
	return nil
}

// pluginHooks returns the hooks of a plugin from the texts that its fingerprint covers.
func pluginHooks(p plugin.Plugin, data string) (set hooks.Set) {
	origin := hooks.Origin{Source: hooks.Plugin, Root: p.Dir, Data: data, Part: p.Name, File: filepath.Join(p.Dir, plugin.Manifest)}
	for i, text := range p.Hooks.Texts {
		if n := i - len(p.Hooks.Inline); n >= 0 {
			origin.File = p.Hooks.Files[n]
		}
		set.Add(hooks.Parse(inlineHooks(text), origin))
	}
	return set
}

// inlineHooks converts hooks of a manifest to the form of a hooks file, which has them below "hooks".
func inlineHooks(text json.RawMessage) []byte {
	var one map[string]json.RawMessage
	if json.Unmarshal(text, &one) != nil || one["hooks"] != nil {
		return text
	}
	whole, err := json.Marshal(map[string]json.RawMessage{"hooks": text})
	if err != nil { // never: it was decoded before
		return text
	}
	return whole
}

// addPluginHooks adds the hooks of trusted plugins, and problems that explain why others do not run.
func (s *Source) addPluginHooks(set *hooks.Set) error {
	found, problems, err := s.plugins()
	for _, p := range problems {
		left := hooks.Problem{File: p.File, Reason: p.Reason, Quiet: true}
		if !slices.Contains(set.Problems, left) { // the others were reported with the project's parts
			set.Problems = append(set.Problems, left)
		}
	}
	for _, f := range found {
		if f.Hooks.Empty() {
			continue
		}
		if !f.state.Trusted {
			check := Check{f.part, f.state}
			set.Problems = append(set.Problems, hooks.Problem{File: f.Dir, Reason: check.untrusted("the plugin "+f.Name, TrustFirst), Quiet: true})
			continue
		}
		if err := os.MkdirAll(f.dataDir(), 0o700); err != nil {
			set.Problems = append(set.Problems, hooks.Problem{File: f.Dir, Reason: err.Error()})
			continue
		}
		set.Add(pluginHooks(f.Plugin, f.dataDir()))
	}
	return err
}

// pluginTrust checks, before a plugin's hook runs, that the plugin is trusted and unchanged. It reads the plugin's
// files only when they may have changed. Any goroutine may use it.
type pluginTrust struct {
	source *Source

	mu    sync.Mutex               // guards known
	known map[string]trustedPlugin // by folder
}

// trustedPlugin is a plugin that was unchanged when its files were last read.
type trustedPlugin struct {
	stamp string // of its files, from before they were read
	dir   string // the folder that the trust applies to
	part  config.Part
	print string
}

// check returns an error if the hooks of a plugin must no longer run.
func (t *pluginTrust) check(from hooks.Origin) error {
	stamp, sure, err := plugin.Stamp(from.Root)
	if err != nil {
		return fmt.Errorf("the plugin %s is gone: %w", from.Part, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if k, ok := t.known[from.Root]; ok && sure && k.stamp == stamp {
		trusted, err := TrustStore().TrustsPrint(k.dir, k.part, k.print)
		if trusted || err != nil {
			return err
		}
	}
	found, err := t.source.stillTrusted(from)
	if err != nil {
		delete(t.known, from.Root)
		return err
	}
	if sure {
		t.known[from.Root] = trustedPlugin{stamp, found.part.Dir, found.part.Part, found.state.Print}
	}
	return nil
}

// stillTrusted returns a plugin if it is trusted and unchanged, else an error.
func (s *Source) stillTrusted(from hooks.Origin) (foundPlugin, error) {
	found, _, err := s.plugins()
	if err != nil {
		return foundPlugin{}, err
	}
	i := slices.IndexFunc(found, func(f foundPlugin) bool { return f.Dir == from.Root })
	switch {
	case i < 0:
		return foundPlugin{}, fmt.Errorf("the plugin %s is gone", from.Part)
	case found[i].state.Err != nil:
		return foundPlugin{}, found[i].state.Err
	case !found[i].state.Trusted:
		return foundPlugin{}, fmt.Errorf("the plugin %s changed since you trusted it (to trust it, run: buddy trust)", from.Part)
	}
	return found[i], nil
}

// pluginVariables returns a function that looks up the variables in a plugin's definitions.
func pluginVariables(p plugin.Plugin, data string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		switch name {
		case "CLAUDE_PLUGIN_ROOT":
			return p.Dir, true
		case "CLAUDE_PLUGIN_DATA":
			return data, true
		}
		return os.LookupEnv(name)
	}
}

// pluginServers reads the MCP servers of a plugin.
func pluginServers(p plugin.Plugin, data string) (all []mcp.Server, err error) {
	fill := pluginVariables(p, data)
	for _, text := range p.Servers.Texts {
		var entries map[string]json.RawMessage
		if bad := json.Unmarshal(text, &entries); bad != nil {
			err = errors.Join(err, fmt.Errorf("the plugin %s's servers: %w", p.Name, bad))
			continue
		}
		if inner := entries["mcpServers"]; inner != nil {
			entries = nil
			err = errors.Join(err, json.Unmarshal(inner, &entries))
		}
		for _, name := range slices.Sorted(maps.Keys(entries)) {
			all = append(all, pluginServer(p, name, entries[name], fill))
		}
	}
	return all, err
}

func pluginServer(p plugin.Plugin, name string, text json.RawMessage, fill func(string) (string, bool)) mcp.Server {
	var e serverEntry
	var s mcp.Server
	if err := json.Unmarshal(text, &e); err != nil {
		s = mcp.Server{Transport: mcp.Stdio, Problem: err.Error()}
	} else {
		s = e.server(fill)
	}
	s.Name, s.Project, s.Process.Dir = PluginPrefix+p.Name+"_"+name, true, p.Dir
	if s.Transport == mcp.Stdio {
		data, _ := fill("CLAUDE_PLUGIN_DATA")
		s.Process.Env = append(s.Process.Env, "CLAUDE_PLUGIN_ROOT="+p.Dir, "CLAUDE_PLUGIN_DATA="+data)
		s.Held = true
	}
	if err := config.CheckMCPName(s.Name); err != nil {
		s.Problem = err.Error()
	}
	return s
}

// serversOfPlugins returns the servers of all plugins. The servers of an untrusted plugin have a Problem.
func (s *Source) serversOfPlugins() ([]mcp.Server, error) {
	found, _, err := s.plugins()
	var all []mcp.Server
	for _, f := range found {
		if f.Servers.Empty() {
			continue
		}
		servers, bad := pluginServers(f.Plugin, f.dataDir())
		err = errors.Join(err, bad)
		problem := ""
		if !f.state.Trusted {
			problem = Check{f.part, f.state}.untrusted("its plugin", TrustFirst)
		} else if mkdir := os.MkdirAll(f.dataDir(), 0o700); mkdir != nil {
			problem = mkdir.Error()
		}
		for _, one := range servers {
			if problem != "" {
				one.Problem = problem
			}
			set, _ := s.Config.MCPServer(one.Name)
			one.Outside = set.Outside
			one.Held = one.Held && !one.Outside
			all = append(all, one)
		}
	}
	return all, err
}

// PluginFolders returns the folders of all plugins, trusted or not, and the folders in which plugins are looked for.
func (s *Source) PluginFolders() (dirs []string) {
	project := ""
	if s.Away == "" && s.Config.Project.Dir != "" {
		project = s.Config.Project.Dir
		for _, folder := range config.ProjectFolders(project) {
			dirs = append(dirs, filepath.Join(folder, pluginDir))
		}
	}
	for _, name := range s.Config.Plugins.Dirs {
		dirs = append(dirs, pluginPath(name))
	}
	for _, dir := range slices.Clone(dirs) { // including unreadable ones
		entries, err := os.ReadDir(dir)
		for _, e := range entries {
			if err == nil && e.IsDir() {
				dirs = append(dirs, filepath.Join(dir, e.Name()))
			}
		}
	}
	dirs = append(dirs, Installed().Dir)
	found, _ := findPlugins(project, s.Config)
	for _, f := range found {
		dirs = append(dirs, f.Dir)
		for _, name := range f.Files {
			dirs = append(dirs, filepath.Dir(filepath.Join(f.Dir, name)))
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// pluginPath returns the folder named in the settings.
func pluginPath(name string) string {
	if rest, home := strings.CutPrefix(name, "~/"); home {
		return filepath.Join(xdg.Home, rest)
	}
	return name
}
