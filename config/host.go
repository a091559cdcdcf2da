package config

var hostSection = section{
	name: "host", // the person's own: a project must not decide who may control a session
	doc:  "The process that runs a session, and which programs may control it.",
	fields: []field{
		{
			name: "without_terminal", short: "`true` or `false`",
			doc: "Whether your programs without a terminal, such as cron jobs, may do everything with a session that a " +
				"screen may. Otherwise only the program that started the session may; other programs may only watch and " +
				"stop it. This never applies to programs that buddy itself has started.",
			pointer: func(c *Config, _ *Profile) any { return &c.Host.WithoutTerminal },
		},
	},
}
