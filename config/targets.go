package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// Target is one section [targets.NAME]: another place where tools may work. Sections of
// this kind are the list of all places that a model may name.
type Target struct {
	Name       string
	Doc        string // what it is, for the model
	SSH        string // user@host, or a name of the ssh configuration
	SSHConfig  string // an absolute path; "" = the usual files
	Container  string // name or id; either this or SSH
	Cwd        string // "" = the home folder
	Production bool   // nothing happens there without a question
}

// Target returns the target of that name.
func (c *Config) Target(name string) (Target, bool) {
	return first(c.Targets, func(t Target) bool { return t.Name == name })
}

// targetName is what can be typed, and shown in front of a pane's id. "local" is this machine.
var targetName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$`)

func checkTargetName(name string) error {
	switch {
	case !targetName.MatchString(name):
		return fmt.Errorf("%q is not a name for a target (allowed: up to 40 letters, digits, '.', '_' and '-')", name)
	case name == "local":
		return errors.New("local is this machine (choose another name)")
	}
	return nil
}

// targetsSection is a table by name, as that of the models is: TOML itself then refuses a
// name that is used twice, and an error names the target.
var targetsSection = section{
	name: "targets", named: true, access: trusted,
	doc: "Other machines and containers on which a session may work, beside the place where it was started; a model may name these and " +
		"no other. Exactly one of `ssh` and `container` is needed. A connection is made when a call first needs it.",
	fields: []field{
		{
			name: "ssh", short: "`user@host`",
			doc: "A machine that is reached over ssh: a host, `user@host`, or a name of your ssh configuration.",
			at:  func(c *Config, _ *Profile) any { return &c.setting().SSH },
		},
		{
			name: "ssh_config", short: "path",
			doc:   "An ssh configuration file to use instead of the usual ones.",
			at:    func(c *Config, _ *Profile) any { return &c.setting().SSHConfig },
			check: checkPath,
		},
		{
			name: "container", short: "name or id",
			doc: "A running container of docker or podman.",
			at:  func(c *Config, _ *Profile) any { return &c.setting().Container },
		},
		{
			name: "cwd", short: "path there",
			doc: "Where commands start; without it, the home folder.",
			at:  func(c *Config, _ *Profile) any { return &c.setting().Cwd },
		},
		{
			name: "doc", short: "text",
			doc: "What it is, in a few words that the model reads.",
			at:  func(c *Config, _ *Profile) any { return &c.setting().Doc },
		},
		{
			name: "production", short: "`true` or `false`",
			doc: "Nothing is done or read there without a question, in no mode and whatever the rules allow.",
			at:  func(c *Config, _ *Profile) any { return &c.setting().Production },
		},
	},
}

// exampleTarget is in the template.
var exampleTarget = Target{Name: "web-01", Doc: "the first web server, nginx", SSH: "root@web-01.example.org", Cwd: "/srv/www"}

// setting is the target whose section is being read; one of nobody for the reference.
func (c *Config) setting() *Target {
	if c == nil || len(c.Targets) == 0 {
		return &Target{}
	}
	return &c.Targets[c.at]
}

// target makes the target of that name the one that is set; it is added when it is new.
func (l *loader) target(name, place string) {
	c := &l.cfg
	c.at = slices.IndexFunc(c.Targets, func(t Target) bool { return t.Name == name })
	if c.at < 0 {
		c.at = len(c.Targets)
		c.Targets = append(c.Targets, Target{Name: name})
		l.index[Path("targets", name)] = place
	}
}

// checkTargets checks what only shows when a file is read to its end.
func (l *loader) checkTargets() error {
	for _, t := range l.cfg.Targets {
		if err := t.check(); err != nil {
			return l.index.Error(Path("targets", t.Name), err)
		}
	}
	return nil
}

// check says what is wrong with a target as a whole.
func (t Target) check() error {
	switch {
	case t.SSH == "" && t.Container == "":
		return errors.New("says not where it is (allowed: one of ssh, container)")
	case t.SSH != "" && t.Container != "":
		return errors.New("is in two places (allowed: one of ssh, container)")
	case t.SSHConfig != "" && t.SSH == "":
		return errors.New("ssh_config is of use with ssh only")
	}
	return nil
}
