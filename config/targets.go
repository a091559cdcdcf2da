package config

import (
	"errors"
	"fmt"
	"slices"

	"buddy/texts"
)

// Target holds one section [targets.NAME]: another machine or container where tools may work.
// The model may name these targets only.
type Target struct {
	Name       string
	Doc        string // description for the model
	SSH        string // user@host, or a name of the ssh configuration
	SSHConfig  string // an absolute path; "" = the usual files
	Container  string // name or id; either this or SSH
	Cwd        string // "" = the home folder
	Production bool   // every action there needs approval
}

// Target returns the target with a name.
func (c *Config) Target(name string) (Target, bool) {
	return first(c.Targets, func(t Target) bool { return t.Name == name })
}

// targetName matches names that are easy to type and can precede a pane's id. "local" is this machine.
var targetName = texts.Regexp(`^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$`)

func checkTargetName(name string) error {
	switch {
	case !targetName().MatchString(name):
		return fmt.Errorf("%q is not a name for a target (allowed: up to 40 letters, digits, '.', '_' and '-')", name)
	case name == "local":
		return errors.New("local is this machine (choose another name)")
	}
	return nil
}

// targetsSection has tables by name, like the section of models: TOML itself then rejects a duplicate name, and an
// error names the target.
var targetsSection = section{
	name: "targets", named: true, access: trusted,
	doc: "Other machines and containers on which a session may work, in addition to its first target; the model " +
		"can't use any others. Each needs exactly one of `ssh` and `container`. buddy connects to a target when a call " +
		"first needs it.",
	fields: []field{
		{
			name: "ssh", short: "`user@host`",
			doc:     "A machine to reach over ssh: a host, `user@host`, or a name from your ssh configuration.",
			pointer: func(c *Config, _ *Profile) any { return &c.setting().SSH },
		},
		{
			name: "ssh_config", short: "path",
			doc:     "An ssh configuration file to use instead of the usual ones.",
			pointer: func(c *Config, _ *Profile) any { return &c.setting().SSHConfig },
			check:   checkPath,
		},
		{
			name: "container", short: "name or id",
			doc:     "A running docker or podman container.",
			pointer: func(c *Config, _ *Profile) any { return &c.setting().Container },
		},
		{
			name: "cwd", short: "path there",
			doc:     "Where commands start; without it, the home folder.",
			pointer: func(c *Config, _ *Profile) any { return &c.setting().Cwd },
		},
		{
			name: "doc", short: "text",
			doc:     "A short description for the model.",
			pointer: func(c *Config, _ *Profile) any { return &c.setting().Doc },
		},
		{
			name: "production", short: "`true` or `false`",
			doc: "`true`: everything there, even reading, needs approval, in every mode and whatever the rules " +
				"allow.",
			pointer: func(c *Config, _ *Profile) any { return &c.setting().Production },
		},
	},
}

// exampleTarget is the target in the template.
var exampleTarget = Target{Name: "web-01", Doc: "the first web server, nginx", SSH: "root@web-01.example.org", Cwd: "/srv/www"}

// setting returns the target whose section is being read, or an empty one for the reference.
func (c *Config) setting() *Target {
	if c == nil || len(c.Targets) == 0 {
		return &Target{}
	}
	return &c.Targets[c.at]
}

// target selects the target that setting returns, by its name, and adds it if it is new.
func (l *loader) target(name, place string) {
	c := &l.cfg
	c.at = slices.IndexFunc(c.Targets, func(t Target) bool { return t.Name == name })
	if c.at < 0 {
		c.at = len(c.Targets)
		c.Targets = append(c.Targets, Target{Name: name})
		l.index[Path("targets", name)] = place
	}
}

// checkTargets makes the checks that need the complete file.
func (l *loader) checkTargets() error {
	for _, t := range l.cfg.Targets {
		if err := t.check(); err != nil {
			return l.index.Error(Path("targets", t.Name), err)
		}
	}
	return nil
}

// check returns an error about a target as a whole.
func (t Target) check() error {
	switch {
	case t.SSH == "" && t.Container == "":
		return errors.New("has no address (allowed: one of ssh, container)")
	case t.SSH != "" && t.Container != "":
		return errors.New("has both ssh and container (allowed: one of ssh, container)")
	case t.SSHConfig != "" && t.SSH == "":
		return errors.New("ssh_config needs ssh")
	}
	return nil
}
