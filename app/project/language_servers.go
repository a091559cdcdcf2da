package project

import (
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

	"buddy/agent/action"
	"buddy/config"
	"buddy/features/lsp"
	"buddy/texts"
	"buddy/texts/searchpath"
)

const lspKind = "lsp"

// LanguageServers returns the language servers of the settings and plugins, and the built-in ones whose program exists.
// A server that can't be used has a Problem.
func (s *Source) LanguageServers() []lsp.Server {
	if s.Away != "" {
		return nil
	}
	checks, _, err := s.check()
	var all []lsp.Server
	found, _, failed := s.plugins()
	plugins := languageServersOf(found, failed)
	for _, def := range languageServers(s.Config) {
		if def.built && plugins != nil { // plugins come before the built-in ones
			all, plugins = append(all, plugins...), nil
		}
		i := slices.IndexFunc(checks, func(c Check) bool { return c.Kind == lspKind && c.Name == def.Name })
		switch {
		case def.Problem != "" || def.Off:
		case err != nil:
			def.Problem = err.Error()
		case i >= 0:
			def.Problem = checks[i].problem("/trust, or run: buddy trust")
			def.Command = append([]string{checks[i].path()}, def.Command[1:]...)
		default:
			path, missing := def.onPath(ProgramPath(s.Config))
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

// refuses explains why a server that runs the project's own code may not start in a folder. It returns "" if the server
// is trusted in the folder or in a parent within the same repository. The explanation contains the command that trusts
// the server, because /trust lists only the parts of the working directory's project.
func (d *languageServer) refuses(root string, c config.Config) string {
	checks, _, err := CheckParts(root, c)
	if err != nil {
		return err.Error()
	}
	why := "it starts only in a folder that you trusted and that has " + texts.Some(d.Roots)
	for _, part := range slices.Backward(checks) { // the nearest folder's part decides last
		if part.Kind != lspKind || part.Name != d.Name {
			continue
		}
		if why = part.problem("run: buddy trust --part " + action.Quote([]string{part.String(), part.Dir})); why == "" {
			return ""
		}
	}
	return why
}

// languageServer is a configured or built-in server.
type languageServer struct {
	lsp.Server
	built bool // built in
}

// languageServers returns the configured servers and the built-in ones, with settings applied by name.
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

// withSettings applies a section of the settings to a server.
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

// onPath returns the program of a server, looked up in a PATH.
func (d *languageServer) onPath(where string) (string, error) {
	if d.Problem != "" || len(d.Command) == 0 {
		return "", errors.New(d.Problem)
	}
	path, err := searchpath.LookIn(where, d.Command[0])
	if err != nil {
		return "", fmt.Errorf("its program %q does not exist", d.Command[0])
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	return path, d.fits(path)
}

// fits returns an error if a program can't be used as the server.
func (d *languageServer) fits(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	switch d.Name {
	case "typescript":
		if major := majorVersion(filepath.Join(filepath.Dir(real), "..", "package.json")); d.Command[0] == "tsc" && major < 7 {
			return fmt.Errorf("%s is TypeScript %d, which has no language server (TypeScript 7 has one)", path, major)
		}
	case "typescript-language-server":
		// The server must use the TypeScript that is installed next to it, because otherwise it would run the project's
		// TypeScript.
		own := filepath.Join(filepath.Dir(real), "..", "..", "typescript", "lib", "tsserver.js")
		if _, err := os.Stat(own); err != nil {
			return errors.New("it would run the project's own TypeScript: install typescript (5.9) next to the server")
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

// majorVersion returns the major version of an npm package, 0 if unknown.
func majorVersion(file string) int {
	data, err := os.ReadFile(file)
	var p struct {
		Version string `json:"version"`
	}
	if err != nil || json.Unmarshal(data, &p) != nil {
		return 0
	}
	major, _, _ := strings.Cut(p.Version, ".")
	n, _ := strconv.Atoi(major) // 0 if unknown
	return n
}

// npmPrograms is the folder with the programs of a project's packages.
const npmPrograms = "node_modules/.bin"

// languageParts returns the language servers of a project folder that need trust, because they are programs of the
// project or run programs of the project.
func languageParts(dir string, c config.Config) (found Found) {
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
		p := Part{File: program, Runs: action.Quote(append([]string{program}, def.Command[1:]...))}
		p.When = "starts with the first edit of " + texts.Some(slices.Sorted(maps.Keys(def.Languages))) + " files"
		if runs {
			p.When += ", and runs the project's own code (build scripts, macros)"
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

// pathLeadsTo reports whether the PATH contains dir, a folder below dir, or a relative folder.
func pathLeadsTo(dir string) bool {
	return slices.ContainsFunc(filepath.SplitList(os.Getenv("PATH")), func(at string) bool {
		real, err := filepath.EvalSymlinks(at)
		return err == nil && (!filepath.IsAbs(real) || texts.Below(real, dir))
	})
}

// marks reports whether a folder has one of a server's root files.
func (d *languageServer) marks(dir string) bool {
	return slices.ContainsFunc(d.Roots, func(name string) bool { _, err := os.Stat(filepath.Join(dir, name)); return err == nil })
}

// projectProgram returns the program of a server that needs trust in a folder, and false if the server needs none
// there. A path inside the folder is relative. packages means that the folder has npm programs, runs that the server
// would run the project's code.
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
		return "", false // the user's own program has priority
	case !packages:
		return "", false
	}
	path = filepath.Join(dir, npmPrograms, name)
	if _, err := os.Stat(path); err != nil || def.fits(path) != nil {
		return "", false
	}
	return relativeTo(dir, path), true
}

// onPathFrom looks up a program in the PATH. It returns the program's path with the links in its folder resolved, "" if
// the program is not found.
func onPathFrom(name string) string {
	path, err := exec.LookPath(name)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return ""
	}
	path, _ = filepath.Abs(path) // fails without a working directory
	if folder, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(folder, filepath.Base(path))
	}
	return path
}

// relativeTo returns the path of a file relative to dir, which contains the file.
func relativeTo(dir, path string) string {
	return strings.TrimPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
