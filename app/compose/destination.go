package compose

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"buddy/agent/event"
	"buddy/app/exit"
	"buddy/app/slash"
	"buddy/config"
	"buddy/sessions"
	"buddy/tmux"
	"buddy/tmux/host"
	"buddy/tools/target"
	"buddy/tools/toolset"
	"buddy/views/markup"
)

// Destination holds the target that the command line names, and the other targets that sessions on it have reached. It
// keeps their connections open for the next session.
type Destination struct {
	*target.Target
	others map[string]configuredTarget // by name
}

// configuredTarget is a configured target with the setting it was made from.
type configuredTarget struct {
	*target.Target
	setting config.Target
}

// NewDestination returns the target that the flags name, without connecting.
func NewDestination(f *Options) (*Destination, error) {
	t := &target.Target{Name: slash.ThisMachine}
	var err error
	switch {
	case len(f.Targets) > 0:
		return namedTarget(f)
	case f.SSH != "" && f.Container != "":
		return nil, exit.Usage("--ssh and --container can't be combined")
	case f.SSHConfig != "" && f.SSH == "":
		return nil, exit.Usage("--ssh-config needs --ssh")
	case f.SSH != "":
		t.Host, err = host.SSH(host.SSHOptions{Dest: f.SSH, ConfigFile: f.SSHConfig})
	case f.Container != "":
		t.Host, err = host.Container(f.Container)
	case f.Dir != "":
		err = os.Chdir(f.Dir)
	}
	if err != nil {
		return nil, exit.Usage("%v", err)
	}
	if t.Host != nil {
		t.Name = t.Host.Name()
		c, _, _, err := LoadConfig(f)
		if err == nil {
			err = checkUseful(t.Name, c)
		}
		if err != nil {
			return nil, err
		}
	}
	return &Destination{Target: t}, nil
}

// namedTarget returns the first target of --target.
func namedTarget(f *Options) (*Destination, error) {
	if f.SSH != "" || f.Container != "" || f.SSHConfig != "" {
		return nil, exit.Usage("--target can't be combined with --ssh or --container: a session starts on one target")
	}
	if f.Targets[0] == slash.ThisMachine {
		here := *f
		here.Targets = nil
		return NewDestination(&here)
	}
	c, index, _, err := LoadConfig(f)
	if err != nil {
		return nil, err
	}
	setting, ok := c.Target(f.Targets[0])
	if !ok {
		return nil, unknownTarget(f.Targets[0], c)
	}
	if f.Dir != "" {
		setting.Cwd = f.Dir
	}
	t, err := configured(setting, index)
	if err == nil {
		err = checkUseful(t.Name, c)
	}
	return &Destination{Target: t}, err
}

// checkUseful refuses a target if all tools that use a target are off.
func checkUseful(target string, c config.Config) error {
	if toolset.NeedsTarget(toolset.Expand(c.Tools.Off)) {
		return nil
	}
	return exit.Usage("%s: the model can do nothing there, because [tools] off lists all tools for commands, panes and files; remove the target or turn some tools on", target)
}

func unknownTarget(name string, c config.Config) error {
	return exit.Usage("--target: unknown target %q (have: %s)", name, strings.Join(targetNames(c), ", "))
}

// targetNames lists the targets that rules and the command line may name.
func targetNames(c config.Config) []string {
	names := []string{slash.ThisMachine}
	for _, t := range c.Targets {
		names = append(names, t.Name)
	}
	return names
}

// configured returns a configured target, without connecting.
func configured(c config.Target, index config.Index) (*target.Target, error) {
	t := &target.Target{Name: c.Name, Cwd: c.Cwd, Doc: c.Doc, Address: c.SSH + c.Container, Container: c.Container != "", Production: c.Production}
	var err error
	if t.Host, err = HostOf(c); err != nil {
		return nil, exit.Mistake(index.Error(config.Path("targets", c.Name), err))
	}
	return t, nil
}

// HostOf returns the host of a configured target.
func HostOf(c config.Target) (*host.Host, error) {
	if c.Container != "" {
		return host.Container(c.Container)
	}
	return host.SSH(host.SSHOptions{Dest: c.SSH, ConfigFile: c.SSHConfig})
}

// otherTargets returns the other targets that a session on d may use: the configured ones, and this machine if the command
// line lists it. Connections of earlier sessions are kept.
func (d *Destination) otherTargets(f *Options, c config.Config, index config.Index) ([]*target.Target, error) {
	var all []*target.Target
	for i, name := range f.Targets {
		_, known := c.Target(name)
		switch {
		case name == slash.ThisMachine && i > 0 && d.Host != nil && !slices.Contains(f.Targets[:i], name):
			all = append(all, &target.Target{Name: slash.ThisMachine})
		case name != slash.ThisMachine && !known:
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
				_ = other.Close() // no longer used
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

// Reach prints a message to say and connects to the target. An unreachable target is no error: Reach sets Away, because
// some callers can work without the target.
func (d *Destination) Reach(say io.Writer) error {
	if d.Host == nil {
		return nil
	}
	_, _ = fmt.Fprintf(say, "buddy: connecting to %s\n", markup.Plain(d.Name))
	return exit.Failure(d.Connect(context.Background()))
}

// Close ends the connections. Call it after the sessions have ended.
func (d *Destination) Close() error {
	var all []error
	for _, other := range d.others {
		all = append(all, other.Close())
	}
	return errors.Join(append(all, d.Target.Close())...)
}

// folders returns the real paths of additional workspace folders on the target.
func (d *Destination) folders(dirs []string) ([]string, error) {
	var all []string
	for _, dir := range dirs {
		real, err := d.Folder(dir)
		if err != nil {
			return nil, exit.Usage("--add-dir %s: %v", dir, err)
		}
		if !slices.Contains(all, real) {
			all = append(all, real)
		}
	}
	return all, nil
}

// needTmux returns an error if --tmux names a tmux session and the target has no tmux. Without --tmux such a target
// works: commands run without panes, and the first command reports this.
func (d *Destination) needTmux(f *Options, env target.Environment) error {
	if d.Host == nil || d.Away != nil || f.Tmux == "" {
		return nil
	}
	if err := tmux.Usable(env.Tmux); err != nil {
		return exit.Error{Code: exit.Failed, Text: fmt.Sprintf("%s: %v; install it there, or omit --tmux to run commands without a pane", d.Name, err)}
	}
	return nil
}

// flagFor returns the option that selects the target of a session, "" for this machine.
func flagFor(name string) string {
	if dest, ok := strings.CutSuffix(name, " (ssh)"); ok {
		return "--ssh " + host.Quote(dest) + " "
	}
	if id, ok := strings.CutSuffix(name, " (container)"); ok {
		return "--container " + host.Quote(id) + " "
	}
	if name != slash.ThisMachine {
		return "--target " + host.Quote(name) + " "
	}
	return ""
}

// fits returns an error if a session can't be resumed on the target name, because its history is about another target's
// files and commands.
func fits(name string, h sessions.Header, exec bool) error {
	if h.Target == "" || h.Target == name {
		return nil
	}
	again := "buddy " + flagFor(h.Target) + "resume " + h.ID
	if exec {
		again = "buddy " + flagFor(h.Target) + "exec --resume " + h.ID + " PROMPT"
	}
	return exit.Error{Code: exit.Failed, Text: fmt.Sprintf("session %s works on %s, not on %s; continue it there: %s", h.ID, slash.PlaceName(h.Target), slash.PlaceName(name), again)}
}

// awayWarning explains why a target can't be reached, nil if it can.
func awayWarning(t *target.Target) event.Event {
	if t.Away == nil {
		return nil
	}
	next := "your next command tries to connect again"
	if t.Away.Next != "" {
		next = t.Away.Next + "; " + next
	}
	return event.Warning{Text: t.Away.Host + ": " + t.Away.Why, Code: "target", NextStep: next}
}
