package pane

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"buddy/texts/searchpath"
	"buddy/tmux/pane/confine"
)

//go:embed run.bash
var runBash []byte

//go:embed run.sh
var runSh []byte

//go:embed run.zsh
var runZsh []byte

// These scripts start a command's shell: they restore the state, run the command, then save the state. The script for
// bash is one line, so that bash counts the lines of the command from 1 in its messages, and does not show lines of the
// script after `set -v`.
const (
	mainBash = `. "$1/run"; eval -- "$__buddy_cmd" 3<&-; { __buddy_save; builtin trap - DEBUG ERR; } >/dev/null 2>&1; builtin exit "$__buddy_rc"`
	mainZsh  = `. "$1/run"; eval -- "$__buddy_cmd"; builtin exit $?`
	mainSh   = ". \"$1/run\"; . \"$__buddy_cmd\"\n{ __buddy_save; } >/dev/null 2>&1"
)

// Shell starts commands that carry their state over from one to the next. Start may be called by one goroutine at a
// time, and only after the last command has ended.
type Shell struct {
	dir  string    // private: holds the environment
	tty  *terminal // nil without a terminal
	show *display  // nil without a terminal
	exe  string
	name string // name of its program
	kind string // of its scripts and state, see [KindOf]
	main string

	// state is the file with the state, "" before the first one. Commands alternate between two files and overwrite the
	// older one, because creating and renaming a file costs more on many disks.
	state string

	mu     sync.Mutex // guards the fields below
	folder string     // folder of the next command; "" means unknown
	apart  bool       // the state file contains another folder
	env    []string   // of the first command; nil until Greet
	alone  time.Duration
	hold   holding
	whole  int64 // limit of the recorded bytes of an output stream
	ahead  ahead
}

// NewShell returns a Shell with its state in dir, which [MakeDir] made. If the directory has a
// state already the Shell continues from it. tty is the controlling terminal that shows the
// commands and their output, or nil. name is one of [Shells], or "" for bash, or sh where bash
// is missing.
func NewShell(dir string, tty *os.File, name string) (*Shell, error) {
	exe, err := FindShell(name)
	if err != nil {
		return nil, err
	}
	kind := KindOf(name)
	if name == "" {
		name = filepath.Base(exe)
		kind = KindOf(name)
	}
	s := &Shell{dir: dir, exe: exe, name: name, kind: kind, state: newestState(dir, kind)}
	script, main := Scripts(kind)
	s.main = main
	if err = os.WriteFile(filepath.Join(dir, "run"), script, 0o600); err != nil {
		return nil, err
	}
	if tty != nil {
		if s.tty, err = newTerminal(tty); err != nil {
			return nil, err
		}
		s.show = newDisplay(tty)
	}
	if dir, err := os.ReadFile(filepath.Join(dir, folderFile)); err == nil {
		s.folder, s.apart = string(dir), s.state != ""
	}
	return s, makePrivate(filepath.Join(dir, "nowhere"))
}

// Greet sets the directory and the environment of the first command. Later calls leave these alone, so that their
// clients find the shell as the last command left it. Every call sets the Reach, the Fence and whether the pane is
// attended.
func (s *Shell) Greet(g Greeting) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.env == nil {
		s.env = FirstEnviron(g.Env)
		if g.Unattended > 0 {
			s.env = append(s.env, confine.Unattended...)
		}
		if s.state == "" && s.folder == "" {
			_ = s.moveTo(g.Cwd, false) // if not written, a later shell reports the folder as unknown
		}
	}
	s.whole = g.Whole
	s.alone = g.Unattended
	if !reflect.DeepEqual(s.hold.reach, g.Reach) {
		s.hold.reach, s.hold.oldReach = g.Reach, true
	}
	if !reflect.DeepEqual(s.hold.fence, g.Fence) {
		s.hold.fence, s.hold.oldFence = g.Fence, true
	}
}

// FirstEnviron returns the environment of a shell's first command, made from buddy's environment.
func FirstEnviron(env []string) []string {
	// Nobody answers a pager, and a buffered Python would show its progress only at the end.
	return append(Without(env, "TMUX", "TMUX_PANE", "TERM"), "PAGER=cat", "GIT_PAGER=cat", "SYSTEMD_PAGER=", "PYTHONUNBUFFERED=1", "TERM=dumb")
}

// recorded returns the limit of the recorded bytes of an output stream, 0 for the default.
func (s *Shell) recorded() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.whole
}

var errNoGreeting = errors.New("no environment: the client sent no greeting")

// patience returns how long a command may wait for keys; 0 means without limit, because the user may type them.
func (s *Shell) patience() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.alone
}

// Exports returns a shell line that exports variables, whose values must have no single quotes.
func Exports(env []string) string { return "export '" + strings.Join(env, "' '") + "'" }

// unheld returns a shell for a command without a sandbox, which the caller has to start. The shell of a free command
// takes only the folder from the shell's state: it starts in the first environment, with a PATH without workspace
// folders. The caller holds mu.
func (s *Shell) unheld(m manner) *waitingShell {
	args := []string{s.name, "-c"}
	if s.kind == kindZsh {
		args = []string{s.name, "-f", "-c"} // no start-up files, as with the other shells
	}
	load, leave, folder, mark := s.state, s.nextState(), "", ""
	if s.apart {
		folder = s.folder
	}
	if m.free {
		load, leave, folder, mark = "", os.DevNull, s.folder, "free"
	}
	cmd := &exec.Cmd{Path: s.exe, Args: append(args, s.main, s.name, s.dir, "", load, leave, folder, s.adopted(), mark, m.set()), Dir: s.folder, Env: slices.Clone(s.env)}
	if load != "" {
		// Pass on only the variables whose names are invalid in shells. The state contains all others, and a variable
		// that a command has unset must not come back.
		cmd.Env = slices.DeleteFunc(cmd.Env, func(kv string) bool { return isName(kv) })
	}
	if m.free {
		cmd.Env = searchpath.Environ(cmd.Env, s.hold.workedIn()...)
	}
	if load != "" || folder != "" {
		cmd.Dir = s.dir // the shell changes it
	}
	if s.tty != nil {
		cmd.Env = append(cmd.Env, "TERM="+os.Getenv("TERM"), "TMUX="+commandsTMUX(s.dir))
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: s.detaches(m.mode), Setpgid: !s.detaches(m.mode)}
	h := &waitingShell{mode: m.mode, proc: cmd, tty: s.tty, ended: make(chan struct{})}
	if load == "" {
		return h // not ahead of time: the environment may name a file to run first, such as BASH_ENV
	}
	if info, err := os.Stat(s.folder); err == nil && s.folder != "" && info.IsDir() {
		h.at = info
	}
	return h
}

// detaches reports whether a command gets a separate session. It does if there is no terminal, or nobody at the
// terminal, so that a program that prompts on /dev/tty fails instead of hanging.
func (s *Shell) detaches(mode Mode) bool {
	return s.tty == nil || s.alone > 0 && mode != Prompted && mode != Terminal
}

// CommandsMark is the end of $TMUX in commands that run in a pane. It distinguishes them from programs in an ordinary
// pane, where tmux writes the server's pid, which is never 0, and a session's number after the socket.
const CommandsMark = ",0,0"

// commandsTMUX returns $TMUX for the commands of the supervisor in dir. It names a socket that the panes of a session
// share, and where no server runs until a command starts one. If it named the pane's own server, a `tmux kill-server`
// would end all sessions; without $TMUX, commands would use the user's own server. sup.sh does the same on targets.
func commandsTMUX(dir string) string {
	session, _, _ := strings.Cut(filepath.Base(dir), "-") // panes of commands have a suffix
	return filepath.Join(filepath.Dir(dir), "tmux-"+session) + CommandsMark
}

// nextState returns the file that the next command's shell writes.
func (s *Shell) nextState() string {
	names := stateNames(s.dir, s.kind)
	if s.state != names[0] {
		return names[0]
	}
	return names[1]
}

// prepareState empties the next state's file.
func (s *Shell) prepareState() error { return os.WriteFile(s.nextState(), nil, 0o600) }

// adoptState makes the state of the command in dir the current one if it is complete: a shell that was killed or
// replaced by exec saves no state. Of a free command's state, only the folder counts.
func (s *Shell) adoptState(dir string, free bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hold.oldBox, s.hold.oldFence = true, true
	name := s.nextState()
	if !free && complete(name) {
		s.state, s.hold.of = name, ""
	} else if !free {
		return nil
	}
	cwd, err := os.ReadFile(filepath.Join(dir, "cwd"))
	if err != nil || !filepath.IsAbs(string(cwd)) {
		return nil //nolint:nilerr // the folder stays, because a command's files may be removed while it runs
	}
	return s.moveTo(string(cwd), free)
}

// stateNames returns the two files with the state of shells of a kind, because no kind can read the state of another.
func stateNames(dir, kind string) [2]string {
	name := filepath.Join(dir, "state.")
	if kind != kindBash {
		name += kind + "."
	}
	return [2]string{name + "0", name + "1"}
}

// newestState returns the last complete state in dir, or "".
func newestState(dir, kind string) string {
	newest, at := "", time.Time{}
	for _, name := range stateNames(dir, kind) {
		if info, err := os.Stat(name); err == nil && info.ModTime().After(at) && complete(name) {
			newest, at = name, info.ModTime()
		}
	}
	return newest
}

// CopyState copies the state of a shell, if there is one, from the shell's directory to the directory of a shell that
// has not been created yet.
func CopyState(from, to string) error {
	if from == "" {
		return nil
	}
	folder, err := os.ReadFile(filepath.Join(from, folderFile))
	if err == nil {
		err = os.WriteFile(filepath.Join(to, folderFile), folder, 0o600)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, kind := range []string{kindBash, kindZsh, kindSh} {
		name := newestState(from, kind)
		if name == "" {
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(stateNames(to, kind)[0], b, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// complete reports whether a state file was written to its end.
func complete(name string) bool {
	const last = "\n#complete\n"
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || info.Size() < int64(len(last)) {
		return false
	}
	end := make([]byte, len(last))
	_, err = f.ReadAt(end, info.Size()-int64(len(last)))
	return err == nil && string(end) == last
}

// isName reports whether the variable of kv has a name that a shell can hold.
func isName(kv string) bool {
	name, _, _ := strings.Cut(kv, "=")
	if strings.HasPrefix(name, "BASH_FUNC_") {
		return true
	}
	for i, c := range []byte(name) {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// Without returns env less the named variables.
func Without(env []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(names, name)
	})
}

// Shells lists the shells that commands can run in.
var Shells = []string{"bash", "zsh", "dash", "ash", "sh"}

// The kinds of shells, by the script that saves their state.
const (
	kindBash = "bash"
	kindZsh  = "zsh"
	kindSh   = "sh"
)

// KindOf returns the kind of the named shell, for [Scripts].
func KindOf(name string) string {
	switch name {
	case "", "bash":
		return kindBash
	case "zsh":
		return kindZsh
	}
	return kindSh
}

// FindShell returns the program of one of [Shells] or, for "", of the best one that is installed. BusyBox counts as
// ash.
func FindShell(name string) (string, error) {
	wanted := []string{name}
	switch name {
	case "":
		wanted = []string{"bash", "sh"}
	case "ash":
		wanted = append(wanted, "busybox")
	}
	for _, program := range wanted {
		if exe, err := searchpath.Look(program); err == nil {
			return exe, nil
		}
	}
	return "", NoShell(name, "this machine")
}

// NoShell returns the error for a shell that is missing on a machine.
func NoShell(name, machine string) error {
	return &RefusedError{Reason: fmt.Sprintf("the shell %q is not installed on %s; install it or choose another with shell under [tools] (have: %s)", cmp.Or(name, "sh"), machine, strings.Join(Shells, ", "))}
}

// Scripts returns the scripts with which a remote supervisor starts its shells: the text of the file `run` in its
// directory, and the argument of -c. The words after that are the shell's name, the directory, the file with the
// command, the state to start from and the file for the new one, as in run.bash, run.zsh and run.sh.
func Scripts(kind string) (run []byte, main string) {
	switch kind {
	case kindBash:
		return runBash, mainBash
	case kindZsh:
		return runZsh, mainZsh
	}
	return runSh, mainSh
}
