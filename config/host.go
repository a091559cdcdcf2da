package config

var hostSection = section{
	name: "host", // the person's own: a project must not decide who may control a session
	doc:  "The process that runs a session, and who may speak to it.",
	fields: []field{
		{
			name: "without_terminal", short: "`true` or `false`",
			doc: "Programs of yours that have no terminal, such as a job of cron, may do with a session all that a screen may. Otherwise they " +
				"watch it and stop it, but for the one that started it. Programs that buddy itself has started never may.",
			pointer: func(c *Config, _ *Profile) any { return &c.Host.WithoutTerminal },
		},
	},
}
