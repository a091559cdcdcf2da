package compose

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"buddy/agent/event"
	"buddy/agent/inject"
	"buddy/app/slash"
	"buddy/app/version"
	"buddy/config"
	"buddy/extensions/mcp"
	"buddy/texts"
	"buddy/tools/file"
	"buddy/views/markup"
)

// ServerList is the MCP servers of a session, for people.
type ServerList struct {
	servers *mcp.Servers
	there   *file.Workspace // of the target where the session begins; nil reads no project
	target  string          // its name
}

// MCP returns the MCP servers of the session.
func (p *Program) MCP() *ServerList { return &ServerList{p.Servers, p.files.there, p.Target} }

// Do obeys what follows /mcp, and returns what there is to say: a list of the servers, all about
// one of them, or that one is switched on or off.
func (l *ServerList) Do(args string) (string, error) {
	verb, name, _ := strings.Cut(strings.TrimSpace(args), " ")
	name = strings.TrimSpace(name)
	switch {
	case verb == "" || verb == "list":
		all, err := l.statuses()
		return serverList(all), err
	case slices.Contains([]string{"on", "off", "restart"}, verb) && name != "":
		if err := l.servers.Switch(name, verb != "off"); err != nil {
			return "", err
		}
		return map[string]string{"on": "starting ", "off": "ended ", "restart": "starting again "}[verb] + name, nil
	case verb == "prompt" && name != "":
		command, words, _ := strings.Cut(name, " ")
		return l.prompt(command, strings.Fields(words))
	case name != "":
		return "", fmt.Errorf("%q is not known (have: list, NAME, on NAME, off NAME, restart NAME)", verb)
	}
	all, err := l.statuses()
	i := slices.IndexFunc(all, func(s mcp.Status) bool { return s.Name == verb })
	switch {
	case i < 0 && err != nil:
		return "", err
	case i < 0:
		return "", errors.New("there is no MCP server " + verb + "; /mcp lists them")
	case all[i].Elsewhere:
		return serverDetails(all[i]), nil
	}
	return serverDetails(all[i]), l.servers.MarkRead(verb)
}

// Offers returns the MCP servers for a list to choose from.
func (l *ServerList) Offers() ([]slash.Server, error) {
	all, err := l.statuses()
	offers := make([]slash.Server, len(all))
	for i, s := range all {
		offers[i] = slash.Server{
			Name: s.Name, State: string(s.State), Kind: string(s.Transport), Tools: len(s.Tools), Lines: strings.Split(serverDetails(s), "\n"),
			On: s.State != mcp.Off, Fixed: s.Barred,
			Withheld: slices.ContainsFunc(s.Tools, func(t mcp.ToolInfo) bool { return t.Withheld != "" }) || s.Withheld,
		}
		if s.State != mcp.Ready {
			offers[i].Error = s.Error
		}
	}
	return offers, err
}

// prompt returns the text of a server's prompt, as the person's own prompt that says whose
// text it is.
func (l *ServerList) prompt(command string, words []string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), promptTime)
	defer cancel()
	text, err := l.servers.Prompt(ctx, strings.TrimPrefix(command, "/"), words)
	if err != nil {
		return "", err
	}
	found := inject.Scan(text)
	if inject.Worst(found) >= inject.High {
		return "", fmt.Errorf("the text of %s reads like an order of somebody else: it %s: %q", command, found[0].Reason, found[0].Excerpt)
	}
	return strings.TrimSpace("/"+command+" "+strings.Join(words, " ")) + "\n\nThis is a prompt of an MCP server; its text is:\n" + inject.Defuse(text, found), nil
}

// serverList returns a line for each server.
func serverList(all []mcp.Status) string {
	if len(all) == 0 {
		return "no MCP server is configured; buddy mcp add adds one, and a project's .mcp.json may name some"
	}
	lines := []string{"MCP servers:"}
	for _, s := range all {
		lines = append(lines, "  "+serverLine(s))
	}
	return strings.Join(append(lines, "/mcp NAME says all about one; /mcp on|off|restart NAME starts and ends it"), "\n")
}

// serverLine describes a server in a line.
func serverLine(s mcp.Status) string {
	text := fmt.Sprintf("%s  %s  %s", s.Name, s.State, s.Transport)
	if s.State == mcp.Ready {
		text += fmt.Sprintf("  %d tools", len(s.Tools))
		if len(s.Prompts) > 0 {
			text += fmt.Sprintf(", %d prompts", len(s.Prompts))
		}
		if s.Resources > 0 {
			text += fmt.Sprintf(", %d resources", s.Resources)
		}
	}
	if s.Project {
		text += "  of the project"
	}
	if s.Error != "" && s.State != mcp.Ready {
		text += "  " + markup.Plain(s.Error)
	}
	return text
}

// serverDetails returns all that is known of a server.
func serverDetails(s mcp.Status) string {
	lines := []string{serverLine(s), "  " + markup.Plain(s.Where)}
	add := func(what, text string) {
		if text != "" {
			lines = append(lines, "  "+what+": "+markup.Plain(text))
		}
	}
	add("it is", s.Title)
	add("protocol", s.Protocol)
	add("runs", s.Fence)
	add("last error", s.Error)
	for _, n := range s.Notes {
		add("note", n)
	}
	add("it says of itself", s.Instructions)
	for _, t := range s.Tools {
		text := "  " + t.Name
		switch {
		case t.ReadOnly:
			text += "  (it says that this only reads)"
		case t.Destructive:
			text += "  (it says that this destroys)"
		}
		if t.Withheld != "" {
			text += "\n    withheld from the model until now: " + markup.Plain(t.Withheld)
		}
		if t.Description != "" {
			text += "\n    " + strings.ReplaceAll(markup.Plain(texts.ClipBytes(t.Description, maxToolText(t))), "\n", "\n    ")
		}
		lines = append(lines, text)
	}
	for _, p := range s.Prompts {
		add("prompt", "/"+p)
	}
	if tail := strings.TrimSpace(s.Stderr); tail != "" {
		lines = append(lines, "  the end of its log:")
		all := strings.Split(markup.Plain(tail), "\n")
		for _, l := range all[max(0, len(all)-20):] {
			lines = append(lines, "    "+l)
		}
	}
	return strings.Join(lines, "\n")
}

// maxToolText returns how much of a description is shown, in bytes: all of one that a person has
// to read before the model gets it.
func maxToolText(t mcp.ToolInfo) int {
	if t.Withheld != "" {
		return 4000
	}
	return 300
}

// ServersHere returns the MCP servers that a session in this folder would have.
func ServersHere(f *Options) ([]mcp.Server, error) {
	c, _, _, err := LoadConfig(f)
	if err != nil {
		return nil, err
	}
	s := Setup{Config: c, Target: slash.ThisMachine}
	return s.MCPServers()
}

// TryServers starts servers, waits until each is ready or has failed, ends them, and returns what
// became of them.
func TryServers(ctx context.Context, all []mcp.Server) []mcp.Status {
	ready := make(chan struct{})
	servers := mcp.New(mcp.Options{
		Servers: all, State: mcpState(), Version: version.Number, HTTP: serverClient(all), Login: serverLogin,
		Publish: func(e event.Event) {
			if _, ok := e.(event.MCPReady); ok {
				close(ready)
			}
		},
	})
	defer servers.Close()
	servers.Start()
	select {
	case <-ready:
	case <-ctx.Done():
	}
	return servers.List()
}

// ServerText describes a server, for people: in a line, or with all that is known of it.
func ServerText(s mcp.Status, whole bool) string {
	if whole {
		return serverDetails(s)
	}
	return serverLine(s)
}

// ImportedServer is an entry of another program's file.
type ImportedServer struct {
	Server  config.MCPServer
	Problem string // why it can't be taken over; "" if it can
}

// ServersIn reads the servers of a file in the form of .mcp.json.
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

// imported returns the settings of an entry.
func (e serverEntry) imported(name string) (i ImportedServer) {
	i.Server = config.NewMCPServer(name)
	literal := func(text string) string {
		if variableForm.MatchString(text) {
			i.Problem = fmt.Sprintf("it uses a variable in %q, which settings can't: add it with buddy mcp add", text)
		}
		return text
	}
	s := &i.Server
	s.Always, s.URL = e.AlwaysLoad, literal(e.URL)
	if e.Timeout > 0 {
		s.Wall = max(1, e.Timeout/1000)
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

// importValues takes over variables and headers. Those that only pass on a variable of the person
// become settings that name it.
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
