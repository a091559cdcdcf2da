// Package fence starts commands that work in the workspace and reach nothing else: the workspace
// fence of commands that run without a question although they write.
//
// On macOS it is package seatbelt. On Linux it is bubblewrap (bwrap), which puts a command into namespaces of its own: it sees the
// system read-only, the workspace, a temporary folder and caches that are its own, no other
// process, and a network that is nothing but its own loopback. The system call filter comes from
// package confine, and so does the list of what the system is.
//
//	f, err := fence.New(fence.Config{Settings: s, Env: os.Environ(), Temp: tmp})
//	err = f.Start(cmd) // it was not started if this fails
//	err = cmd.Wait()
//	err = f.Sweep(cmd.Process.Pid) // ends what it left behind
package fence

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"buddy/texts"
	"buddy/texts/unseen"
)

// Settings say where the commands of a session may write and what they reach. All paths are absolute.
type Settings struct {
	Work    []string `json:"work,omitempty"`    // the workspace, then added folders: writable
	Write   []string `json:"write,omitempty"`   // more that is writable
	Hide    []string `json:"hide,omitempty"`    // what looks empty, wherever it lies
	State   string   `json:"state,omitempty"`   // the folder of our own files: no workspace
	Network bool     `json:"network,omitempty"` // the network of the machine, its loopback included
	Hosts   []string `json:"hosts,omitempty"`   // names that are reached although there is no network
	Asks    bool     `json:"asks,omitempty"`    // a person may be asked about other names, see [Fence.Ask]
	Cache   string   `json:"cache,omitempty"`   // the folder for caches of this workspace; "" is none
	Marks   string   `json:"marks,omitempty"`   // the folder with marks of what was changed without asking, see package unseen; "" is none
}

// Config describes the commands of a [Fence].
type Config struct {
	Settings
	// Env is the environment of the first command: its PATH, HOME and other variables name the tools.
	Env []string
	// Temp is an existing folder that is /tmp for the commands.
	Temp string
	// Show lists absolute paths that commands may read besides, also where they lie in what is hidden; Keep those
	// that they may write.
	Show, Keep []string
	// Server says that a command stays as long as the session: its start marks the workspace. Else the mark would stay
	// while it runs, and each command outside of the fence would ask.
	Server bool
}

// ErrImpossible means that commands can't be fenced here. Nothing ran. The text says what to
// install or switch on.
var ErrImpossible = errors.New("no workspace fence here")

// Place returns where it is remembered that commands have changed something.
func (s Settings) Place() unseen.Place {
	return unseen.Place{Dir: s.Marks, Folders: slices.Concat(s.Work, s.Write)}
}

// check returns an error that is [ErrImpossible] when the fence would hold nothing: home is the
// home folder.
func (s Settings) check(home string) error {
	if len(s.Work) == 0 {
		return fmt.Errorf("%w: there is no workspace", ErrImpossible)
	}
	for _, dir := range append(append([]string{}, s.Work...), s.Write...) {
		switch {
		case !filepath.IsAbs(dir):
			return fmt.Errorf("%w: %q is no absolute path", ErrImpossible, dir)
		case filepath.Clean(dir) == "/":
			return fmt.Errorf("%w: the folder %q is the whole system; work in the folder of a project", ErrImpossible, dir)
		case filepath.IsAbs(home) && texts.Below(home, dir):
			return fmt.Errorf("%w: the folder %q contains the home folder; work in the folder of a project", ErrImpossible, dir)
		case s.State != "" && (texts.Below(s.State, dir) || texts.Below(dir, s.State)):
			return fmt.Errorf("%w: the folder %q has to do with buddy's own, %q; work in the folder of a project", ErrImpossible, dir, s.State)
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

// mark marks the folders that a command will write to: what it changes there, nobody was asked about. end says that it changes
// nothing more.
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
