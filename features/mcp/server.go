// Package mcp is a client of servers of the Model Context Protocol: it starts or reaches them,
// offers their tools to the model, and keeps what they say within bounds.
//
//	all := mcp.New(mcp.Options{Servers: servers, Deferred: deferred, State: dir, Publish: publish})
//	all.Start() // returns at once; nothing waits for a server but a call of its tools
//	defer all.Close()
//
// A server is a program of somebody: all of its texts are untrusted, and each of its faults ends
// in one state with a reason, which concerns no other server.
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

// Transport names how a server is talked to.
type Transport string

// The transports.
const (
	Stdio Transport = "stdio" // a program that is started, over its standard input and output
	HTTP  Transport = "http"  // streamable HTTP
	SSE   Transport = "sse"   // the HTTP transport of old servers
)

// Server is one configured server.
type Server struct {
	settings.MCPTimes
	Name      string // as CheckMCPName of package config takes it
	Transport Transport
	Process   Process  // Stdio
	Endpoint  Endpoint // HTTP, SSE
	Project   bool     // of a project's file: its hints never count
	Held      bool     // it runs inside the fence in mode auto: its program comes from a project
	Outside   bool     // a person lets it run outside although its program comes from a project
	Hints     bool     // the person believes what it says of its tools
	Always    bool     // the model is told its tools whole
	Legacy    bool     // begin with the handshake of old protocols
	Off       bool     // do not start it until asked
	Tools     []string // patterns of names; empty takes all
	Deny      []string // patterns of names that are left out
	Problem   string   // why it can't be started; "" if it can
}

// Process is the program of a server.
type Process struct {
	Command []string
	Env     []string // NAME=value, beside the minimal environment
	Dir     string
	Copies  string // folder with the copies of files that it runs, removed after it; "" is none
}

// Login holds what a login at a server needs beside its address. The zero value works for most.
type Login struct {
	ClientID string // that the server's issuer knows; "" registers one
	Secret   string // of that client; "" is none
	Port     int    // of this machine, to which the browser returns; 0 is any
	Scopes   []string
}

// Endpoint holds the URL, the login and the headers of a server.
type Endpoint struct {
	URL     string
	Login   Login
	Headers []string // "Name: value"
	// Variables names those of the environment whose values the headers have.
	Variables []string
}

// starts reports whether the server starts by itself.
func (s Server) starts() bool { return !s.Off && s.Problem == "" }

// key identifies the definition of a server in files of the state folder. Values of variables
// and headers are not in it: tokens change.
func (s Server) key() string {
	text, err := json.Marshal([]any{s.Name, s.Transport, s.Process.Command, s.Process.Dir, s.Endpoint.URL, s.Project})
	if err != nil {
		panic(err) // strings can always be written
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// takes reports whether a tool of the server is wanted.
func (s Server) takes(tool string) bool {
	matches := func(pattern string) bool {
		ok, err := path.Match(pattern, strings.ReplaceAll(tool, "/", "_"))
		return err == nil && ok
	}
	return (len(s.Tools) == 0 || slices.ContainsFunc(s.Tools, matches)) && !slices.ContainsFunc(s.Deny, matches)
}

// maxName limits the names of tools, in bytes: providers refuse longer ones.
const maxName = 64

var otherThanName = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// prefix begins the names of a server's tools.
func prefix(server string) string {
	return "mcp__" + otherThanName.ReplaceAllString(server, "_") + "__"
}

// plainName returns the name of a tool for the model, which may be too long or that of another.
func plainName(server, tool string) string {
	return prefix(server) + otherThanName.ReplaceAllString(tool, "_")
}

// hashedName returns a name for a tool that no other tool of the server has: cut, with a hash of
// what the server calls it.
func hashedName(server, tool string) string {
	sum := sha256.Sum256([]byte(tool))
	name := plainName(server, tool)
	const rest = 7
	return name[:min(len(name), maxName-rest)] + "_" + hex.EncodeToString(sum[:])[:rest-1]
}

// modelNames returns the names for the model of a server's tools, in their order. Names that are
// too long or would be the same get a hash, all of them.
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
