package compose

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/adrg/xdg"

	"buddy/agent/action"
	"buddy/app/slash"
	"buddy/config"
	"buddy/extensions/lsp"
	"buddy/extensions/plugin"
	"buddy/texts"
	"buddy/texts/searchpath"
	"buddy/tmux/host/child"
	"buddy/tools"
)

// lspKind is the kind of parts that are language servers.
const lspKind = "lsp"

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
		Env: starter{p}.startEnv(), Hold: func(s lsp.Server) (child.Holder, error) {
			return p.inside.hold(p, true, append(starter{p}.shownTo(s.Command...), s.Copies), nil)
		},
		Checked: starter{p}.checkedLanguageServer,
	})
	deferred.Add(all.Tool())
	return all
}

// LanguageServers returns the language servers that there are: those of the settings, of plugins, and
// the known ones whose program is there. One that can't be used has a problem.
func (s *Setup) LanguageServers() []lsp.Server {
	if s.Target != slash.ThisMachine {
		return nil
	}
	checks, _, err := s.checkParts()
	var all []lsp.Server
	found, _, failed := s.plugins()
	plugins := languageServersOf(found, failed)
	for _, def := range languageServers(s.Config) {
		if def.built && plugins != nil { // those of plugins come before the known ones
			all, plugins = append(all, plugins...), nil
		}
		i := slices.IndexFunc(checks, func(c PartCheck) bool { return c.Kind == lspKind && c.Name == def.Name })
		switch {
		case def.Problem != "" || def.Off:
		case err != nil:
			def.Problem = err.Error()
		case i >= 0:
			def.Problem = checks[i].problem("/trust, or: buddy trust")
			def.Command = append([]string{checks[i].path()}, def.Command[1:]...)
		default:
			path, missing := def.onPath(programPath(s.Config))
			if missing != nil && def.built {
				continue
			}
			if missing != nil {
				def.Problem = missing.Error()
			}
			def.Command = append([]string{path}, def.Command[1:]...)
		}
		if def.RunsProject {
			def.Refuses = func(root string) string { return def.refuses(root, s.Config) }
		}
		all = append(all, def.Server)
	}
	return append(all, plugins...)
}

// refuses returns why a server that runs programs of the project may not start in a folder, "" if it is trusted there or in
// a folder above of the same repository. That folder may be below the working directory, or another one of the session, whose
// parts /trust does not list.
func (d *languageServer) refuses(root string, c config.Config) string {
	checks, _, err := CheckParts(root, c)
	if err != nil {
		return err.Error()
	}
	why := "it starts only in a folder that has " + texts.Some(d.Roots) + " and that you trusted"
	for _, part := range slices.Backward(checks) { // the nearest folder's part is the last to say why
		if part.Kind != lspKind || part.Name != d.Name {
			continue
		}
		if why = part.problem("buddy trust --part " + action.Quote([]string{part.String(), part.Dir})); why == "" {
			return ""
		}
	}
	return why
}

// problem says why a part does not run, and how to trust it; "" if it runs.
func (c PartCheck) problem(trust string) string {
	switch {
	case c.State.Err != nil:
		return c.State.Err.Error()
	case c.State.Changed:
		return "it changed since you trusted it (" + trust + ")"
	case !c.State.Trusted:
		return "not trusted (" + trust + ")"
	}
	return ""
}

// languageServer is a server of the settings, or a known one.
type languageServer struct {
	lsp.Server
	built bool // it is known without settings
}

// languageServers returns the servers of the settings and the known ones, which those of the same
// name change.
func languageServers(c config.Config) []languageServer {
	known := lsp.BuiltIn()
	var all []languageServer
	for _, set := range c.LSP {
		def := lsp.Server{Name: set.Name}
		if i := slices.IndexFunc(known, func(k lsp.Server) bool { return k.Name == set.Name }); i >= 0 {
			def = known[i]
			known = slices.Delete(known, i, i+1)
		}
		all = append(all, languageServer{Server: withSettings(def, set)})
	}
	for _, def := range known {
		all = append(all, languageServer{Server: def, built: true})
	}
	return all
}

// withSettings returns a server with what a section sets.
func withSettings(def lsp.Server, set config.LanguageServer) lsp.Server {
	def.Off, def.Outside = !set.Enabled, set.Outside
	if len(set.Command) > 0 {
		def.Command = slices.Clone(set.Command)
	}
	if len(set.Languages) > 0 {
		def.Languages = make(map[string]string)
		for _, one := range set.Languages {
			ending, language, _ := strings.Cut(one, "=")
			def.Languages[ending] = language
		}
	}
	if set.Roots != nil {
		def.Roots = set.Roots
	}
	if set.Settings != "" {
		def.Settings = json.RawMessage(set.Settings)
	}
	if set.Init != "" {
		def.Init = json.RawMessage(set.Init)
	}
	switch {
	case len(def.Command) == 0 || def.Command[0] == "":
		def.Problem = "it has no command"
	case len(def.Languages) == 0:
		def.Problem = "it has no extensions"
	}
	return def
}

// onPath returns the program of a server that does not come with the project, looked for in a PATH.
func (d *languageServer) onPath(where string) (string, error) {
	if d.Problem != "" || len(d.Command) == 0 {
		return "", errors.New(d.Problem)
	}
	path, err := searchpath.LookIn(where, d.Command[0])
	if err != nil {
		return "", fmt.Errorf("its program %q is not there", d.Command[0])
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	return path, d.fits(path)
}

// fits returns why a program is not the one that is meant.
func (d *languageServer) fits(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	switch d.Name {
	case "typescript":
		if major := majorVersion(filepath.Join(filepath.Dir(real), "..", "package.json")); d.Command[0] == "tsc" && major < 7 {
			return fmt.Errorf("%s is TypeScript %d, which has no language server (7 has)", path, major)
		}
	case "typescript-language-server":
		// Without this it would run the TypeScript of the project.
		own := filepath.Join(filepath.Dir(real), "..", "..", "typescript", "lib", "tsserver.js")
		if _, err := os.Stat(own); err != nil {
			return errors.New("it would run the project's own TypeScript: install typescript (5.9) beside it")
		}
		var init map[string]any
		if err := json.Unmarshal(d.Init, &init); err != nil {
			return err
		}
		init["tsserver"] = map[string]any{"path": filepath.Clean(own)}
		if d.Init, err = json.Marshal(init); err != nil {
			return err
		}
	}
	return nil
}

// majorVersion returns the first number of the version of a package of npm, 0 if it is not known.
func majorVersion(file string) int {
	data, err := os.ReadFile(file)
	var p struct {
		Version string `json:"version"`
	}
	if err != nil || json.Unmarshal(data, &p) != nil {
		return 0
	}
	major, _, _ := strings.Cut(p.Version, ".")
	n, _ := strconv.Atoi(major) // 0: not known
	return n
}

// npmPrograms names the folder where the packages of a project have their programs.
const npmPrograms = "node_modules/.bin"

// languageParts are the language servers of a folder of the project: programs that came with it, and
// those that run what came with it.
func languageParts(dir string, c config.Config) (found FoundParts) {
	_, err := os.Stat(filepath.Join(dir, npmPrograms))
	packages := err == nil
	leads := pathLeadsTo(dir)
	for _, def := range languageServers(c) {
		runs := def.RunsProject && def.marks(dir)
		if def.Off || def.Problem != "" || def.built && !packages && !runs && !leads {
			continue
		}
		program, ok := projectProgram(&def, dir, packages, runs)
		if !ok {
			continue
		}
		p := ProjectPart{File: program, Runs: action.Quote(append([]string{program}, def.Command[1:]...))}
		p.When = "starts with the first edit of " + texts.Some(slices.Sorted(maps.Keys(def.Languages))) + " files"
		if runs {
			p.When += ", and runs programs of the project (build scripts, macros)"
		}
		p.Kind, p.Name = lspKind, def.Name
		command := []any{program}
		for _, arg := range def.Command[1:] {
			command = append(command, arg)
		}
		found.add(dir, p, map[string]any{"command": command}, command)
	}
	return found
}

// pathLeadsTo reports whether programs are looked for in a folder, or below it.
func pathLeadsTo(dir string) bool {
	return slices.ContainsFunc(filepath.SplitList(os.Getenv("PATH")), func(at string) bool {
		real, err := filepath.EvalSymlinks(at)
		return err == nil && (!filepath.IsAbs(real) || texts.Below(real, dir))
	})
}

// marks reports whether a folder has one of the marks of a server.
func (d *languageServer) marks(dir string) bool {
	return slices.ContainsFunc(d.Roots, func(name string) bool { _, err := os.Stat(filepath.Join(dir, name)); return err == nil })
}

// projectProgram returns the program of a server that needs trust in a folder, relative to it if it
// is in there. packages says that the folder has some of npm, and runs that the server would run
// programs of the folder.
func projectProgram(def *languageServer, dir string, packages, runs bool) (string, bool) {
	name := def.Command[0]
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		info, err := os.Stat(name)
		switch {
		case err != nil || info.IsDir():
			return "", false
		case texts.Below(name, dir):
			return relativeTo(dir, name), true
		}
		return name, runs
	}
	path := onPathFrom(name)
	switch {
	case path != "" && texts.Below(path, dir):
		return relativeTo(dir, path), true
	case path != "" && runs:
		return path, true
	case path != "" && def.fits(path) == nil:
		return "", false // the person's own comes first
	case !packages:
		return "", false
	}
	path = filepath.Join(dir, npmPrograms, name)
	if _, err := os.Stat(path); err != nil || def.fits(path) != nil {
		return "", false
	}
	return relativeTo(dir, path), true
}

// onPathFrom returns the program of a name with the links of its folder resolved, "" if there is none.
func onPathFrom(name string) string {
	path, err := exec.LookPath(name)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return ""
	}
	path, _ = filepath.Abs(path) // it fails where no folder is the present one
	if folder, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(folder, filepath.Base(path))
	}
	return path
}

// relativeTo returns the name of a file in a folder.
func relativeTo(dir, path string) string {
	return strings.TrimPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// path returns the file that defines the part; of a language server it is the program.
func (c PartCheck) path() string {
	if filepath.IsAbs(c.File) {
		return c.File
	}
	return filepath.Join(c.Dir, c.File)
}

// languageEntry is one entry of a plugin's .lsp.json.
type languageEntry struct {
	Command     string            `json:"command"`
	Args        []string          `json:"args"`
	Languages   map[string]string `json:"extensionToLanguage"`
	Env         map[string]string `json:"env"`
	Init        json.RawMessage   `json:"initializationOptions"`
	Settings    json.RawMessage   `json:"settings"`
	Start       int               `json:"startupTimeout"` // milliseconds
	Diagnostics *bool             `json:"diagnostics"`
}

// languageServersOf returns the language servers of plugins; those of one that is not trusted have a
// problem, and so have all when reading the plugins failed.
func languageServersOf(plugins []foundPlugin, failed error) (all []lsp.Server) {
	for _, f := range plugins {
		if f.Language.Empty() {
			continue
		}
		problem := ""
		switch {
		case failed != nil:
			problem = failed.Error()
		case !f.state.Trusted:
			problem = string(PartCheck{f.part, f.state}.state()) + " (/trust, or: buddy trust)"
		default:
			if err := os.MkdirAll(f.dataDir(), 0o700); err != nil {
				problem = err.Error()
			}
		}
		for _, one := range pluginLanguages(f.Plugin, f.dataDir()) {
			one.Problem = cmp.Or(problem, one.Problem)
			all = append(all, one)
		}
	}
	return all
}

// pluginLanguages reads the language servers of a plugin, of the texts that its print covers.
func pluginLanguages(p plugin.Plugin, data string) (all []lsp.Server) {
	for _, text := range p.Language.Texts {
		var entries map[string]json.RawMessage
		if err := json.Unmarshal(text, &entries); err != nil {
			all = append(all, lsp.Server{Name: p.Name, Problem: err.Error()})
			continue
		}
		if inner := entries["lspServers"]; inner != nil {
			entries = nil
			if err := json.Unmarshal(inner, &entries); err != nil {
				all = append(all, lsp.Server{Name: p.Name, Problem: err.Error()})
			}
		}
		for _, name := range slices.Sorted(maps.Keys(entries)) {
			all = append(all, pluginLanguage(p, name, entries[name], data))
		}
	}
	return all
}

// pluginLanguage returns one language server of a plugin.
func pluginLanguage(p plugin.Plugin, name string, text json.RawMessage, data string) lsp.Server {
	def := lsp.Server{Name: p.Name + ":" + name}
	var e languageEntry
	if err := json.Unmarshal(text, &e); err != nil {
		def.Problem = err.Error()
		return def
	}
	var missing []string
	fill := func(text string) string {
		text, names := fillVariables(text, pluginVariables(p, data))
		missing = append(missing, names...)
		return text
	}
	def.Command = []string{fill(e.Command)}
	for _, a := range e.Args {
		def.Command = append(def.Command, fill(a))
	}
	for _, key := range slices.Sorted(maps.Keys(e.Env)) {
		def.Env = append(def.Env, key+"="+fill(e.Env[key]))
	}
	def.Env = append(def.Env, "CLAUDE_PLUGIN_ROOT="+p.Dir, "CLAUDE_PLUGIN_DATA="+data)
	def.Languages, def.Init, def.Settings = e.Languages, e.Init, e.Settings
	def.Start = time.Duration(e.Start) * time.Millisecond
	def.Off = e.Diagnostics != nil && !*e.Diagnostics
	switch err := config.CheckLSPName(name); {
	case err != nil:
		def.Problem = err.Error()
	case e.Command == "":
		def.Problem = "it has no command"
	case len(missing) > 0:
		def.Problem = "the variable " + texts.Some(missing) + " is not set"
	}
	return def
}

// LanguageServersHere returns the language servers that a session in this folder would have.
func LanguageServersHere(f *Options) ([]lsp.Server, error) {
	c, _, _, err := LoadConfig(f)
	if err != nil {
		return nil, err
	}
	s := Setup{Config: c, Target: slash.ThisMachine}
	return s.LanguageServers(), nil
}
