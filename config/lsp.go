package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"buddy/texts"
)

// LanguageServer holds one section [lsp.NAME]: a program that reports mistakes in files. Settings that are missing are
// those of the built-in server with that name, if there is one.
type LanguageServer struct {
	Name      string
	Command   []string // program and arguments
	Languages []string // ".go=go": the extension of files and the protocol's name of the language
	Roots     []string // names of files that mark the folder in which the server starts
	Settings  string   // JSON that the server gets on request; "" for none
	Init      string   // JSON, its initializationOptions; "" for none
	Enabled   bool
	Outside   bool // runs outside the sandbox in auto mode, too
}

// LanguageServer returns the server with a name.
func (c *Config) LanguageServer(name string) (LanguageServer, bool) {
	return first(c.LSP, func(s LanguageServer) bool { return s.Name == name })
}

var lspName = texts.Regexp(`^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$`)

// CheckLSPName accepts names of language servers.
func CheckLSPName(name string) error {
	if !lspName().MatchString(name) {
		return fmt.Errorf("%q is not a name for a language server (allowed: up to 40 letters, digits, '.', '_' and '-')", name)
	}
	return nil
}

// lspSection has tables by name, like the section of MCP servers.
var lspSection = section{
	name: "lsp", named: true,
	doc: "Language servers, which report what an edit has broken (docs/extensions.md). buddy knows several and " +
		"uses them if their program is on the PATH; a section with a known server's name changes only the keys " +
		"that it sets.",
	fields: []field{
		{
			name: "command", short: "list: program, arguments",
			doc: "The server's program and its arguments; the first edit of a file that it checks starts it, without a shell. " +
				"A program in the project needs your trust.",
			pointer: func(c *Config, _ *Profile) any { return &c.lsp().Command },
		},
		{
			name: "extensions", short: "list of `.ENDING=LANGUAGE`",
			doc: "The files that the server checks: each entry is a file ending and the protocol's name for the " +
				"language, such as `[\".go=go\"]`.",
			pointer: func(c *Config, _ *Profile) any { return &c.lsp().Languages },
			check:   checkLanguage,
		},
		{
			name: "roots", short: "list of names",
			doc: "Names of files, such as `go.mod`: the server starts in the nearest folder above the edited file " +
				"that has one of them, otherwise in the working directory.",
			pointer: func(c *Config, _ *Profile) any { return &c.lsp().Roots },
			check:   checkMark,
		},
		{
			name: "settings", short: "JSON",
			doc:     "The answer when the server asks for settings: `'{\"gopls\": {\"staticcheck\": true}}'`.",
			pointer: func(c *Config, _ *Profile) any { return &c.lsp().Settings },
			check:   checkJSON,
		},
		{
			name: "init", short: "JSON",
			doc:     "The options that the server gets when it starts (`initializationOptions`).",
			pointer: func(c *Config, _ *Profile) any { return &c.lsp().Init },
			check:   checkJSON,
		},
		{
			name: "enabled", short: "`true` or `false`",
			doc:     "`false`: buddy never starts it.",
			pointer: func(c *Config, _ *Profile) any { return &c.lsp().Enabled },
		},
		{
			name: "outside", short: "`true` or `false`",
			doc:     "`true`: it runs outside the sandbox in `auto` mode, too.",
			pointer: func(c *Config, _ *Profile) any { return &c.lsp().Outside },
		},
	},
}

// exampleLSP is the language server in the template.
var exampleLSP = LanguageServer{Name: "zls", Command: []string{"zls"}, Languages: []string{".zig=zig"}, Roots: []string{"build.zig"}, Enabled: true}

// checkLanguage accepts an extension of files and a language.
func checkLanguage(v string, _ *file) (string, error) {
	ending, language, ok := strings.Cut(v, "=")
	if !ok || language == "" || len(ending) < 2 || filepath.Ext(ending) != ending || strings.ContainsAny(v, "/ \t\x00") {
		return "", fmt.Errorf(`has %.40q, which is not .ENDING=LANGUAGE (example: ".go=go")`, v)
	}
	return v, nil
}

// checkMark accepts the name of a file, without a folder.
func checkMark(v string, _ *file) (string, error) {
	if v == "" || v == "." || v == ".." || strings.ContainsAny(v, "/\x00") {
		return "", fmt.Errorf(`has %.40q, which is not the name of a file (example: "go.mod")`, v)
	}
	return v, nil
}

// checkJSON accepts a JSON object.
func checkJSON(v string, _ *file) (string, error) {
	var object map[string]any
	if v != "" && json.Unmarshal([]byte(v), &object) != nil {
		return "", errors.New(`is not an object of JSON (example: '{"check": true}')`)
	}
	return v, nil
}

// lsp returns the server whose section is being read, or an empty one for the reference.
func (c *Config) lsp() *LanguageServer {
	if c == nil || len(c.LSP) == 0 {
		return &LanguageServer{}
	}
	return &c.LSP[c.at]
}

// languageServer selects the server that lsp returns, by its name, and adds it if it is new.
func (l *loader) languageServer(name, place string) {
	c := &l.cfg
	c.at = slices.IndexFunc(c.LSP, func(s LanguageServer) bool { return s.Name == name })
	if c.at < 0 {
		c.at = len(c.LSP)
		c.LSP = append(c.LSP, LanguageServer{Name: name, Enabled: true})
		l.index[Path(lspSection.name, name)] = place
	}
}

// lspSettings returns the settings of a server that are not the defaults.
func (c *Config) lspSettings(s section, i int, index Index) []Setting {
	one := &Config{LSP: c.LSP[i : i+1]}
	name := one.LSP[0].Name
	usual := &Config{LSP: []LanguageServer{{Name: name, Enabled: true}}}
	var all []Setting
	for _, f := range s.fields {
		if !same(f.pointer(one, nil), f.pointer(usual, nil)) {
			all = append(all, newSetting(header(s.name, name), index, f.pointer(one, nil), s.name, name, f.name))
		}
	}
	return all
}

// changedLSP returns the names of servers that differ in any setting.
func changedLSP(a, b *Config) []string {
	var keys []string
	for _, s := range a.LSP {
		other, there := b.LanguageServer(s.Name)
		one, two := &Config{LSP: []LanguageServer{s}}, &Config{LSP: []LanguageServer{other}}
		changed := func(f field) bool { return !same(f.pointer(one, nil), f.pointer(two, nil)) }
		if !there || slices.ContainsFunc(lspSection.fields, changed) {
			keys = append(keys, Path(lspSection.name, s.Name))
		}
	}
	for _, s := range b.LSP {
		if _, ok := a.LanguageServer(s.Name); !ok {
			keys = append(keys, Path(lspSection.name, s.Name))
		}
	}
	return keys
}
