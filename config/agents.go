package config

var agentsSection = section{
	name: "agents", access: trusted,
	doc: "Subagents, to which the model gives parts of the work (docs/extensions.md).",
	fields: []field{
		{
			name: "at_once", most: 50,
			doc:     "How many may work at the same time; more wait. A project's file may only lower it.",
			pointer: func(c *Config, _ *Profile) any { return &c.Agents.AtOnce }, tighter: lower,
		},
		{
			name: "depth", most: 5,
			doc:     "How deep agents may call agents: with 1 only the main agent may. A project's file may only lower it.",
			pointer: func(c *Config, _ *Profile) any { return &c.Agents.Depth }, tighter: lower,
		},
		{
			name: "session", most: 10_000,
			doc:     "How many a session may have in all. A project's file may only lower it.",
			pointer: func(c *Config, _ *Profile) any { return &c.Agents.Session }, tighter: lower,
		},
		{
			name: "turns", most: 1000,
			doc:     "After how many turns one is stopped whose definition does not say it (`maxTurns`). A project's file may only lower it.",
			pointer: func(c *Config, _ *Profile) any { return &c.Agents.Turns }, tighter: lower,
		},
		{
			name: "wake", short: "`true` or `false`",
			doc:     "When one in the background ends, the main agent starts if it is idle. Without it the model learns of the end with your next prompt.",
			pointer: func(c *Config, _ *Profile) any { return &c.Agents.Wake },
		},
	},
}
