package confine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"buddy/tmux/pane/seatbelt"
)

// Box restricts commands. One Box serves many commands. Start and Sweep are safe for concurrent use, Stale and Renew
// are not.
type Box struct {
	config  Config
	surveys []*survey
	secrets map[string][]string // hidden paths, by workspace folder
	git     []string            // files that the user's git reads
	held    *seatbelt.Held
}

// New prepares the restrictions. The error is [ErrImpossible] if the self-test failed.
func New(c Config) (*Box, error) {
	if err := Possible(); err != nil {
		return nil, err
	}
	return newBox(c)
}

func newBox(c Config) (*Box, error) {
	if err := errors.Join(c.Check(c.Temp), Seal()); err != nil {
		return nil, err
	}
	b := &Box{config: c}
	for _, root := range c.Read {
		b.surveys = append(b.surveys, newSurvey(root, c.Hidden))
	}
	return b.Renew()
}

// Renew returns a box as New would create it now, but reads only changed folders. b must not be used any more.
func (b *Box) Renew() (*Box, error) {
	next := &Box{config: b.config, surveys: b.surveys, secrets: make(map[string][]string), git: b.config.gitFiles()}
	for _, s := range b.surveys {
		next.secrets[s.root] = s.look()
	}
	var err error
	if next.held, err = b.config.seatbelt(next.git, next.secrets).Hold(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrImpossible, err)
	}
	return next, nil
}

// Seal keeps programs from inheriting descriptors that this process has inherited.
var Seal = sync.OnceValue(func() error {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return fmt.Errorf("%w: inherited descriptors stay open: %w", ErrImpossible, err)
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
})

// Possible returns nil if commands could not break out of macOS's sandbox, else an error that is [ErrImpossible]. The
// first call on a version of macOS runs the self-test, which takes some seconds.
func Possible() error {
	err := seatbelt.Here().Usable(seatbelt.Trial{Mode: seatbelt.ReadOnly, Path: seatbelt.Path, Hold: func(w *seatbelt.World, _ seatbelt.Mode) (seatbelt.Holder, error) {
		return newBox(Config{Reach: Reach{Read: []string{w.Work}}, Env: w.Env, Temp: w.Temp})
	}})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrImpossible, err)
	}
	return nil
}

// Close does nothing.
func (*Box) Close() {}

// Start starts cmd restricted. cmd should have its own process group.
func (b *Box) Start(cmd *exec.Cmd) error {
	return b.held.Start(cmd)
}

// Group returns the process group that receives a command's signals: its own.
func (*Box) Group(pid int) int { return pid }

// Left returns nothing: remaining processes are unknown here.
func (*Box) Left() []string { return nil }

// Sweep ends the remaining processes of a command's group, and empties its folder. Call it after the command's Wait.
func (b *Box) Sweep(pid int) error {
	seatbelt.End(pid)
	return empty(b.config.Temp)
}

// Reads reports whether commands may list a folder, following links.
func (b *Box) Reads(dir string) bool { return b.held.Reads(dir) }

// Stale reports whether, since the box was created, files with secrets appeared or disappeared, or git reads other
// files of the user.
func (b *Box) Stale() bool {
	return !slices.Equal(b.git, b.config.gitFiles()) || slices.ContainsFunc(b.surveys, func(s *survey) bool { return !slices.Equal(s.look(), b.secrets[s.root]) })
}
