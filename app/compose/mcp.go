package compose

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/adrg/xdg"

	"buddy/agent/redact"
	"buddy/app/slash"
	"buddy/app/version"
	"buddy/config"
	"buddy/features/mcp"
	"buddy/texts/proxies"
	"buddy/texts/searchpath"
	"buddy/texts/secretvariable"
	"buddy/tools"
	"buddy/tools/web"
)

// mcpState returns the folder with the state of MCP servers and the approved versions of their tools.
func mcpState() string { return filepath.Join(xdg.StateHome, "buddy", "mcp") }

// newServers returns the MCP servers of the session, not started. It reads only the settings and the project's
// .mcp.json.
func (p *Program) newServers(deferred *tools.Deferred, secret *redact.Redactor) (*mcp.Servers, error) {
	all, err := p.Project().Servers()
	if err != nil {
		return nil, err
	}
	var folders []string
	if p.Target == slash.ThisMachine {
		folders = append([]string{p.Env.Dir}, p.Env.Also...)
	}
	return mcp.New(mcp.Options{
		Servers: all, Deferred: deferred, Folders: folders, State: mcpState(), Version: version.Number, Publish: p.Live.Publish,
		HTTP:   serverClient(all),
		Secret: func(arguments string) bool { return secret.Text(arguments) != arguments },
		Open:   OpenBrowser, Login: serverLogin,
		Checked: p.Project().CheckedServer, Hold: starter{p}.holdServer, Env: starter{p}.startEnv(),
	}), nil
}

// addServers adds an editor's servers to the settings. A server in the settings has priority over the editor's server
// of the same name, unless it has neither a command nor a URL. Such a section only changes options of a project's
// server.
func addServers(c *config.Config, all []config.MCPServer) {
	c.MCP = slices.Clone(c.MCP)
	for _, s := range all {
		i := slices.IndexFunc(c.MCP, func(set config.MCPServer) bool { return set.Name == s.Name })
		if i < 0 {
			c.MCP = append(c.MCP, s)
		} else if set := c.MCP[i]; len(set.Command) == 0 && set.URL == "" {
			c.MCP[i] = s
		}
	}
}

// serverClient returns the HTTP client for servers with URLs. It connects only to public addresses and to the hosts of
// configured or trusted servers.
func serverClient(all []mcp.Server) *http.Client {
	guarded := web.NewClient(web.Options{Proxy: proxies.FromEnvironment()})
	return &http.Client{Transport: guarded.Transport(localServers(all)...)}
}

// webClient returns the client of the tools for the web.
func webClient(s config.Search) *web.Client {
	return web.NewClient(web.Options{Proxy: proxies.FromEnvironment(), Search: web.Search{
		Engine: s.Engine, URL: s.Server(), Hits: s.Hits, KeyName: s.KeyName(), Key: s.Key,
	}})
}

// localServers returns the hosts of configured or trusted servers with URLs, which may be on this machine or its
// network.
func localServers(all []mcp.Server) []string {
	var hosts []string
	for _, s := range all {
		if s.Transport != mcp.Stdio && s.Problem == "" {
			hosts = append(hosts, hostOf(s.Endpoint.URL))
		}
	}
	return hosts
}

// serverSecrets returns the credentials that servers get, to redact them in results.
func (p *Program) serverSecrets() []string {
	var all []string
	for _, c := range p.Config.MCP {
		for _, v := range c.Env {
			if name, value, _ := strings.Cut(v, "="); secretvariable.Find(name) != "" {
				all = append(all, value)
			}
		}
		for _, h := range c.Headers {
			if name, value, _ := strings.Cut(h, ": "); secretvariable.Find(name) != "" {
				all = append(all, strings.TrimPrefix(value, "Bearer "))
			}
		}
		for _, name := range append(slices.Clone(c.PassEnv), c.Bearer, c.OAuth.SecretEnv) {
			if secretvariable.Find(name) != "" || name == c.Bearer || name == c.OAuth.SecretEnv {
				all = append(all, os.Getenv(name))
			}
		}
	}
	if stored, err := config.Auth().Read(); err == nil { // logins that can't be read are not used
		for _, t := range stored.Logins {
			all = append(all, t.Access, t.Refresh)
		}
	}
	return slices.DeleteFunc(all, func(v string) bool { return len(v) < 8 })
}

// hostOf returns the host of a URL, "" if it has none.
func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// openTime limits starting a browser.
const openTime = 10 * time.Second

// OpenBrowser opens an address in the user's browser.
func OpenBrowser(address string) error {
	program := "xdg-open"
	if runtime.GOOS == "darwin" {
		program = "open"
	}
	ctx, cancel := context.WithTimeout(context.Background(), openTime)
	defer cancel()
	return searchpath.Command(ctx, program, address).Run()
}
