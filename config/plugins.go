package config

// Plugins holds the section [plugins].
type Plugins struct {
	Dirs []string // folders, each one plugin
}

var pluginsSection = section{
	name: "plugins", access: personal,
	doc: "Plugins: folders with a `.claude-plugin/plugin.json`, as other agents use them (docs/extensions.md). A " +
		"plugin runs nothing until you trust it.",
	fields: []field{
		{
			name: "dirs", short: "paths",
			doc: "The folders of your plugins, such as `[\"~/plugins/tidy\"]`. A project's plugins are in its " +
				"`.buddy/plugins`.",
			pointer: func(c *Config, _ *Profile) any { return &c.Plugins.Dirs },
		},
	},
}
