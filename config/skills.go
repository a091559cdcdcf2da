package config

import (
	"fmt"
	"path"
)

var skillsSection = section{
	name: "skills", access: personal,
	doc: "Skills and custom commands (docs/extensions.md).",
	fields: []field{
		{
			name: "off", short: "globs of names",
			doc:     "Skills and custom commands that neither you nor the model can use, such as `[\"git:*\", \"old-*\"]`. `/skills` lists all of them.",
			pointer: func(c *Config, _ *Profile) any { return &c.Skills.Off },
			check: func(v string, _ *file) (string, error) {
				if _, err := path.Match(v, ""); err != nil || v == "" {
					return "", fmt.Errorf("%q is no glob", v)
				}
				return v, nil
			},
		},
	},
}
