package project

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"time"

	"buddy/config"
	"buddy/extensions/plugin"
	"buddy/features/lsp"
	"buddy/texts"
)

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

// languageServersOf returns the language servers of plugins. The servers of an untrusted plugin have a Problem. If
// failed is not nil, all servers have it as their Problem.
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
			problem = Check{f.part, f.state}.untrusted("its plugin", TrustFirst)
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

// pluginLanguages reads the language servers of a plugin from the texts that its fingerprint covers.
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
