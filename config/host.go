package config

var hostSection = section{
	name: "host", // the person's own: a project must not decide who may control a session
	doc:  "The process that runs a session, and which programs may control it.",
	fields: []field{
		{
			name: "without_terminal", short: "`true` or `false`",
			doc: "Whether your programs without a terminal, such as cron jobs, may do everything with a session that a " +
				"screen may. Otherwise they may only watch and stop it, except the program that started it. Programs that " +
				"buddy itself has started never may.",
			pointer: func(c *Config, _ *Profile) any { return &c.Host.WithoutTerminal },
		},
	},
}
