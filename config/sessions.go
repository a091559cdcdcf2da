package config

var sessionsSection = section{
	name: "sessions", // the person's own: a project must not decide how long programs stay
	doc:  "Where sessions are stored, and how long they keep running while nobody is attached.",
	fields: []field{
		{
			name: "location", short: "`auto`, `state` or `project`",
			doc: "`state`: a folder for each project in `~/.local/state/buddy/projects`, which outlives the checkout. " +
				"`project`: `.buddyx` in the working directory. `auto`: `project` in a container that mounts the project " +
				"but not the state folder, otherwise `state`.",
			pointer: func(c *Config, _ *Profile) any { return &c.Sessions.Location },
			check:   oneOf("location", "auto", "state", "project"),
		},
		{
			name: "outputs", short: "MB, 1 to 1000000", most: 1_000_000,
			doc: "The maximum disk space for the whole outputs of commands in all sessions of a project. Above this " +
				"limit, buddy removes the outputs of the least recently used sessions; in sessions that are in use, it " +
				"replaces the oldest outputs of finished commands by a line that says so. It always removes the outputs of " +
				"sessions unused for 90 days.",
			pointer: func(c *Config, _ *Profile) any { return &c.Sessions.Outputs },
		},
		{
			name: "idle_exit", short: "minutes, 0 or more",
			doc: "How long a session keeps running while nobody is attached and nothing runs or waits in it. Sessions " +
				"are always saved: `buddy resume` continues one later.",
			pointer: func(c *Config, _ *Profile) any { return &c.Sessions.IdleExit },
		},
		{
			name: "approval_wait", short: "minutes, 0 or more",
			doc: "How long an approval waits while nobody is attached before buddy denies it; 0 means forever. " +
				"Questions always wait.",
			pointer: func(c *Config, _ *Profile) any { return &c.Sessions.ApprovalWait },
		},
	},
}
