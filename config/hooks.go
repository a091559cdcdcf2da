package config

// Hooks holds the section [hooks].
type Hooks struct {
	Enabled bool
	Also    []string // hook files of other programs
}

var hooksSection = section{
	name: "hooks", access: personal,
	doc: "Programs that run at certain moments of a session, from `hooks.json` in the folder of these settings and `.buddy/hooks.json` of a " +
		"project (after you have trusted each of them). docs/extensions.md describes them.",
	fields: []field{
		{
			name: "enabled", short: "`true` or `false`",
			doc:     "`false`: no hook runs.",
			pointer: func(c *Config, _ *Profile) any { return &c.Hooks.Enabled },
		},
		{
			name: "also", short: "paths",
			doc: "Files of other programs whose hooks run as well: `~/.claude/settings.json` is yours, `.claude/settings.json` and " +
				"`.codex/hooks.json` are the project's.",
			pointer: func(c *Config, _ *Profile) any { return &c.Hooks.Also },
		},
	},
}
