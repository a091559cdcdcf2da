package config

// Sandbox holds the section [sandbox].
type Sandbox struct {
	Mode    string   // off or workspace
	Network string   // on or off
	Write   []string // absolute paths that are writable, too
}

var sandboxSection = section{
	name: "sandbox", access: personal,
	doc: "What commands can't do, even when you approve them by mistake. It is Linux's Landlock, for commands in panes on this " +
		"machine; where it is missing buddy says so once and runs commands without it. It does not restrict reading, Unix " +
		"sockets (tmux, Docker, the SSH agent), UDP, or chmod. Commands that run without approval are restricted further.",
	fields: []field{
		{
			name: "mode", short: "`off` or `workspace`",
			doc: "`workspace`: commands read what you can read, and write only in the folder that buddy was started in, in the " +
				"folders for temporary files and caches, and in `write`.",
			pointer: func(c *Config, _ *Profile) any { return &c.Sandbox.Mode },
			check:   oneOf("value", "off", "workspace"),
		},
		{
			name: "network", short: "`on` or `off`",
			doc:     "`off`: no TCP connections, in or out. Needs Linux 6.7.",
			pointer: func(c *Config, _ *Profile) any { return &c.Sandbox.Network },
			check:   oneOf("value", "on", "off"),
		},
		{
			name: "write", short: "paths",
			doc:     "More folders that commands may write to, such as `~/go`.",
			pointer: func(c *Config, _ *Profile) any { return &c.Sandbox.Write },
			check:   checkPath,
		},
	},
}
