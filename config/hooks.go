package config

// Hooks holds the section [hooks].
type Hooks struct {
	Enabled bool
	Also    []string // hook files of other programs
}

var hooksSection = section{
	name: "hooks", access: personal,
	doc: "Hooks: programs that run at certain moments of a session. Yours are in `hooks.json` in your settings " +
		"folder, a project's in its `.buddy/hooks.json` (each needs your trust). docs/extensions.md describes them.",
	fields: []field{
		{
			name: "enabled", short: "`true` or `false`",
			doc:     "`false`: no hook runs.",
			pointer: func(c *Config, _ *Profile) any { return &c.Hooks.Enabled },
		},
		{
			name: "also", short: "paths",
			doc: "Other programs' files whose hooks also run: your own, such as `~/.claude/settings.json`, and the " +
				"project's, such as `.claude/settings.json` and `.codex/hooks.json`.",
			pointer: func(c *Config, _ *Profile) any { return &c.Hooks.Also },
		},
	},
}
