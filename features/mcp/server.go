// Package mcp is a client of Model Context Protocol servers. It starts or connects to the servers, offers their tools
// to the model, and limits their output.
//
//	all := mcp.New(mcp.Options{Servers: servers, Deferred: deferred, State: dir, Publish: publish})
//	all.Start() // returns at once; only a call of a server's tools waits for the server
//	defer all.Close()
//
// What a server sends is untrusted. If a server fails, its state shows the reason; other servers are not affected.
package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"buddy/agent/settings"
)

// Transport is the kind of connection to a server.
type Transport string

// The transports.
const (
	Stdio Transport = "stdio" // standard input and output of a program that is started
	HTTP  Transport = "http"  // streamable HTTP
	SSE   Transport = "sse"   // the HTTP transport of old servers
)

// Server is one configured server.
type Server struct {
	settings.MCPTimes
	Name      string // checked by config.CheckMCPName
	Transport Transport
	Process   Process  // Stdio
	Endpoint  Endpoint // HTTP, SSE
	Project   bool     // from a project's file, so its hints never count
	Held      bool     // run it inside the sandbox in auto mode, because its program comes from a project
	Outside   bool     // the person runs it outside the sandbox although its program comes from a project
	Hints     bool     // the person trusts what the server declares about its tools
	Always    bool     // the listing has its tools in full
	Legacy    bool     // start with the handshake of old protocols
	Off       bool     // start it only on demand
	Tools     []string // patterns of tool names; empty: all
	Deny      []string // patterns of tool names to leave out
	Problem   string   // why it can't be started, or ""
}

// Process is the program of a server.
type Process struct {
	Command []string
	Env     []string // NAME=value, added to the minimal environment
	Dir     string
	Copies  string // folder with copies of the files that it runs, removed afterwards; "": none
}

// Login holds the details of a login at a server. The zero value works for most servers.
type Login struct {
	ClientID string // known to the server's issuer; "": register one
	Secret   string // of that client; "": none
	Port     int    // on this machine, for the browser's redirect; 0: any
	Scopes   []string
}

// Endpoint holds the URL, login and headers of a server.
type Endpoint struct {
	URL     string
	Login   Login
	Headers []string // "Name: value"
	// Variables are the names of the environment variables used in the headers.
	Variables []string
}

// starts reports whether the server starts by itself.
func (s Server) starts() bool { return !s.Off && s.Problem == "" }

// key identifies a server in files of the state folder. Variables and headers are left out, because tokens change.
func (s Server) key() string {
	text, err := json.Marshal([]any{s.Name, s.Transport, s.Process.Command, s.Process.Dir, s.Endpoint.URL, s.Project})
	if err != nil {
		panic(err) // can't happen, because strings can always be encoded
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// allows reports whether the settings allow a tool.
func (s Server) allows(tool string) bool {
	matches := func(pattern string) bool {
		ok, err := path.Match(pattern, strings.ReplaceAll(tool, "/", "_"))
		return err == nil && ok
	}
	return (len(s.Tools) == 0 || slices.ContainsFunc(s.Tools, matches)) && !slices.ContainsFunc(s.Deny, matches)
}

// maxName limits tool names, in bytes, because providers refuse longer ones.
const maxName = 64

var otherThanName = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// prefix starts the names of a server's tools.
func prefix(server string) string {
	return "mcp__" + otherThanName.ReplaceAllString(server, "_") + "__"
}

// plainName returns the model's name for a tool, which may be too long or not unique.
func plainName(server, tool string) string {
	return prefix(server) + otherThanName.ReplaceAllString(tool, "_")
}

// hashedName returns a unique name for a tool: the plain name, cut if necessary, followed by a hash of the name that
// the server uses.
func hashedName(server, tool string) string {
	sum := sha256.Sum256([]byte(tool))
	name := plainName(server, tool)
	const rest = 7
	return name[:min(len(name), maxName-rest)] + "_" + hex.EncodeToString(sum[:])[:rest-1]
}

// modelNames returns the model's names for a server's tools, in order. Names that are too long or not unique get a
// hash.
func modelNames(server string, names []string) []string {
	seen := make(map[string]int)
	for _, n := range names {
		seen[plainName(server, n)]++
	}
	all := make([]string, len(names))
	for i, n := range names {
		if all[i] = plainName(server, n); seen[all[i]] > 1 || len(all[i]) > maxName {
			all[i] = hashedName(server, n)
		}
	}
	return all
}
