package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"buddy/agent/settings"
	"buddy/texts"
)

// MCPServer holds one section [mcp.NAME]: a server whose tools the model may call.
type MCPServer struct {
	Name    string
	Command []string // program and arguments; either this or URL
	URL     string
	Type    string   // stdio, http or sse; "" is derived from command and url
	Env     []string // NAME=value, additions to the program's minimal environment
	PassEnv []string // names of variables of buddy's environment that the program gets
	Headers []string // "Name: value", sent with every request
	Bearer  string   // bearer_env: the variable with the token for every request
	OAuth   MCPOAuth
	Cwd     string // where the program runs; "" = the working directory
	Enabled bool
	Outside bool     // a project's server runs outside the sandbox in auto mode, too
	Always  bool     // the model gets the complete definitions of its tools
	Trust   bool     // trust_hints: the server's hints about its tools decide whether calls need approval
	Tools   []string // patterns of names; empty: all
	Deny    []string // patterns of excluded names
	Era     string   // protocol: auto or legacy
	settings.MCPTimes
}

// MCPOAuth holds the settings of a login at a server (buddy mcp login).
type MCPOAuth struct {
	ClientID  string
	SecretEnv string // the variable with the secret of that client; "" for none
	Port      int    // callback_port
	Scopes    []string
}

// NewMCPServer returns a server with the defaults.
func NewMCPServer(name string) MCPServer {
	return MCPServer{Name: name, Enabled: true, Era: "auto", MCPTimes: settings.MCPTimes{}.WithDefaults()}
}

// MCPServer returns the server with a name.
func (c *Config) MCPServer(name string) (MCPServer, bool) {
	return first(c.MCP, func(s MCPServer) bool { return s.Name == name })
}

var mcpName = texts.Regexp(`^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$`)

// CheckMCPName accepts names of servers, which become part of the names of their tools.
func CheckMCPName(name string) error {
	switch {
	case !mcpName().MatchString(name):
		return fmt.Errorf("%q is not a name for a server (allowed: up to 40 letters, digits, '.', '_' and '-')", name)
	case strings.Contains(name, "__"):
		return fmt.Errorf("%q has two underscores in a row, which separate it from its tools' names (choose another name)", name)
	}
	return nil
}

// mcpSection has tables by name, like the section of targets.
var mcpSection = section{
	name: "mcp", named: true,
	doc: "MCP servers, whose tools the model finds with `tool_search`. Each needs exactly one of `command` and " +
		"`url`. A project's servers are in its `.mcp.json`, never here.",
	fields: []field{
		{
			name: "command", short: "list: program, arguments",
			doc:     "The server's program and its arguments; buddy starts it without a shell.",
			pointer: func(c *Config, _ *Profile) any { return &c.mcp().Command },
		},
		{
			name: "url", short: "http or https URL",
			doc:     "The URL of a server that is already running.",
			pointer: func(c *Config, _ *Profile) any { return &c.mcp().URL },
			check:   func(v string, _ *file) (string, error) { return cleanURL(v, true) },
		},
		{
			name: "type", short: "`stdio`, `http` or `sse`",
			doc: "The transport. If unset: `stdio` for a command, `http` (streamable) for a URL. Old servers need " +
				"`sse`.",
			pointer: func(c *Config, _ *Profile) any { return &c.mcp().Type },
			check:   oneOf("transport", "stdio", "http", "sse"),
		},
		{
			name: "env", short: "list of `NAME=value`",
			doc: "Variables for the program. The program gets these, `pass_env`, and your HOME, PATH, SHELL, TERM, USER, " +
				"LOGNAME, LANG, LC_*, TMPDIR and XDG_*; nothing else.",
			pointer: func(c *Config, _ *Profile) any { return &c.mcp().Env },
			check:   checkAssignment,
		},
		{
			name: "pass_env", short: "list of names",
			doc:     "Names of more variables from your environment that the program gets.",
			pointer: func(c *Config, _ *Profile) any { return &c.mcp().PassEnv },
			check:   checkEnvName,
		},
		{
			name: "headers", short: "list of `Name: value`",
			doc:     "Headers of every request. A token belongs in `bearer_env`.",
			pointer: func(c *Config, _ *Profile) any { return &c.mcp().Headers },
			check:   checkMCPHeader,
		},
		{
			name: "bearer_env", short: "name of a variable",
			doc:     "The variable with the token that every request carries as `Authorization: Bearer`.",
			pointer: func(c *Config, _ *Profile) any { return &c.mcp().Bearer },
			check:   checkEnvName,
		},
		{
			name: "oauth_client_id", short: "text",
			doc: "For `buddy mcp login`: the client id that the server's issuer knows. If unset, buddy registers " +
				"itself.",
			pointer: func(c *Config, _ *Profile) any { return &c.mcp().OAuth.ClientID },
		},
		{
			name: "oauth_client_secret_env", short: "name of a variable",
			doc:     "For `buddy mcp login`: the variable with that client's secret, if it has one.",
			pointer: func(c *Config, _ *Profile) any { return &c.mcp().OAuth.SecretEnv },
			check:   checkEnvName,
		},
		{
			name: "oauth_callback_port", short: "1 to 65535",
			doc:     "For `buddy mcp login`: the local port to which the browser is redirected; if unset, any free port.",
			pointer: func(c *Config, _ *Profile) any { return &c.mcp().OAuth.Port }, most: 65535,
		},
		{
			name: "oauth_scopes", short: "list",
			doc:     "For `buddy mcp login`: scopes to request in addition to those that the server names.",
			pointer: func(c *Config, _ *Profile) any { return &c.mcp().OAuth.Scopes },
		},
		{
			name: "cwd", short: "path",
			doc:     "The folder in which the program runs; without it, the working directory.",
			pointer: func(c *Config, _ *Profile) any { return &c.mcp().Cwd },
			check:   checkPath,
		},
		{
			name: "enabled", short: "`true` or `false`",
			doc:     "Whether the server starts with a session; `/mcp` switches it on and off.",
			pointer: func(c *Config, _ *Profile) any { return &c.mcp().Enabled },
		},
		{
			name: "outside", short: "`true` or `false`",
			doc: "`true`: the server of this name in a project's `.mcp.json` runs outside the sandbox, even in `auto` " +
				"mode; the section may have no other key. Your own servers always run outside.",
			pointer: func(c *Config, _ *Profile) any { return &c.mcp().Outside },
		},
		{
			name: "always", short: "`true` or `false`",
			doc: "`true`: the model gets the server's tools in full, ready to call, instead of finding them by a " +
				"search.",
			pointer: func(c *Config, _ *Profile) any { return &c.mcp().Always },
		},
		{
			name: "trust_hints", short: "`true` or `false`",
			doc: "`true`: tools that the server describes as read-only need no approval. Servers are often wrong about " +
				"that. It has no effect in `strict` mode, and none for a project's server.",
			pointer: func(c *Config, _ *Profile) any { return &c.mcp().Trust },
		},
		{
			name: "tools", short: "list of patterns",
			doc:     "buddy uses only tools whose names match one of these; `*` matches any text. Empty means all tools.",
			pointer: func(c *Config, _ *Profile) any { return &c.mcp().Tools },
		},
		{
			name: "deny", short: "list of patterns",
			doc:     "Tools that buddy leaves out.",
			pointer: func(c *Config, _ *Profile) any { return &c.mcp().Deny },
		},
		{
			name: "start_timeout", short: "seconds, 1 to 3600",
			doc: "How long the server may take to start and list its tools; if unset, 60. Only calls to this server " +
				"wait for it.",
			pointer: func(c *Config, _ *Profile) any { return seconds{&c.mcp().StartTimeout} }, most: 3600,
		},
		{
			name: "timeout", short: "seconds, 1 to 86400",
			doc:     "How long one call may take; if unset, 600.",
			pointer: func(c *Config, _ *Profile) any { return seconds{&c.mcp().Timeout} }, most: 86400,
		},
		{
			name: "idle", short: "seconds, 1 to 86400",
			doc:     "How long a call may run without a result or a progress report; if unset, 300.",
			pointer: func(c *Config, _ *Profile) any { return seconds{&c.mcp().Idle} }, most: 86400,
		},
		{
			name: "protocol", short: "`auto` or `legacy`",
			doc: "`legacy` starts with the handshake of protocol versions up to 2025-11-25, for servers that accept " +
				"no other first request.",
			pointer: func(c *Config, _ *Profile) any { return &c.mcp().Era },
			check:   oneOf("protocol", "auto", "legacy"),
		},
	},
}

// exampleMCP is the server in the template.
var exampleMCP = MCPServer{Name: "files", Command: []string{"npx", "-y", "@modelcontextprotocol/server-filesystem", "/srv/docs"}, Enabled: true}

// checkAssignment accepts NAME=value. Errors do not repeat a value.
func checkAssignment(v string, _ *file) (string, error) {
	name, value, ok := strings.Cut(v, "=")
	if _, err := checkEnvName(name, nil); err != nil || !ok || strings.Contains(value, "\x00") {
		return "", errors.New(`has an entry that is not NAME=value (example: "LOG_LEVEL=info")`)
	}
	return v, nil
}

// checkMCPHeader accepts a header whose name does not conflict with a request's own headers.
func checkMCPHeader(v string, _ *file) (string, error) {
	name, value, ok := strings.Cut(v, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	switch {
	case !ok || !httpguts.ValidHeaderFieldName(name):
		return "", errors.New(`has an entry that is not a header (example: "X-Team: shop")`)
	case !httpguts.ValidHeaderFieldValue(value):
		return "", fmt.Errorf("the value of %s has characters that are not allowed in a header", name)
	case slices.ContainsFunc([]string{"Host", "Content-Type", "Content-Length", "Accept", "Accept-Encoding", "Transfer-Encoding", "Connection"}, func(own string) bool { return strings.EqualFold(name, own) }),
		strings.HasPrefix(strings.ToLower(name), "mcp-"):
		return "", fmt.Errorf("%s can't be set here: the protocol sets it", name)
	}
	return name + ": " + value, nil
}

// mcp returns the server whose section is being read, or an empty one for the reference.
func (c *Config) mcp() *MCPServer {
	if c == nil || len(c.MCP) == 0 {
		return &MCPServer{}
	}
	return &c.MCP[c.at]
}

// mcpServer selects the server that mcp returns, by its name, and adds it if it is new.
func (l *loader) mcpServer(name, place string) {
	c := &l.cfg
	c.at = slices.IndexFunc(c.MCP, func(s MCPServer) bool { return s.Name == name })
	if c.at < 0 {
		c.at = len(c.MCP)
		c.MCP = append(c.MCP, NewMCPServer(name))
		l.index[Path(mcpSection.name, name)] = place
	}
}

// Check returns an error about a server as a whole.
func (s MCPServer) Check() error {
	program, address := len(s.Command) > 0, s.URL != ""
	switch {
	case !program && !address && s.Outside:
		return nil
	case !program && !address:
		return errors.New("has neither command nor url (allowed: one of them)")
	case program && address:
		return errors.New("has both command and url (allowed: one of them)")
	case program:
		return s.checkProgram()
	case s.Type == "stdio":
		return errors.New("has a url, so its type is not stdio (allowed: http, sse)")
	case len(s.Env) > 0 || len(s.PassEnv) > 0 || s.Cwd != "":
		return errors.New("env, pass_env and cwd need a command")
	}
	return nil
}

// CheckSent returns an error about a server that another program has sent. Its entries, unlike those of a settings
// file, have not been checked yet.
func (s MCPServer) CheckSent() error {
	for _, v := range s.Env {
		if _, err := checkAssignment(v, nil); err != nil {
			return fmt.Errorf("env %w", err)
		}
	}
	for _, h := range s.Headers {
		if _, err := checkMCPHeader(h, nil); err != nil {
			return fmt.Errorf("headers: %w", err)
		}
	}
	return s.Check()
}

// checkProgram returns an error about a server with a command.
func (s MCPServer) checkProgram() error {
	switch {
	case s.Command[0] == "":
		return errors.New("command names no program")
	case s.Type == "http" || s.Type == "sse":
		return fmt.Errorf("has a command, so its type is not %s (allowed: stdio)", s.Type)
	case len(s.Headers) > 0 || s.Bearer != "":
		return errors.New("headers and bearer_env need a url")
	}
	return nil
}

// mcpSettings returns the settings of a server that are not the defaults.
func (c *Config) mcpSettings(s section, i int, index Index) []Setting {
	one := &Config{MCP: c.MCP[i : i+1]}
	plain := NewMCPServer(one.MCP[0].Name)
	usual := &Config{MCP: []MCPServer{plain}}
	var all []Setting
	for _, f := range s.fields {
		if !same(f.pointer(one, nil), f.pointer(usual, nil)) {
			all = append(all, newSetting(header(s.name, plain.Name), index, f.pointer(one, nil), s.name, plain.Name, f.name))
		}
	}
	return all
}

// AddMCPServer adds a server to a person's file, which must have none with that name.
func AddMCPServer(path string, s MCPServer) error {
	usual := &Config{MCP: []MCPServer{NewMCPServer(s.Name)}}
	one := &Config{MCP: []MCPServer{s}}
	return changeFile(path, func(d *Document) error {
		if _, taken := d.Check().Config.MCPServer(s.Name); taken {
			return fmt.Errorf("there is a server %q already", s.Name)
		}
		for _, f := range mcpSection.fields {
			at := f.pointer(one, nil)
			if same(at, f.pointer(usual, nil)) {
				continue
			}
			var values []string
			if list, ok := at.(*[]string); ok {
				values = *list
			} else {
				values = []string{strings.Trim(literal(at), `"`)}
				if text, ok := at.(*string); ok {
					values[0] = *text
				}
			}
			if err := d.Set(Path(mcpSection.name, s.Name, f.name), values); err != nil {
				return err
			}
		}
		return nil
	})
}

// RemoveMCPServer removes a server from a person's file and reports whether it existed.
func RemoveMCPServer(path, name string) (found bool, err error) {
	err = changeFile(path, func(d *Document) error {
		if _, found = d.Check().Config.MCPServer(name); !found {
			return nil
		}
		return d.removeTable(mcpSection.name, name)
	})
	return found, err
}
