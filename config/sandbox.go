package config

import (
	"errors"
	"strings"

	"buddy/texts"
)

// Sandbox holds the section [sandbox]: the workspace sandbox.
type Sandbox struct {
	Mode       string   // off or workspace
	Network    string   // on or off
	AllowHosts []string // names that commands may connect to although the network is off
	Write      []string // additional writable paths, absolute
	Hide       []string // absolute paths that appear empty
}

var sandboxSection = section{
	name: "sandbox", access: personal,
	doc: "The sandbox: where commands may write and what they can reach. In `auto` mode commands run in it; with " +
		"`mode = \"workspace\"`, commands that you approve do, too. It works for commands on this machine and uses bubblewrap on " +
		"Linux, and macOS's own sandbox where buddy's self-test has passed; `buddy doctor` says whether it works " +
		"here. Inside, the system is read-only, the home folder is hidden except for certain settings and " +
		"toolchains, and a command has its own /tmp, processes and loopback.",
	fields: []field{
		{
			name: "mode", short: "`off` or `workspace`",
			doc: "`workspace`: commands that you approve run in the sandbox, too. Where the sandbox can't work, buddy " +
				"says so once and runs them without it. If the model asks to run a command outside, the approval says so.",
			pointer: func(c *Config, _ *Profile) any { return &c.Sandbox.Mode },
			check:   oneOf("value", "off", "workspace"),
		},
		{
			name: "network", short: "`on` or `off`",
			doc: "`off`: commands reach only a loopback of their own. `on`: they reach everything that you can, " +
				"including services on this machine.",
			pointer: func(c *Config, _ *Profile) any { return &c.Sandbox.Network },
			check:   oneOf("value", "on", "off"),
		},
		{
			name: "allow_hosts", short: "names",
			doc: "Hosts that commands reach although the network is off, such as `packages.example.org` or " +
				"`*.example.org`, through a proxy (HTTP_PROXY, HTTPS_PROXY). buddy refuses a name that leads to this " +
				"machine or a private network. In `auto` mode, it asks you about other hosts.",
			pointer: func(c *Config, _ *Profile) any { return &c.Sandbox.AllowHosts },
			check:   checkHostName,
		},
		{
			name: "write", short: "paths",
			doc: "More folders that commands may write to, such as `~/shop-data`. buddy never looks there for the " +
				"programs that it starts without asking.",
			pointer: func(c *Config, _ *Profile) any { return &c.Sandbox.Write },
			check:   checkPath,
		},
		{
			name: "hide", short: "paths",
			doc:     "Files and folders that look empty to commands, such as `~/shop/.env`.",
			pointer: func(c *Config, _ *Profile) any { return &c.Sandbox.Hide },
			check:   checkPath,
		},
	},
}

// hostName matches a DNS name with a dot, which may begin with a star.
var hostName = texts.Regexp(`^(\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)+$`)

// checkHostName accepts the name of a host, or *. and a domain, without address, port or path.
func checkHostName(v string, _ *file) (string, error) {
	name := strings.ToLower(strings.TrimSuffix(v, "."))
	if !hostName().MatchString(name) || strings.Trim(name, "0123456789.") == "" {
		return "", errors.New("is not the name of a host, such as packages.example.org or *.example.org")
	}
	return name, nil
}
