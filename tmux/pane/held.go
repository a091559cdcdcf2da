package pane

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"buddy/tmux/pane/confine"
	"buddy/tmux/pane/fence"
)

// These scripts print the names of the processes that still run in the workspace sandbox, just before the kernel ends
// them together with the shell. Their output follows the shell's folder in the report. The scripts are used inside
// single quotes.
const (
	leftInsideBash = `{ IFS= builtin read -r __buddy_n </proc/1/comm; [[ $__buddy_n != bwrap ]] || for __buddy_p in /proc/[0-9]*; do ` +
		`[[ $__buddy_p == /proc/1 || $__buddy_p == /proc/$$ ]] || { IFS= builtin read -r -d "" __buddy_n <$__buddy_p/cmdline && builtin printf "\\0%s" "$__buddy_n"; }; done; } >&9 2>/dev/null`
	leftInsideSh = `{ IFS= read -r __buddy_n </proc/1/comm; [ "$__buddy_n" != bwrap ] || for __buddy_p in /proc/[0-9]*; do ` +
		`case $__buddy_p in /proc/1 | /proc/$$) ;; *) read -r __buddy_s <$__buddy_p/stat && IFS= read -r __buddy_n <$__buddy_p/comm && case $__buddy_s in *") Z "*) ;; *) printf "\\0%s" "$__buddy_n" ;; esac ;; esac; done; } >&9 2>/dev/null`
)

// These scripts start the shell of a sandboxed command. As the last step before the command, the shell reads it from
// descriptor 3. At the end it reports its final folder and the names of remaining processes on descriptor 9. The
// arguments after the script are the shell's name, a folder that is gone ("" if none is), and for bash the variables
// that it must not export. The scripts evaluate no text that earlier commands set.
const (
	confinedBash = `IFS= builtin read -r -d '' __buddy_cmd <&3; exec 3<&-; SECONDS=0; ` + goneFolder + `(($# == 1)) || builtin export -n -- "${@:2}"; builtin set --; builtin shopt -s expand_aliases; ` +
		`builtin trap '[[ ${__buddy_done-} ]] || { builtin printf %s "$PWD" >&9; ` + leftInsideBash + `; }' EXIT; eval -- "$__buddy_cmd"; ` +
		`{ __buddy_rc=$? __buddy_done=1; set +euxv; builtin trap - DEBUG ERR; builtin printf %s "$PWD" >&9; ` + leftInsideBash + `; } 2>/dev/null; builtin exit "$__buddy_rc"`
	confinedSh = goneFolder + `set --; trap '[ -n "${__buddy_done-}" ] || { printf %s "$PWD" >&9; ` + leftInsideSh + `; }' EXIT; . /dev/fd/3` + "\n" +
		`{ __buddy_rc=$? __buddy_done=1; set +eux; printf %s "$PWD" >&9; ` + leftInsideSh + `; } 2>/dev/null; exit "$__buddy_rc"`
	goneFolder = `[ -z "$1" ] || printf 'buddy: the working directory %s is gone; running in an empty one\n' "$1" >&2; `
)

// folderMax limits the name of a folder, in bytes.
const folderMax = 4096

// sandbox restricts a command.
type sandbox interface {
	Start(cmd *exec.Cmd) error // starts it restricted, or not at all
	Group(pid int) int         // the process group that receives signals
	Sweep(pid int) error       // ends its remaining processes, after its Wait
	Reads(dir string) bool     // whether it may list a folder
	Close()
}

// holding holds what a Shell needs for sandboxed commands.
type holding struct {
	reach confine.Reach
	fence *fence.Settings // nil: no workspace sandbox

	// A box and a fence are created again after a command that may have changed their folders.
	box      *confine.Box
	oldBox   bool
	oldReach bool // box is for another reach
	fenced   *fence.Fence
	oldFence bool

	// of is the state file from which exported and plain were read.
	of              string
	exported, plain []string
}

// workedIn returns the workspace folders, whose files may have been written without approval.
func (f *holding) workedIn() []string {
	if f.fence == nil {
		return f.reach.Read
	}
	return slices.Concat(f.reach.Read, f.fence.Write)
}

func impossible(within Sandboxed) error {
	if within == Fenced {
		return fence.ErrImpossible
	}
	return confine.ErrImpossible
}

// held returns a shell for a sandboxed command, which the caller has to start. The caller holds mu.
func (s *Shell) held(mode Mode, within Sandboxed) (*waitingShell, error) {
	switch {
	case s.kind == kindZsh:
		return nil, fmt.Errorf("%w for zsh", impossible(within))
	case s.folder == "" && s.state != "":
		return nil, errors.New("the folder in which the last command ended is unknown; set it with cd in a command that the user approves")
	}
	if err := s.inherit(); err != nil {
		return nil, err
	}
	by, environ, err := s.sandbox(within)
	if err != nil {
		return nil, err
	}
	dir, gone := s.folder, ""
	if !isFolder(dir) {
		dir, gone = s.temp(within), dir
	}
	at, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	main := confinedBash
	if s.kind == kindSh {
		main = confinedSh
	}
	cmd := &exec.Cmd{Path: s.exe, Args: append([]string{s.name, "-c", main, s.name, gone}, s.hold.plainNames()...), Dir: dir}
	now := slices.Concat(s.hold.exported, s.hold.plain)
	if s.state == "" {
		now = s.env
	}
	cmd.Env = append(environ(now), "PWD="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return &waitingShell{mode: mode, by: by, proc: cmd, at: at, report: make(chan []byte, 1), ended: make(chan struct{})}, nil
}

func (f *holding) plainNames() []string {
	var names []string
	for _, kv := range f.plain {
		name, _, _ := strings.Cut(kv, "=")
		names = append(names, name)
	}
	return names
}

// temp returns the folder that sandboxed commands may write to.
func (s *Shell) temp(within Sandboxed) string {
	if within == Fenced {
		return filepath.Join(s.dir, "fence")
	}
	return filepath.Join(s.dir, "tmp")
}

// sandbox returns the sandbox and a function that makes a command's environment from the variables of earlier commands.
// The caller holds mu.
func (s *Shell) sandbox(within Sandboxed) (by sandbox, environ func(now []string) []string, err error) {
	if err := makePrivate(s.temp(within)); err != nil {
		return nil, nil, err
	}
	withheld := s.hold.reach.Withheld
	switch within {
	case ReadOnly:
		box, err := s.box()
		return box, func(now []string) []string { return confine.Environ(s.env, now, withheld, s.temp(ReadOnly)) }, err
	case Fenced:
		f, err := s.fence()
		return f, func(now []string) []string { return f.Environ(now, withheld) }, err
	}
	return nil, nil, fmt.Errorf("%q: unknown sandbox", within)
}

// box returns the box of confined commands. It is created again when it is stale, and after each command without a
// sandbox, which may have created a folder that was missing. The caller holds mu.
func (s *Shell) box() (box *confine.Box, err error) {
	h := &s.hold
	switch {
	case h.box == nil || h.oldReach:
		box, err = confine.New(confine.Config{Reach: h.reach, Env: s.env, Temp: s.temp(ReadOnly), Work: h.workedIn()})
	case h.oldBox || h.box.Stale():
		box, err = h.box.Renew()
	default:
		return h.box, nil
	}
	if err != nil {
		return nil, err
	}
	h.box.Close()
	h.box, h.oldBox, h.oldReach = box, false, false
	return box, nil
}

// fence returns the workspace sandbox. It is created again when it is stale, and after each command without a sandbox.
// The caller holds mu.
func (s *Shell) fence() (*fence.Fence, error) {
	h := &s.hold
	switch {
	case h.fence == nil:
		return nil, fmt.Errorf("%w: the session has none", fence.ErrImpossible)
	case h.fenced != nil && !h.oldFence && !h.fenced.Stale():
		return h.fenced, nil
	}
	f, err := h.fenced.Renew(fence.Config{Settings: *h.fence, Env: s.env, Temp: s.temp(Fenced)})
	if err != nil {
		return nil, err
	}
	h.fenced.Close()
	h.fenced, h.oldFence = f, false
	return f, nil
}

// inherit reads the variables of the state. The caller holds mu.
func (s *Shell) inherit() (err error) {
	f := &s.hold
	if s.state == f.of {
		return nil
	}
	text, err := os.ReadFile(s.state)
	if err != nil {
		return err
	}
	if f.exported, f.plain, err = variables(string(text)); err != nil {
		return fmt.Errorf("the variables of earlier commands can't be read: %w", err)
	}
	f.of = s.state
	return nil
}

// Exported returns the variables that were exported after the last command of the supervisor in dir, as NAME=value. It
// returns nil before the first command, and for zsh, whose state it does not read. shell is the name of the
// supervisor's shell.
func Exported(dir, shell string) ([]string, error) {
	kind := KindOf(shell)
	if dir == "" || kind == kindZsh {
		return nil, nil
	}
	name := newestState(dir, kind)
	if name == "" {
		return nil, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	exported, _, err := variables(string(text))
	return exported, err
}

// variables returns the exported and the plain variables of a state as NAME=value, without evaluating anything. Arrays
// are omitted.
func variables(state string) (exported, plain []string, err error) {
	text, _, _ := strings.Cut(state, "\n#free\n")
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, nil, err
	}
	none := &expand.Config{Env: expand.ListEnviron(), NoUnset: true}
	for _, st := range file.Stmts {
		decl, ok := st.Cmd.(*syntax.DeclClause)
		if !ok {
			continue
		}
		flags := ""
		for _, a := range decl.Args {
			switch {
			case a.Name == nil:
				if a.Value != nil {
					flags += a.Value.Lit()
				}
			case a.Value != nil && a.Array == nil && !strings.ContainsAny(flags, "aAn"):
				value, err := expand.Literal(none, a.Value)
				if err != nil {
					return nil, nil, err
				}
				if kv := a.Name.Value + "=" + value; decl.Variant.Value == "export" || strings.Contains(flags, "x") {
					exported = append(exported, kv)
				} else {
					plain = append(plain, kv)
				}
			}
		}
	}
	return exported, plain, nil
}

// endHeld ends the remaining processes of a sandboxed command and returns their names. The next command then starts in
// the command's final folder, if it may read that.
func (c *Command) endHeld() (ended []string, err error) {
	r := c.started
	if box, ok := r.by.(*confine.Box); ok && len(box.Left()) > 0 {
		time.Sleep(leftSoon)
		ended = box.Left()
	}
	err = r.by.Sweep(r.proc.Process.Pid)
	_ = r.folder.SetReadDeadline(time.Now().Add(time.Second)) // the pipe is at its end, unless a process remains
	report := <-r.report
	_ = r.folder.Close()
	s := c.shell
	s.mu.Lock()
	defer s.mu.Unlock()
	dir, behind, _ := strings.Cut(string(report), "\x00")
	for name := range strings.SplitSeq(behind, "\x00") {
		if name != "" && len(ended) < leftMax {
			ended = append(ended, filepath.Base(name))
		}
	}
	switch {
	case dir == "" || dir == s.folder || dir == s.temp(c.within): // the command was killed, or kept its folder
	case len(dir) > folderMax, !filepath.IsAbs(dir), strings.ContainsAny(dir, "\n\x00"), !isFolder(dir):
		err = errors.Join(err, fmt.Errorf("the folder stays %q: the command reported no usable one", s.folder))
	case !r.by.Reads(dir):
		err = errors.Join(err, fmt.Errorf("the folder stays %q: a command in %s cannot change to %q, which it may not read", s.folder, c.within.name(), dir))
	default:
		err = errors.Join(err, s.moveTo(dir, true))
	}
	return ended, errors.Join(err, os.WriteFile(filepath.Join(c.dir, "cwd"), []byte(s.folder), 0o600))
}

// moveTo sets the folder of the next command. apart means that the state file contains another folder. The caller holds
// mu.
func (s *Shell) moveTo(dir string, apart bool) error {
	if dir == s.folder && apart == s.apart {
		return nil
	}
	s.folder, s.apart = dir, apart
	return os.WriteFile(filepath.Join(s.dir, folderFile), []byte(dir), 0o600)
}

// FromFile names the file that holds a sandboxed command's start folder, if that is not the shell's folder.
const FromFile = "from"

// goTo sets the folder of the next command from a file, if the file exists.
func (s *Shell) goTo(file string) error {
	dir, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.moveTo(string(dir), true)
}

// folderFile names the file that holds the start folder of the next command.
const folderFile = "folder"

// isFolder reports whether an absolute path is a folder.
func isFolder(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir() && filepath.IsAbs(dir)
}

// name returns the sandbox's name for display.
func (w Sandboxed) name() string {
	if w == Fenced {
		return "the sandbox"
	}
	return "the read-only sandbox"
}

// interrupt passes Ctrl-C on to a command in a separate session, because such a command is not in the terminal's
// foreground.
func (c *Command) interrupt() {
	if c.started.apart() {
		c.signal(syscall.SIGINT)
	}
}
