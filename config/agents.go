package config

var agentsSection = section{
	name: "agents", access: trusted,
	doc: "Subagents, which do parts of the work for the model (docs/extensions.md).",
	fields: []field{
		{
			name: "at_once", most: 50,
			doc:     "How many subagents may work at the same time; others wait. A project's file may only lower it.",
			pointer: func(c *Config, _ *Profile) any { return &c.Agents.AtOnce }, tighter: lower,
		},
		{
			name: "depth", most: 5,
			doc: "How many levels deep agents may call agents: with 1, only the main agent may. A project's file " +
				"may only lower it.",
			pointer: func(c *Config, _ *Profile) any { return &c.Agents.Depth }, tighter: lower,
		},
		{
			name: "session", most: 10_000,
			doc:     "How many subagents a session may have in total. A project's file may only lower it.",
			pointer: func(c *Config, _ *Profile) any { return &c.Agents.Session }, tighter: lower,
		},
		{
			name: "turns", most: 1000,
			doc: "The maximum number of turns of a subagent whose definition sets no limit (`maxTurns`). A project's file may " +
				"only lower it.",
			pointer: func(c *Config, _ *Profile) any { return &c.Agents.Turns }, tighter: lower,
		},
		{
			name: "wake", short: "`true` or `false`",
			doc: "Whether the end of a background subagent starts the main agent if the main agent is idle. Otherwise, " +
				"the model learns of the end with your next prompt.",
			pointer: func(c *Config, _ *Profile) any { return &c.Agents.Wake },
		},
	},
}
