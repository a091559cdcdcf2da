package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"buddy/agent/event"
	"buddy/app/slash"
	"buddy/config"
	"buddy/sessions"
	"buddy/tmux"
	"buddy/tmux/host"
	"buddy/tools/target"
)

const onThisMachine = slash.ThisMachine // the target that is this machine

// destination is the target that the command line names, with the others that its sessions
// reached: connections outlive a session.
type destination struct {
	*target.Target
	others map[string]configuredTarget // by name
}

// configuredTarget is a target of the configuration with what that said when it was made.
type configuredTarget struct {
	*target.Target
	setting config.Target
}

// newDestination returns what the flags name. It connects to nothing.
func newDestination(f *flags) (*destination, error) {
	t := &target.Target{Name: onThisMachine}
	var err error
	switch {
	case len(f.targets) > 0:
		return namedTarget(f)
	case f.ssh != "" && f.container != "":
		return nil, usage("--ssh and --container exclude each other: commands run in one place")
	case f.sshConfig != "" && f.ssh == "":
		return nil, usage("--ssh-config is of use with --ssh only")
	case f.ssh != "":
		t.Host, err = host.SSH(host.SSHOptions{Dest: f.ssh, ConfigFile: f.sshConfig})
	case f.container != "":
		t.Host, err = host.Container(f.container)
	case f.dir != "":
		err = os.Chdir(f.dir)
	}
	if err != nil {
		return nil, usage("%v", err)
	}
	if t.Host != nil {
		t.Name = t.Host.Name()
	}
	return &destination{Target: t}, nil
}

// namedTarget returns the target that --target names first.
func namedTarget(f *flags) (*destination, error) {
	if f.ssh != "" || f.container != "" || f.sshConfig != "" {
		return nil, usage("--target and --ssh or --container exclude each other: a session begins in one place")
	}
	if f.targets[0] == onThisMachine {
		here := *f
		here.targets = nil
		return newDestination(&here)
	}
	c, index, _, err := config.Load(config.Options{Config: f.config, Trust: trustStore()})
	if err != nil {
		return nil, exit{code: exitUsage, text: err.Error()}
	}
	setting, ok := c.Target(f.targets[0])
	if !ok {
		return nil, unknownTarget(f.targets[0], c)
	}
	if f.dir != "" {
		setting.Cwd = f.dir
	}
	t, err := configured(setting, index)
	return &destination{Target: t}, err
}

func unknownTarget(name string, c config.Config) error {
	have := []string{onThisMachine}
	for _, t := range c.Targets {
		have = append(have, t.Name)
	}
	return usage("--target: unknown target %q (have: %s)", name, strings.Join(have, ", "))
}

// configured returns a target of the configuration. It connects to nothing.
func configured(c config.Target, index config.Index) (*target.Target, error) {
	t := &target.Target{Name: c.Name, Cwd: c.Cwd, Doc: c.Doc, Address: c.SSH + c.Container, Container: c.Container != "", Production: c.Production}
	var err error
	if t.Host, err = hostOf(c); err != nil {
		return nil, exit{code: exitUsage, text: index.Error(config.Path("targets", c.Name), err).Error()}
	}
	return t, nil
}

// hostOf returns the way to a target of the configuration.
func hostOf(c config.Target) (*host.Host, error) {
	if c.Container != "" {
		return host.Container(c.Container)
	}
	return host.SSH(host.SSHOptions{Dest: c.SSH, ConfigFile: c.SSHConfig})
}

// beside returns the other targets that a session on d may use: those of the configuration,
// and this machine if the command line lists it. Connections of earlier sessions are kept.
func (d *destination) beside(f *flags, c config.Config, index config.Index) ([]*target.Target, error) {
	var all []*target.Target
	for i, name := range f.targets {
		_, known := c.Target(name)
		switch {
		case name == onThisMachine && i > 0 && d.Host != nil && !slices.Contains(f.targets[:i], name):
			all = append(all, &target.Target{Name: onThisMachine})
		case name != onThisMachine && !known:
			return nil, unknownTarget(name, c)
		}
	}
	for _, setting := range c.Targets {
		if setting.Name == d.Name {
			continue
		}
		other, known := d.others[setting.Name]
		if !known || other.setting != setting {
			made, err := configured(setting, index)
			if err != nil {
				return nil, err
			}
			if known {
				_ = other.Close() // nobody uses it any more
			}
			if d.others == nil {
				d.others = make(map[string]configuredTarget)
			}
			other = configuredTarget{made, setting}
			d.others[setting.Name] = other
		}
		all = append(all, other.Target)
	}
	return all, nil
}

// connect reaches for the target and says so. That it is away is kept for who can go on without it.
func (d *destination) connect(say io.Writer) error {
	if d.Host == nil {
		return nil
	}
	_, _ = fmt.Fprintf(say, "buddy: connecting to %s\n", plain(d.Name))
	return failed(d.Connect(context.Background()))
}

// close ends the connections, after the sessions.
func (d *destination) close() error {
	var all []error
	for _, other := range d.others {
		all = append(all, other.Close())
	}
	return errors.Join(append(all, d.Close())...)
}

// folders returns the real paths on the target of more folders to work in.
func (d *destination) folders(dirs []string) ([]string, error) {
	var all []string
	for _, dir := range dirs {
		real, err := d.Folder(dir)
		if err != nil {
			return nil, usage("--add-dir %s: %v", dir, err)
		}
		if !slices.Contains(all, real) {
			all = append(all, real)
		}
	}
	return all, nil
}

// needTmux refuses a target without tmux where a tmux session was asked for. Elsewhere commands
// run without one, which is said with the first.
func (d *destination) needTmux(f *flags, env target.Environment) error {
	if d.Host == nil || d.Away != nil || f.tmux == "" {
		return nil
	}
	if err := tmux.Usable(env.Tmux); err != nil {
		return exit{code: exitFailed, text: fmt.Sprintf("%s: %v; install it there, or leave out --tmux to run commands without a pane", d.Name, err)}
	}
	return nil
}

// flagFor is the option that leads to the target of a session, "" for this machine.
func flagFor(name string) string {
	if dest, ok := strings.CutSuffix(name, " (ssh)"); ok {
		return "--ssh " + host.Quote(dest) + " "
	}
	if id, ok := strings.CutSuffix(name, " (container)"); ok {
		return "--container " + host.Quote(id) + " "
	}
	if name != onThisMachine {
		return "--target " + host.Quote(name) + " "
	}
	return ""
}

// fits refuses to go on with a session of another target than that with a name: its history is of
// files and commands that are not here.
func fits(name string, h sessions.Header, exec bool) error {
	if h.Target == "" || h.Target == name {
		return nil
	}
	again := "buddy " + flagFor(h.Target) + "resume " + h.ID
	if exec {
		again = "buddy " + flagFor(h.Target) + "exec --resume " + h.ID + " PROMPT"
	}
	return exit{code: exitFailed, text: fmt.Sprintf("session %s works on %s, not on %s; go on with it there: %s", h.ID, slash.PlaceName(h.Target), slash.PlaceName(name), again)}
}

// awayWarning says why a target is away, nil if it is not.
func awayWarning(t *target.Target) event.Event {
	if t.Away == nil {
		return nil
	}
	next := "the next command tries again"
	if t.Away.Next != "" {
		next = t.Away.Next + "; " + next
	}
	return event.Warning{Text: t.Away.Host + ": " + t.Away.Why, Code: "target", NextStep: next}
}

// completeTarget offers the names for --target.
func completeTarget(f *flags) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		names := []string{onThisMachine}
		c, _, _, err := config.Load(config.Options{Config: f.config, Trust: trustStore()})
		if err != nil {
			return names, cobra.ShellCompDirectiveError
		}
		for _, t := range c.Targets {
			names = append(names, t.Name+"\t"+t.Doc)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
