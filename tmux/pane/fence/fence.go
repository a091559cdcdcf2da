// Package fence implements the workspace sandbox, in which commands run without approval. They can write only to the
// workspace, and by default have no network.
//
//	f, err := fence.New(fence.Config{Settings: s, Env: os.Environ(), Temp: tmp})
//	err = f.Start(cmd) // after an error cmd was not started
//	err = cmd.Wait()
//	err = f.Sweep(cmd.Process.Pid) // ends the processes that cmd left behind
//
// On Linux, it uses bubblewrap (bwrap), which starts a command in its own namespaces: the command sees the system
// read-only, the workspace, its own temporary folder and caches, but no other processes, and by default no network
// except its own loopback. The system call filter and the list of system folders come from package confine. On macOS,
// the package uses package seatbelt.
package fence

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"

	"buddy/texts"
	"buddy/texts/unseen"
)

// Settings hold where the commands of a session may write and what they can reach. All paths are absolute.
type Settings struct {
	Work    []string `json:"work,omitempty"`    // the workspace, then added folders: writable
	Write   []string `json:"write,omitempty"`   // more writable folders
	Hide    []string `json:"hide,omitempty"`    // paths that look empty, anywhere
	State   string   `json:"state,omitempty"`   // the folder of buddy's own files, which can't be a workspace
	Network bool     `json:"network,omitempty"` // the network of the machine, its loopback included
	Hosts   []string `json:"hosts,omitempty"`   // hosts that commands can reach even without Network
	Asks    bool     `json:"asks,omitempty"`    // the user may be asked about other names, see [Fence.Ask]
	Cache   string   `json:"cache,omitempty"`   // the folder for the workspace's caches; "": none
	Marks   string   `json:"marks,omitempty"`   // the folder with marks of changes made without approval, see package unseen; "": none
}

// Config describes the commands of a [Fence].
type Config struct {
	Settings
	// Env is the environment of the first command: its PATH, HOME and other variables locate the tools.
	Env []string
	// Temp is an existing folder that commands see as /tmp.
	Temp string
	// Show lists additional absolute paths that commands may read, even inside hidden paths; Keep lists paths that they
	// may also write.
	Show, Keep []string
	// Server means that a command runs as long as the session. The workspace is then marked as changed without approval
	// only when the command starts: if the mark stayed while the command runs, each command outside of the fence would
	// need approval.
	Server bool
	// Launch returns the program that starts bwrap on Linux, with its first arguments; the path of bwrap and its
	// arguments follow. Launch is called with the command before each start, and may add to the command's ExtraFiles.
	// The program must create a network namespace and run bwrap in it, because with Launch the fence creates none. If
	// Launch is nil, bwrap is started directly.
	Launch func(cmd *exec.Cmd) []string
}

// ErrImpossible means that commands can't be sandboxed here. Nothing ran. The text tells the user what to install or
// switch on.
var ErrImpossible = errors.New("no workspace fence here")

// Place returns the workspace and the folder in which package unseen marks its changes.
func (s Settings) Place() unseen.Place {
	return unseen.Place{Dir: s.Marks, Folders: slices.Concat(s.Work, s.Write)}
}

// check returns an error that is [ErrImpossible] if the fence would protect nothing. home is the home folder.
func (s Settings) check(home string) error {
	if len(s.Work) == 0 {
		return fmt.Errorf("%w: there is no workspace", ErrImpossible)
	}
	for _, dir := range append(append([]string{}, s.Work...), s.Write...) {
		switch {
		case !filepath.IsAbs(dir):
			return fmt.Errorf("%w: %q is not an absolute path", ErrImpossible, dir)
		case filepath.Clean(dir) == "/":
			return fmt.Errorf("%w: the folder %q is the whole system; work in a project's folder", ErrImpossible, dir)
		case filepath.IsAbs(home) && texts.Below(home, dir):
			return fmt.Errorf("%w: the folder %q contains the home folder; work in a project's folder", ErrImpossible, dir)
		case s.State != "" && (texts.Below(s.State, dir) || texts.Below(dir, s.State)):
			return fmt.Errorf("%w: the folder %q contains, or is in, buddy's own folder %q; work in a project's folder", ErrImpossible, dir, s.State)
		}
		for _, hidden := range s.Hide {
			if texts.Below(dir, hidden) {
				return fmt.Errorf("%w: the folder %q is in %q, which is hidden; work in another folder", ErrImpossible, dir, hidden)
			}
		}
	}
	return nil
}

// proxied reports whether commands reach hosts through the proxy.
func (s Settings) proxied() bool { return (len(s.Hosts) > 0 || s.Asks) && !s.Network }

// mark marks the folders that a command may write to as changed without approval. The caller calls end when the command
// can't change anything any more.
func (c Config) mark(writes []string) (end func(), err error) {
	end, err = unseen.Place{Dir: c.Marks, Folders: writes}.Begin(true)
	if err != nil {
		return nil, fmt.Errorf("nothing ran: %w", err)
	}
	if c.Server {
		end()
		return func() {}, nil
	}
	return end, nil
}
