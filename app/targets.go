package app

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"buddy/agent/event"
	"buddy/agent/prompt"
	"buddy/app/slash"
	"buddy/config"
	"buddy/tmux"
	"buddy/tmux/host"
	"buddy/tools"
	"buddy/tools/web"
)

// namedTarget returns the target that --target names first.
func namedTarget(f *flags) (*target, error) {
	if f.ssh != "" || f.container != "" || f.sshConfig != "" {
		return nil, usage("--target and --ssh or --container exclude each other: a session begins in one place")
	}
	if f.targets[0] == onThisMachine {
		here := *f
		here.targets = nil
		return newTarget(&here)
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
	return configured(setting, index)
}

func unknownTarget(name string, c config.Config) error {
	have := []string{onThisMachine}
	for _, t := range c.Targets {
		have = append(have, t.Name)
	}
	return usage("--target: unknown target %q (have: %s)", name, strings.Join(have, ", "))
}

// configured returns a target of the configuration. It connects to nothing.
func configured(c config.Target, index config.Index) (*target, error) {
	t := &target{name: c.Name, setting: c}
	var err error
	if t.host, err = hostOf(c); err != nil {
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

// beside returns the other targets that a session on t may use: those of the configuration,
// and this machine if the command line lists it. Connections of earlier sessions are kept.
func (t *target) beside(f *flags, c config.Config, index config.Index) ([]*target, error) {
	var all []*target
	for i, name := range f.targets {
		_, known := c.Target(name)
		switch {
		case name == onThisMachine && i > 0 && t.host != nil && !slices.Contains(f.targets[:i], name):
			all = append(all, &target{name: onThisMachine})
		case name != onThisMachine && !known:
			return nil, unknownTarget(name, c)
		}
	}
	for _, setting := range c.Targets {
		if setting.Name == t.name {
			continue
		}
		other := t.others[setting.Name]
		if other == nil || other.setting != setting {
			var err error
			if other, err = configured(setting, index); err != nil {
				return nil, err
			}
			if old := t.others[setting.Name]; old != nil {
				_ = old.close() // nobody uses it any more
			}
			if t.others == nil {
				t.others = make(map[string]*target)
			}
			t.others[setting.Name] = other
		}
		all = append(all, other)
	}
	return all, nil
}

// openPlaces makes what the session has on its first target, and the fleet that makes the
// others.
func (p *program) openPlaces(f *flags) error {
	t := p.first.target
	others, err := t.beside(f, p.config, p.index)
	if err != nil {
		return err
	}
	name := p.id
	if f.tmux != "" {
		name = f.tmux
	}
	_, p.withheld = p.config.Environ(os.Environ())
	p.fleet = newFleet(p.first, others, p.openOther)
	return p.open(p.first, name, f.tmux != "")
}

// openOther reaches for a target and makes what the session has there.
func (p *program) openOther(t *target) (*place, error) {
	at, err := t.look(t.setting.Cwd)
	if away := t.away; away != nil && err == nil {
		t.away, err = nil, away
	}
	if err != nil {
		return nil, err
	}
	other := &place{target: t, at: at}
	if err := p.open(other, p.id+"-"+t.name, false); err != nil {
		return nil, err
	}
	other.shell.Beside(p.first.shell)
	return other, nil
}

// open makes the panes, the files and the tools of a place. Nothing starts there. shared says
// that others may have used the tmux session.
func (p *program) open(at *place, session string, shared bool) error {
	exe, err := os.Executable()
	if err != nil {
		return exit{code: exitFailed, text: fmt.Sprintf("own program file: %v", err)}
	}
	t, prefix := at.target, p.fleet.prefix(at.target)
	env, _ := p.config.Environ(os.Environ())
	o := t.options(at.at, env, p.withheld)
	o.Socket, o.Session, o.Exe, o.Cwd, o.Shell = os.Getenv("BUDDY_TMUX_SOCKET"), session, exe, at.at.dir, p.config.Tools.ShellName()
	o.OnPane = func(e tmux.PaneEvent) { p.live.publish(paneEvent(e, prefix, t.name)) }
	o.OnScreen = func(s tmux.Screen) { p.live.publish(paneScreen(s, prefix)) }
	if t.host == nil {
		var notice string
		if o.Sandbox, notice = sandbox(p.config.Sandbox, append([]string{at.at.dir}, at.at.also...), p.store.OutDir(p.id)); notice != "" {
			p.live.publish(event.Notice{Text: notice})
		}
	}
	if at.box = o.Sandbox; at.box != nil {
		o.Session += "-sandbox" // never the pane of commands that have none
	}
	at.confined = tmux.Confines(o) == nil
	at.panes, at.plain = tmux.New(o), tmux.NewPlain(o)
	if at.files, err = t.workspace(at.at.dir); err != nil {
		return exit{code: exitFailed, text: err.Error()}
	}
	at.files.Outputs(p.store.OutDir(p.id))
	cwd := at.at.dir
	if t.host != nil && (p.journal.resumed() || shared) {
		cwd = "" // an earlier process may have left a pane in another folder
	}
	at.shell = tools.NewRunShell(at.panes, at.plain, t.name, cwd, func(text string) {
		if prefix != "" {
			text = prefix + ": " + text
		}
		p.live.publish(event.Warning{Text: text, Code: "no_tmux", NextStep: "install tmux 3.2 or newer to watch them and type into them"})
	})
	at.shell.Restrict(at.box)
	if at.confined {
		at.shell.Confine()
	}
	at.site = tools.NewSite(at.shell, at.files)
	return nil
}

// tools are what the model is offered.
func (p *program) tools(client *web.Client) []tools.Tool {
	if len(p.fleet.others) == 0 {
		return tools.Default(p.first.shell, p.first.files, client, nil)
	}
	return tools.DefaultOn(p.fleet, p.first.shell, p.first.files, client, nil)
}

// describe tells the model which targets there are; nothing, if there is one only.
func (f *fleet) describe() []prompt.Target {
	if len(f.others) == 0 {
		return nil
	}
	var all []prompt.Target
	for _, t := range f.targets() {
		doc := t.setting.Doc
		if t.host == nil {
			doc = "the machine of the person"
		}
		all = append(all, prompt.Target{Name: t.name, Doc: doc})
	}
	return all
}

// describe says where commands run, whether that can be reached now, and how to watch.
func (p *program) describe() string {
	f := p.fleet
	all := f.targets()
	texts := make([]string, len(all))
	tools.SideBySide(f.Names(), func(i int, name string) {
		texts[i] = f.describeOne(all[i], name == f.Current())
	})
	text := strings.Join(texts, "\n\n")
	if len(all) > 1 {
		text += "\n\n/target NAME makes another the one for calls that name none"
	}
	return text
}

func (f *fleet) describeOne(t *target, current bool) string {
	var b strings.Builder
	name := slash.PlaceName(t.name)
	if current && len(f.others) > 0 {
		name += " (current)"
	}
	fmt.Fprintf(&b, "target     %s", name)
	if where := t.where(); where != "" {
		fmt.Fprintf(&b, "\nwhere      %s", where)
	}
	p := f.place(t.name)
	if p == nil {
		if err := f.failure(t.name); err != nil {
			fmt.Fprintf(&b, "\nstate      could not be reached; the next call tries again: %v", err)
			return b.String()
		}
		b.WriteString("\nstate      not used yet; the first call connects")
		return b.String()
	}
	if t.host != nil {
		fmt.Fprintf(&b, "\nstate      %s", t.state())
	}
	dir := p.at.dir
	if dir == "" {
		dir = "the home folder"
	}
	fmt.Fprintf(&b, "\nfolder     %s", dir)
	switch line := p.panes.AttachLine(); {
	case p.panes.Pane() == "":
		b.WriteString("\npane       none yet; the first command opens one")
	case line != "":
		fmt.Fprintf(&b, "\nattach     %s", line)
	}
	return b.String()
}

// where a target of the configuration is; "" for others, whose name says it.
func (t *target) where() string {
	switch {
	case t.setting.SSH != "":
		return "ssh " + t.setting.SSH
	case t.setting.Container != "":
		return "container " + t.setting.Container
	}
	return ""
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
