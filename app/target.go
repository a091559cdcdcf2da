package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"buddy/agent/event"
	"buddy/agent/policy"
	"buddy/app/slash"
	"buddy/config"
	"buddy/sessions"
	"buddy/tmux"
	"buddy/tmux/host"
	"buddy/tools"
)

const (
	onThisMachine = slash.ThisMachine // the target that is this machine
	lookTime      = 40 * time.Second  // for making a connection and looking around
)

// target is where commands run and where the files are: this machine, or what a host
// reaches. It outlives the sessions that use it.
type target struct {
	host *host.Host // nil is this machine
	name string
	away *host.DownError // why it could not be reached when the program started

	setting config.Target      // of one of the configuration
	others  map[string]*target // that were made for sessions of this one, by name
}

// newTarget returns what the flags name. It connects to nothing.
func newTarget(f *flags) (*target, error) {
	t := &target{name: onThisMachine}
	var err error
	switch {
	case len(f.targets) > 0:
		return namedTarget(f)
	case f.ssh != "" && f.container != "":
		return nil, usage("--ssh and --container exclude each other: commands run in one place")
	case f.sshConfig != "" && f.ssh == "":
		return nil, usage("--ssh-config is of use with --ssh only")
	case f.ssh != "":
		t.host, err = host.SSH(host.SSHOptions{Dest: f.ssh, ConfigFile: f.sshConfig})
	case f.container != "":
		t.host, err = host.Container(f.container)
	case f.dir != "":
		err = os.Chdir(f.dir)
	}
	if err != nil {
		return nil, usage("%v", err)
	}
	if t.host != nil {
		t.name = t.host.Name()
	}
	return t, nil
}

// connect reaches for the target. That it is away is kept for who can go on without it.
func (t *target) connect(say io.Writer) error {
	if t.host == nil {
		return nil
	}
	_, _ = fmt.Fprintf(say, "buddy: connecting to %s\n", plain(t.name))
	ctx, stop := context.WithTimeout(context.Background(), lookTime)
	defer stop()
	err := t.host.Connect(ctx)
	if errors.As(err, &t.away) || err == nil {
		return nil
	}
	return exit{code: exitFailed, text: fmt.Sprintf("%s: %v", t.name, err)}
}

// close ends the connections, after the sessions.
func (t *target) close() error {
	var all []error
	for _, other := range t.others {
		all = append(all, other.close())
	}
	if t.host != nil {
		all = append(all, t.host.Close())
	}
	return errors.Join(all...)
}

// surroundings are what is known of a target before the first command.
type surroundings struct {
	dir   string   // real path of where commands start; "" is the home folder of a target that is away
	also  []string // more folders that belong to the work, real paths
	home  string   // "" is unknown
	os    string
	shell string
	tmux  string // what tmux -V says, "" without tmux; not asked on this machine
}

// look finds out about the target; dir is the folder to work in there, "" the usual one.
func (t *target) look(dir string) (surroundings, error) {
	if t.host == nil {
		at, err := os.Getwd()
		if err != nil {
			return surroundings{}, exit{code: exitFailed, text: fmt.Sprintf("working directory: %v", err)}
		}
		home, _ := os.UserHomeDir() // "" is unknown, and then ~ asks
		return surroundings{dir: at, home: home, os: runtime.GOOS, shell: "bash"}, nil
	}
	away := surroundings{os: "Unix", shell: "sh"}
	if strings.HasPrefix(dir, "/") {
		away.dir = dir
	}
	if t.away != nil {
		return away, nil
	}
	if dir == "" {
		dir = "."
	}
	ctx, stop := context.WithTimeout(context.Background(), lookTime)
	defer stop()
	var out, said bytes.Buffer
	code, err := t.host.Run(ctx, "cd && pwd -P && { cd -- "+host.Quote(dir)+` 2>/dev/null || ! echo "no such folder, or it may not be entered" >&2; } && pwd -P && uname -s &&
{ command -v bash >/dev/null && echo bash || echo sh; } && { tmux -V 2>/dev/null || echo; }`, &out, &said)
	if errors.As(err, &t.away) {
		return away, nil
	}
	lines := strings.Split(out.String(), "\n")
	switch {
	case err != nil:
		return away, exit{code: exitFailed, text: fmt.Sprintf("%s: %v", t.name, err)}
	case code != 0 || len(lines) != 6:
		return away, exit{code: exitFailed, text: fmt.Sprintf("%s: cannot work in %q: %s", t.name, dir, strings.TrimSpace(said.String()))}
	}
	return surroundings{home: lines[0], dir: lines[1], os: strings.ToLower(lines[2]), shell: lines[3], tmux: lines[4]}, nil
}

// needTmux refuses a target without tmux where a tmux session was asked for. Elsewhere commands
// run without one, which is said with the first.
func (t *target) needTmux(f *flags, at surroundings) error {
	if t.host == nil || t.away != nil || f.tmux == "" {
		return nil
	}
	if err := tmux.Usable(at.tmux); err != nil {
		return exit{code: exitFailed, text: fmt.Sprintf("%s: %v; install it there, or leave out --tmux to run commands without a pane", t.name, err)}
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

// fits refuses to go on with a session of another target: its history is of files and
// commands that are not here.
func (t *target) fits(h sessions.Header, exec bool) error {
	if h.Target == "" || h.Target == t.name {
		return nil
	}
	again := "buddy " + flagFor(h.Target) + "resume " + h.ID
	if exec {
		again = "buddy " + flagFor(h.Target) + "exec --resume " + h.ID + " PROMPT"
	}
	return exit{code: exitFailed, text: fmt.Sprintf("session %s works on %s, not on %s; go on with it there: %s", h.ID, slash.PlaceName(h.Target), slash.PlaceName(t.name), again)}
}

// workspace is where the file tools work.
func (t *target) workspace(dir string) (*tools.Workspace, error) {
	if t.host != nil {
		return tools.NewTargetWorkspace(t.host, t.name, dir, policy.Secret), nil
	}
	return tools.NewWorkspace(dir, policy.Secret)
}

// warning says why the target is away, nil if it is not.
func (t *target) warning() event.Event {
	if t.away == nil {
		return nil
	}
	next := "the next command tries again"
	if t.away.Next != "" {
		next = t.away.Next + "; " + next
	}
	return event.Warning{Text: t.away.Host + ": " + t.away.Why, Code: "target", NextStep: next}
}

// state asks the target for a sign of life, for a text.
func (t *target) state() string {
	took, err := t.ping()
	if err != nil {
		return "cannot be reached: " + err.Error()
	}
	return "connected, answers in " + milliseconds(took)
}

// ping measures how long the target takes to do nothing.
func (t *target) ping() (time.Duration, error) {
	ctx, stop := context.WithTimeout(context.Background(), lookTime)
	defer stop()
	began := time.Now()
	_, err := t.host.Run(ctx, ":", io.Discard, io.Discard)
	return time.Since(began), err
}
