package config

var sessionsSection = section{
	name: "sessions", // the person's own: a project must not decide how long programs stay
	doc:  "Where sessions are stored, and how long they stay ready when nobody is attached.",
	fields: []field{
		{
			name: "location", short: "`auto`, `state` or `project`",
			doc: "`state` is a folder for each project in `~/.local/state/buddy/projects`, which outlives the checkout; `project` is " +
				"`.buddyx` in the working directory. `auto` is `state`, but `project` in a container where the project is mounted and the state folder is not.",
			pointer: func(c *Config, _ *Profile) any { return &c.Sessions.Location },
			check:   oneOf("location", "auto", "state", "project"),
		},
		{
			name: "outputs", short: "MB, 1 to 1000000", most: 1_000_000,
			doc: "The most that the whole outputs of commands take on the disk, of all sessions of a project. Beyond that the oldest are removed: those of sessions unused for the " +
				"longest time first, then those of commands that have ended in sessions that are in use, where a line in the file says so. Outputs of a session unused for 90 days are removed in any case.",
			pointer: func(c *Config, _ *Profile) any { return &c.Sessions.Outputs },
		},
		{
			name: "idle_exit", short: "minutes, 0 or more",
			doc: "How long a session stays ready to be attached to when nobody is and nothing runs or waits in it. It is stored " +
				"all the time: `buddy resume` continues it later.",
			pointer: func(c *Config, _ *Profile) any { return &c.Sessions.IdleExit },
		},
		{
			name: "approval_wait", short: "minutes, 0 or more",
			doc: "How long an approval waits while nobody is attached before it is denied; 0 waits for ever. Questions always " +
				"wait.",
			pointer: func(c *Config, _ *Profile) any { return &c.Sessions.ApprovalWait },
		},
	},
}
