// Package plugin reads the folder of a plugin, in the format of other agents (.claude-plugin/plugin.json). It returns
// the plugin's components and a hash of all its files, from which later changes are detected. It runs nothing.
//
//	p, err := plugin.Read("/home/ann/plugins/tidy")
//	fmt.Println(p.Name, p.Skills, p.Hooks)
//
// The folder may be hostile. Read refuses the plugin if a path or link leads out of the folder, a file is not
// regular, or there are too many or too large files.
package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"buddy/texts"
)

// Manifest is the file in which a plugin describes itself.
const Manifest = ".claude-plugin/plugin.json"

// Limits of a plugin.
const (
	MaxFiles    = 2000
	MaxBytes    = 20 << 20 // of all files
	maxManifest = 256 << 10
	maxAbout    = 1024
)

// Plugin holds the components of a plugin. Paths are absolute and inside its folder, without symbolic links.
type Plugin struct {
	Name      string
	Version   string
	About     string // its description, untrusted text
	Dir       string // its folder, without symbolic links
	Skills    []string
	Commands  []string
	Agents    []string
	Styles    []string // output styles
	Workflows []string
	Hooks     Parts
	Servers   Parts    // MCP servers
	Language  Parts    // LSP servers
	Files     []string // all its files without links, relative to Dir
	Print     string   // SHA-256 of all its files, in hex
}

// Parts holds definitions of programs that a plugin would run: in JSON files, or in its manifest.
type Parts struct {
	Files  []string
	Inline []json.RawMessage // from the manifest
	Texts  []json.RawMessage // all of them as read, since the files may change later
}

// Empty reports whether there are no definitions.
func (p Parts) Empty() bool { return len(p.Texts) == 0 }

// manifest is the file in the format of other agents. Other keys are ignored.
type manifest struct {
	Name        string          `json:"name"`
	Version     string          `json:"version"`
	Description string          `json:"description"`
	Skills      json.RawMessage `json:"skills"`
	Commands    json.RawMessage `json:"commands"`
	Agents      json.RawMessage `json:"agents"`
	Styles      json.RawMessage `json:"outputStyles"`
	Workflows   json.RawMessage `json:"workflows"`
	Hooks       json.RawMessage `json:"hooks"`
	Servers     json.RawMessage `json:"mcpServers"`
	Language    json.RawMessage `json:"lspServers"`
}

// validName matches the plugin name before the colon of "plugin:name".
var validName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

const maxName = 64

// Read reads the plugin in a folder. Components that its manifest does not name are read from their usual places.
func Read(dir string) (Plugin, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return Plugin{}, fmt.Errorf("plugin %q: %w", dir, err)
	}
	p := Plugin{Dir: real}
	if err := p.read(); err != nil {
		return Plugin{}, fmt.Errorf("plugin %q: %w", dir, err)
	}
	return p, nil
}

func (p *Plugin) read() error {
	var err error
	if p.Print, p.Files, err = sum(p.Dir); err != nil {
		return err
	}
	var m manifest
	data, err := small(filepath.Join(p.Dir, Manifest), maxManifest)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return fmt.Errorf("%s: %w", Manifest, err)
	}
	p.Name, p.Version, p.About = m.Name, texts.Clip(texts.OneLine(m.Version), maxName), texts.Clip(texts.OneLine(m.Description), maxAbout)
	if !validName.MatchString(m.Name) || len(m.Name) > maxName {
		return fmt.Errorf("%s: the name %q may contain only a-z, 0-9 and single hyphens, and at most %d characters", Manifest, texts.Clip(m.Name, maxName), maxName)
	}
	for _, c := range []struct {
		key   string
		named json.RawMessage
		usual string
		paths *[]string
	}{
		{"skills", m.Skills, "skills", &p.Skills},
		{"commands", m.Commands, "commands", &p.Commands},
		{"agents", m.Agents, "agents", &p.Agents},
		{"outputStyles", m.Styles, "output-styles", &p.Styles},
		{"workflows", m.Workflows, "workflows", &p.Workflows},
	} {
		parts, err := p.parts(c.key, c.named, c.usual)
		if err != nil {
			return err
		}
		if len(parts.Inline) > 0 {
			return fmt.Errorf("%s: %s must be a path or a list of paths", Manifest, c.key)
		}
		*c.paths = parts.Files
	}
	for _, c := range []struct {
		key   string
		named json.RawMessage
		usual string
		parts *Parts
	}{
		{"hooks", m.Hooks, "hooks/hooks.json", &p.Hooks},
		{"mcpServers", m.Servers, ".mcp.json", &p.Servers},
		{"lspServers", m.Language, ".lsp.json", &p.Language},
	} {
		if *c.parts, err = p.parts(c.key, c.named, c.usual); err != nil {
			return err
		}
		if err := c.parts.read(); err != nil {
			return fmt.Errorf("%s: %w", c.key, err)
		}
	}
	return nil
}

// read reads the definitions. It refuses files in git's own folder, which the hash leaves out.
func (p *Parts) read() error {
	p.Texts = slices.Clone(p.Inline)
	for _, file := range p.Files {
		data, err := small(file, maxManifest)
		if err != nil {
			return err
		}
		p.Texts = append(p.Texts, data)
	}
	for _, definition := range p.Texts {
		if strings.Contains(string(definition), ".git/") {
			return errors.New("a definition names a file in .git, where nobody would see a change")
		}
	}
	return nil
}

// parts reads a key of the manifest: a path, an object, a list of both, or nothing for the usual place.
func (p *Plugin) parts(key string, named json.RawMessage, usual string) (Parts, error) {
	var parts Parts
	if len(named) == 0 || string(named) == "null" {
		at := filepath.Join(p.Dir, usual)
		if _, err := os.Stat(at); err == nil {
			parts.Files = []string{at}
		}
		return parts, nil
	}
	var list []json.RawMessage
	if json.Unmarshal(named, &list) != nil {
		list = []json.RawMessage{named}
	}
	for _, item := range list {
		var path string
		switch {
		case json.Unmarshal(item, &path) == nil:
			at, err := p.inside(path)
			if err != nil {
				return parts, fmt.Errorf("%s: %s: %w", Manifest, key, err)
			}
			parts.Files = append(parts.Files, at)
		case strings.HasPrefix(strings.TrimSpace(string(item)), "{"):
			parts.Inline = append(parts.Inline, item)
		default:
			return parts, fmt.Errorf("%s: %s has a value that is neither a path nor an object", Manifest, key)
		}
	}
	return parts, nil
}

// inside returns the real path of a path in the manifest.
func (p *Plugin) inside(path string) (string, error) {
	path = strings.TrimPrefix(path, "${CLAUDE_PLUGIN_ROOT}/")
	if !filepath.IsLocal(filepath.FromSlash(path)) {
		return "", fmt.Errorf("%q leads out of the plugin's folder", texts.Clip(path, 200))
	}
	at, err := filepath.EvalSymlinks(filepath.Join(p.Dir, path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%q does not exist", texts.Clip(path, 200))
	case err != nil:
		return "", err
	case !texts.Below(at, p.Dir):
		return "", fmt.Errorf("%q leads out of the plugin's folder", texts.Clip(path, 200))
	}
	return at, nil
}

// small reads a regular file of at most max bytes.
func small(path string, max int64) ([]byte, error) {
	info, err := os.Lstat(path)
	name := filepath.Base(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && strings.HasSuffix(path, Manifest):
		return nil, fmt.Errorf("it has no %s", Manifest)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", name)
	case info.Size() > max:
		return nil, fmt.Errorf("%s has %d bytes, more than %d", name, info.Size(), max)
	}
	return os.ReadFile(path)
}
