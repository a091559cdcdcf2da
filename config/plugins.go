package config

// Plugins holds the section [plugins].
type Plugins struct {
	Dirs []string // folders, each one plugin
}

var pluginsSection = section{
	name: "plugins", access: personal,
	doc: "Folders with a `.claude-plugin/plugin.json`, as other agents use them (docs/extensions.md). Nothing of one runs before you have trusted it.",
	fields: []field{
		{
			name: "dirs", short: "paths",
			doc:     "Plugins, one folder each: `[\"~/plugins/tidy\"]`. Those of a project are in its `.buddy/plugins`.",
			pointer: func(c *Config, _ *Profile) any { return &c.Plugins.Dirs },
		},
	},
}
