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
	doc: "The fence: where commands may write and what they reach. Mode `auto` runs commands in it, and so can " +
		"commands that you approve (`mode`). It is Linux's bubblewrap, or macOS's sandbox where buddy's self-test has passed, for commands on this machine; " +
		"`buddy doctor` says whether it holds here. Inside, the system is read-only, the home folder but for named settings and toolchains is not there, and /tmp, the " +
		"processes and the loopback are the command's own.",
	fields: []field{
		{
			name: "mode", short: "`off` or `workspace`",
			doc: "`workspace`: commands that you approve run in the sandbox, too. Where it can't work buddy says so once and runs " +
				"them without it. A command that asks to run outside shows that in its approval.",
			pointer: func(c *Config, _ *Profile) any { return &c.Sandbox.Mode },
			check:   oneOf("value", "off", "workspace"),
		},
		{
			name: "network", short: "`on` or `off`",
			doc:     "`off`: commands reach nothing but a loopback of their own. `on`: they reach what you reach, services of this machine included.",
			pointer: func(c *Config, _ *Profile) any { return &c.Sandbox.Network },
			check:   oneOf("value", "on", "off"),
		},
		{
			name: "allow_hosts", short: "names",
			doc: "Names that commands reach although the network is off, such as `packages.example.org` or `*.example.org`, through a proxy " +
				"(HTTP_PROXY, HTTPS_PROXY). A name that leads to this machine or a private network is refused. " +
				"In mode `auto` you are asked about other names.",
			pointer: func(c *Config, _ *Profile) any { return &c.Sandbox.AllowHosts },
			check:   checkHostName,
		},
		{
			name: "write", short: "paths",
			doc:     "More folders that commands may write to, such as `~/shop-data`. Programs there are not found by name for what buddy starts unasked.",
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
