package config

var goalSection = section{
	name: "goal", access: trusted,
	doc: "Goals, for which the agent works until a check says that they are met (`/goal`). These are the limits of one that says nothing of them.",
	fields: []field{
		{
			name: "turns", short: "0 or more",
			doc:     "After how many turns the work for a goal pauses; `/goal resume` grants as many again. 0 means no limit. A project's file may only lower it.",
			pointer: func(c *Config, _ *Profile) any { return &c.Goal.Turns }, tighter: lower,
		},
		{
			name: "cost", short: "dollars, 0 or more",
			doc:     "What the work for a goal may cost until it pauses, the agents that it calls included; 0 means no limit. Only requests whose price is known count. A project's file may only lower it.",
			pointer: func(c *Config, _ *Profile) any { return &c.Goal.Cost }, tighter: lower,
		},
		{
			name: "minutes", short: "0 or more",
			doc:     "How long a goal may be worked for until that pauses, the time in which an approval is waiting for you included; 0 means no limit. A project's file may only lower it.",
			pointer: func(c *Config, _ *Profile) any { return &c.Goal.Minutes }, tighter: lower,
		},
		{
			name: "check_minutes", short: "0 or more",
			doc:     "How long the command of a goal may run each time until it is stopped, which counts as not met; 0 means no limit. A project's file may only lower it.",
			pointer: func(c *Config, _ *Profile) any { return &c.Goal.CheckMinutes }, tighter: lower,
		},
	},
}
