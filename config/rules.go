package config

import "buddy/agent/action"

// Rule is one [[allow]], [[ask]] or [[deny]], which decides about actions before the mode does. Package policy checks
// its contents.
type Rule struct {
	action.Rule
	Place string // file:line
}

// ruleSections are the three kinds of rules.
func ruleSections() []section {
	last := func(c *Config) *Rule {
		if c == nil || len(c.Rules) == 0 {
			return &Rule{} // for the reference
		}
		return &c.Rules[len(c.Rules)-1]
	}
	fields := func(a access) []field {
		return []field{
			{
				name: "tool", short: "name of a tool", access: a,
				doc:     "Only for calls of this tool.",
				pointer: func(c *Config, _ *Profile) any { return &last(c).Tool },
			},
			{
				name: "prefix", short: `words, such as ["go", "test"]`, access: a,
				doc: "Commands that start with these words. buddy checks each command of a line by itself, as the " +
					"shell would run it. Rules that ask or deny ignore wrappers and options before a subcommand, and match " +
					"its other names, too (docs/safety.md, \"Rules\").",
				pointer: func(c *Config, _ *Profile) any { return &last(c).Prefix },
			},
			{
				name: "path", short: "glob", access: a,
				doc:     "Files; `**` matches any number of folders. A relative path starts at the workspace, `~/` is your home.",
				pointer: func(c *Config, _ *Profile) any { return &last(c).Path },
			},
			{
				name: "host", short: "host name", access: a,
				doc:     "This host and its subdomains.",
				pointer: func(c *Config, _ *Profile) any { return &last(c).Host },
			},
			{
				name: "target", short: "glob", access: a,
				doc:     "The target: `local`, or the name of another one.",
				pointer: func(c *Config, _ *Profile) any { return &last(c).Target },
			},
		}
	}
	const common = " A rule needs at least one key, and all its keys must match. Deny has precedence over ask, ask over allow."
	return []section{
		{
			name: "allow", rules: true, fields: fields(personal),
			doc: "What runs without approval. A line of several commands runs without approval only if each command " +
				"may. Git commands that change history or discard work need a rule that names them (docs/safety.md, " +
				"\"Git\")." + common,
		},
		{name: "ask", rules: true, access: adds, fields: fields(adds), doc: "What always needs approval." + common},
		{name: "deny", rules: true, access: adds, fields: fields(adds), doc: "What never runs, in any mode." + common},
	}
}

// isRule reports whether a section holds rules.
func isRule(name string) bool { return name == "allow" || name == "ask" || name == "deny" }

// addRule appends an empty rule, which the following keys fill in.
func (l *loader) addRule(f *file, e entry) {
	rule := action.Rule{Decision: action.Decision(e.path[0]), Source: action.FromUser}
	if f.project {
		rule.Source = action.FromProject
	}
	l.cfg.Rules = append(l.cfg.Rules, Rule{rule, place(f, e.line)})
}
