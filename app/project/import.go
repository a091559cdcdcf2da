package project

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"buddy/config"
	"buddy/features/mcp"
)

// ImportedServer is an entry of another program's file.
type ImportedServer struct {
	Server  config.MCPServer
	Problem string // why it can't be imported; "" if it can
}

// ServersIn reads the servers of a file in the format of .mcp.json.
func ServersIn(path string) ([]ImportedServer, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file struct {
		Servers map[string]serverEntry `json:"mcpServers"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(file.Servers) == 0 {
		return nil, fmt.Errorf("%s has no mcpServers", path)
	}
	var all []ImportedServer
	for _, name := range slices.Sorted(maps.Keys(file.Servers)) {
		all = append(all, file.Servers[name].imported(name))
	}
	return all, nil
}

// imported converts an entry to settings.
func (e serverEntry) imported(name string) (i ImportedServer) {
	i.Server = config.NewMCPServer(name)
	literal := func(text string) string {
		if variableForm.MatchString(text) {
			i.Problem = fmt.Sprintf("it uses a variable in %q, which settings don't support: add it with buddy mcp add", text)
		}
		return text
	}
	s := &i.Server
	s.Always, s.URL = e.AlwaysLoad, literal(e.URL)
	if e.Timeout > 0 {
		s.Timeout = max(time.Second, time.Duration(e.Timeout)*time.Millisecond)
	}
	if e.Command != "" {
		s.Command = append([]string{literal(e.Command)}, e.Args...)
		for _, a := range e.Args {
			literal(a)
		}
	}
	e.importValues(s, literal)
	all := e.server(func(string) (string, bool) { return "x", true })
	s.Enabled, s.Tools, s.Deny = !all.Off, all.Tools, all.Deny
	if all.Transport == mcp.SSE {
		s.Type = string(mcp.SSE)
	}
	if all.Problem != "" {
		i.Problem = all.Problem
	}
	if err := errors.Join(config.CheckMCPName(name), s.Check()); err != nil && i.Problem == "" {
		i.Problem = err.Error()
	}
	return i
}

// importValues imports environment variables and headers. If a value only refers to an environment variable, the
// imported setting names the variable.
func (e serverEntry) importValues(s *config.MCPServer, literal func(string) string) {
	for _, key := range slices.Sorted(maps.Keys(e.Env)) {
		if e.Env[key] == "${"+key+"}" {
			s.PassEnv = append(s.PassEnv, key)
		} else {
			s.Env = append(s.Env, key+"="+literal(e.Env[key]))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(e.Headers)) {
		form := variableForm.FindStringSubmatch(e.Headers[key])
		if strings.EqualFold(key, "Authorization") && form != nil && e.Headers[key] == "Bearer "+form[0] && form[2] == "" {
			s.Bearer = form[1]
		} else {
			s.Headers = append(s.Headers, key+": "+literal(e.Headers[key]))
		}
	}
}
