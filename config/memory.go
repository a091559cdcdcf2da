package config

// Memory holds the section [memory].
type Memory struct {
	Enabled bool // whether any of it is read, written or told
	Observe bool // whether results and corrections are kept, and rules are learned from them
	Limit   int  // bytes that a model is told at a session's start
}

var memorySection = section{
	name: "memory", access: personal,
	doc: "What buddy remembers from one session to the next (docs/memory.md).",
	fields: []field{
		{
			name: "enabled", short: "`true` or `false`",
			doc:     "Whether there is a memory. `false` reads and writes none of its files.",
			pointer: func(c *Config, _ *Profile) any { return &c.Memory.Enabled },
		},
		{
			name: "observe", short: "`true` or `false`",
			doc: "Whether buddy keeps, with the sessions of the project, what tools said and what you denied, changed or took back, and learns rules " +
				"from it. Without it memory has what you write, and nothing else.",
			pointer: func(c *Config, _ *Profile) any { return &c.Memory.Observe },
		},
		{
			name: "limit", short: "bytes, 1 to 4096", most: 4096,
			doc:     "How much of its memory a model is told at the start of a session. What does not fit is left out, the least supported first.",
			pointer: func(c *Config, _ *Profile) any { return &c.Memory.Limit },
		},
	},
}
