package pane

import (
	"errors"
	"flag"
	"io"
	"os"
	"strings"
)

// Sandbox restricts a supervisor and all that it starts (Landlock): files may be read and run
// everywhere, but written only below Write. It can't be lifted.
type Sandbox struct {
	Write     []string // absolute paths of folders
	NoNetwork bool     // no TCP connections, in or out; needs Linux 6.7
}

// ErrNoSandbox means that the kernel cannot restrict writing.
var ErrNoSandbox = errors.New("the kernel has no Landlock that can restrict writing (Linux 6.2 or newer)")

// Args returns the arguments of `buddy pane` for the sandbox, to be put before the directory.
func (s *Sandbox) Args() []string {
	if s == nil {
		return nil
	}
	args := []string{"--sandbox"}
	for _, w := range s.Write {
		args = append(args, "--write="+w)
	}
	if s.NoNetwork {
		args = append(args, "--no-network")
	}
	return args
}

// Explain returns a sentence on why a command may have failed, "" when its error output does
// not look like the sandbox.
func (s *Sandbox) Explain(stderr string) string {
	if s == nil || !strings.Contains(stderr, "ermission denied") {
		return ""
	}
	text := "the sandbox lets commands write only in " + strings.Join(s.Write, ", ")
	if s.NoNetwork {
		text += ", and use no network"
	}
	return text + "; [sandbox] in the settings changes that"
}

// paths collects the values of a repeated flag.
type paths []string

func (p *paths) String() string     { return strings.Join(*p, ", ") }
func (p *paths) Set(s string) error { *p = append(*p, s); return nil }

// parseArgs parses what Args made, the shell, and the directory.
func parseArgs(args []string) (dir, shell string, s *Sandbox, err error) {
	f := flag.NewFlagSet("pane", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	var box Sandbox
	on := f.Bool("sandbox", false, "")
	f.Var((*paths)(&box.Write), "write", "")
	f.StringVar(&shell, "shell", "", "")
	f.BoolVar(&box.NoNetwork, "no-network", false, "")
	if err := f.Parse(args); err != nil {
		return "", "", nil, err
	}
	if f.NArg() != 1 {
		return "", "", nil, errors.New("one directory is needed")
	}
	if *on {
		s = &box
	}
	return f.Arg(0), shell, s, nil
}

// writable returns what a sandboxed supervisor writes to: its own directory, the folders of
// Write, and the devices that every program writes to.
func (s *Sandbox) writable(dir string) (dirs, files []string) {
	dirs = append([]string{dir, "/dev/pts", "/dev/shm", "/proc/self"}, s.Write...)
	files = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx"}
	if tty, err := os.Readlink("/proc/self/fd/0"); err == nil && strings.HasPrefix(tty, "/dev/") {
		files = append(files, tty)
	}
	return dirs, files
}
