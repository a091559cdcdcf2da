package pane

import (
	"fmt"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// Required versions of Landlock's interface (man 7 landlock): 3 knows truncation, 4 the
// network.
const (
	abiWrite   = 3
	abiNetwork = 4
)

// Possible returns nil when this kernel supports the sandbox, else an error that is
// ErrNoSandbox.
func (s *Sandbox) Possible() error {
	abi, err := ll.LandlockGetABIVersion()
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrNoSandbox, err)
	case abi < abiWrite, s.NoNetwork && abi < abiNetwork:
		return fmt.Errorf("%w: this one has version %d of its interface", ErrNoSandbox, abi)
	}
	return nil
}

// enter restricts this process and all its threads, for ever.
func (s *Sandbox) enter(dir string) error {
	dirs, files := s.writable(dir)
	rules := []landlock.Rule{
		landlock.RODirs("/"), landlock.RWDirs(dirs...).WithRefer().IgnoreIfMissing(), landlock.RWFiles(files...).IgnoreIfMissing(),
	}
	if err := landlock.V3.RestrictPaths(rules...); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	if !s.NoNetwork {
		return nil
	}
	if err := landlock.V4.RestrictNet(); err != nil {
		return fmt.Errorf("sandbox: network: %w", err)
	}
	return nil
}
