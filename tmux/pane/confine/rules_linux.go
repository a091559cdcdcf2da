//go:build linux && (amd64 || arm64)

package confine

import (
	"errors"
	"fmt"
	"os"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// The relevant versions of Landlock's interface (man 7 landlock, linux/landlock.h).
const (
	abiRefer       = 2
	abiTruncate    = 3
	abiNet         = 4
	abiIoctl       = 5
	abiScope       = 6 // of signals and abstract sockets
	abiResolveUnix = 9
	abiUDP         = 10
)

// signalsFixed is the bit of the erratum without which threads of a scoped process can't signal each other
// (linux/landlock.h, erratum 2). Go's runtime sends such signals.
const signalsFixed = 1 << 1

// version returns the interface version to use: the kernel's, or limit if that is lower and
// not 0.
func version(limit int) (int, error) {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil || abi < 1 {
		return 0, fmt.Errorf("%w: the kernel has no Landlock (Linux 5.13 or newer has it unless it is switched off): %w", ErrImpossible, err)
	}
	if limit > 0 {
		abi = min(abi, limit)
	}
	if errata, err := ll.LandlockGetErrata(); abi >= abiScope && (err != nil || errata&signalsFixed == 0) {
		abi = abiScope - 1
	}
	return abi, nil
}

// Accesses to a folder or file, in addition to looking it up.
const (
	toRead  = ll.AccessFSReadFile | ll.AccessFSReadDir
	toRun   = toRead | ll.AccessFSExecute
	toWrite = ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSTruncate
	// toFill includes neither creating sockets and devices nor running the files that were written.
	toFill = toRead | toWrite | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSMakeDir | ll.AccessFSMakeReg |
		ll.AccessFSMakeSym | ll.AccessFSMakeFifo | ll.AccessFSRefer

	ofFiles = ll.AccessFSExecute | ll.AccessFSWriteFile | ll.AccessFSReadFile | ll.AccessFSTruncate | ll.AccessFSIoctlDev | ll.AccessFSResolveUnix
)

// handled returns all accesses that a version can restrict. Such accesses are denied where no rule allows them.
func handled(abi int) ll.RulesetAttr {
	a := ll.RulesetAttr{HandledAccessFS: ll.AccessFSRefer - 1}
	for _, s := range []struct {
		abi  int
		bits uint64
		to   *uint64
	}{
		{abiRefer, ll.AccessFSRefer, &a.HandledAccessFS},
		{abiTruncate, ll.AccessFSTruncate, &a.HandledAccessFS},
		{abiNet, ll.AccessNetBindTCP | ll.AccessNetConnectTCP, &a.HandledAccessNet},
		{abiIoctl, ll.AccessFSIoctlDev, &a.HandledAccessFS},
		{abiScope, ll.ScopeAbstractUnixSocket | ll.ScopeSignal, &a.Scoped},
		{abiResolveUnix, ll.AccessFSResolveUnix, &a.HandledAccessFS},
		{abiUDP, ll.AccessNetBindUDP | ll.AccessNetConnectSendUDP, &a.HandledAccessNet},
	} {
		if abi >= s.abi {
			*s.to |= s.bits
		}
	}
	return a
}

// ruleSet creates Landlock's rules for one version of its interface.
func ruleSet(abi int, all []pathRule) (*os.File, error) {
	attr := handled(abi)
	fd, err := ll.LandlockCreateRuleset(&attr, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: Landlock: %w", ErrImpossible, err)
	}
	rules := os.NewFile(uintptr(fd), "landlock")
	for _, p := range all {
		if err := allow(fd, p, attr.HandledAccessFS); err != nil {
			return nil, errors.Join(fmt.Errorf("%w: Landlock: %q: %w", ErrImpossible, p.path, err), rules.Close())
		}
	}
	return rules, nil
}

// allow adds a rule, unless its path is missing or belongs to another user.
func allow(rules int, p pathRule, handled uint64) error {
	flags := unix.O_PATH | unix.O_CLOEXEC
	if p.noLink {
		flags |= unix.O_NOFOLLOW
	}
	fd, err := unix.Open(p.path, flags, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return nil // the file is gone
	}
	access := p.access & handled
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= ofFiles
	}
	return ll.LandlockAddPathBeneathRule(rules, &ll.PathBeneathAttr{AllowedAccess: access, ParentFd: fd}, 0)
}
