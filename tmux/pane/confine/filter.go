//go:build linux && (amd64 || arm64)

package confine

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Offsets in the data that a filter sees (struct seccomp_data of linux/seccomp.h).
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16
)

// Return values of a filter (linux/seccomp.h).
const (
	retKill  = 0x80000000
	retErrno = 0x00050000
	retAllow = 0x7fff0000
)

// errno returns the value that makes a call fail.
func errno(e unix.Errno) uint32 { return retErrno | uint32(e) }

// low and high return the offsets of the halves of an argument; both architectures are little-endian.
func low(arg int) uint32  { return offArgs + 8*uint32(arg) }
func high(arg int) uint32 { return low(arg) + 4 }

// program is a part of a filter. Each path through a program returns a value.
type program []bpf.Instruction

func answer(ret uint32) program { return program{bpf.RetConstant{Val: ret}} }

func load(off uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: off, Size: 4} }

// among returns a program that returns yes if one of the values equals the low half of an argument under the mask, else
// no.
func among(arg int, mask uint32, yes, no uint32, values ...uint32) program {
	p := program{load(low(arg)), bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: mask}}
	for i, v := range values {
		p = append(p, bpf.JumpIf{Cond: bpf.JumpEqual, Val: v, SkipTrue: uint8(len(values) - i)})
	}
	return append(p, bpf.RetConstant{Val: no}, bpf.RetConstant{Val: yes})
}

// whole is a mask that keeps the whole low half of an argument.
const whole = 1<<32 - 1

// only returns a program that runs then if the low half of an argument has the value, and otherwise returns no.
func only(arg int, value uint32, no uint32, then program) program {
	return append(program{load(low(arg)), bpf.JumpIf{Cond: bpf.JumpEqual, Val: value, SkipTrue: 1}, bpf.RetConstant{Val: no}}, then...)
}

// actions returns the programs for the actions in calls, for a kernel with this version of Landlock's interface.
func actions(abi int) map[string]program {
	var (
		eperm  = errno(unix.EPERM)
		eacces = errno(unix.EACCES)
		enosys = errno(unix.ENOSYS)
		allow  = answer(retAllow)
	)
	all := map[string]program{
		"allow": allow, "EPERM": answer(eperm), "EACCES": answer(eacces), "ENOSYS": answer(enosys),
		"socket": only(0, unix.AF_NETLINK, eacces, among(2, whole, retAllow, eacces, unix.NETLINK_ROUTE, unix.NETLINK_SOCK_DIAG)),
		// Datagram sockets are refused: they can send to a path, which a filter does not see.
		"socketpair": only(0, unix.AF_UNIX, eacces, among(1, 0xf, retAllow, eacces, unix.SOCK_STREAM, unix.SOCK_SEQPACKET)),
		"clone":      none(0, namespaces, eperm),
		"ioctl":      among(1, whole, retAllow, errno(unix.ENOTTY), ioctls...),
		"fcntl":      among(1, whole, eperm, retAllow, unix.F_SETLEASE, unix.F_NOTIFY),
		"self":       only(0, 0, eperm, allow),
		"priority":   only(0, unix.PRIO_PROCESS, eperm, only(1, 0, eperm, allow)),
		"ioprio":     only(0, 1 /* IOPRIO_WHO_PROCESS */, eperm, only(1, 0, eperm, allow)),
		// Other processes' limits may be read but not set. In a call that only reads, the address of the new limits is
		// 0.
		"prlimit": {
			load(low(0)),
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipTrue: 5},
			load(low(2)),
			bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 0, SkipTrue: 2},
			load(high(2)),
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipTrue: 1},
			bpf.RetConstant{Val: eperm},
			bpf.RetConstant{Val: retAllow},
		},
		// Only the address families that network namespaces isolate are allowed; the others reach the machine or its
		// hypervisor.
		"fenced-socket": {
			load(low(0)),
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_UNIX, SkipTrue: 8},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_INET, SkipTrue: 7},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_INET6, SkipTrue: 6},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_NETLINK, SkipTrue: 1},
			bpf.RetConstant{Val: errno(unix.EAFNOSUPPORT)},
			load(low(2)),
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.NETLINK_ROUTE, SkipTrue: 2},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.NETLINK_SOCK_DIAG, SkipTrue: 1},
			bpf.RetConstant{Val: eacces},
			bpf.RetConstant{Val: retAllow},
		},
		"fenced-socketpair": only(0, unix.AF_UNIX, errno(unix.EAFNOSUPPORT), allow),
		// Refuses requests that type into a terminal.
		"fenced-ioctl": among(1, whole, eperm, retAllow, unix.TIOCSTI, unix.TIOCLINUX),
		// Refuses bits that make a program a set-user-ID or set-group-ID program. The number in the action's name is
		// the number of the mode argument.
		"mode-1": none(1, setID, eperm), "mode-2": none(2, setID, eperm),
		"open-mode": creating(1, eperm), "openat-mode": creating(2, eperm),
		"leases": among(1, whole, eperm, retAllow, unix.F_SETLEASE, unix.F_NOTIFY),
		"signal": allow, "truncate": allow, "open": allow, "openat": allow, "openat2": allow,
	}
	if abi < abiScope {
		all["signal"] = answer(eperm)
		all["fcntl"] = among(1, whole, eperm, retAllow, unix.F_SETLEASE, unix.F_NOTIFY, unix.F_SETOWN, unix.F_SETOWN_EX)
	}
	if abi < abiTruncate {
		all["truncate"], all["openat2"] = answer(eperm), answer(enosys)
		all["open"], all["openat"] = truncating(1, eperm), truncating(2, eperm)
	}
	return all
}

// namespaces holds the flags of clone that create namespaces.
const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// none returns a program that returns no if an argument has one of the bits, and otherwise allows the call.
func none(arg int, bits, no uint32) program {
	return program{load(low(arg)), bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: bits, SkipTrue: 1}, bpf.RetConstant{Val: no}, bpf.RetConstant{Val: retAllow}}
}

// setID holds the set-user-ID and set-group-ID bits of a mode.
const setID = unix.S_ISUID | unix.S_ISGID

// creating returns a program that returns no if an open call creates a file with bits of setID. flags is the number of
// the flags argument; the mode follows it, and is undefined if the call creates no file.
func creating(flags int, no uint32) program {
	const makes = unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY
	return append(program{
		load(low(flags)), bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: makes, SkipTrue: 1}, bpf.RetConstant{Val: retAllow},
	}, none(flags+1, setID, no)...)
}

// truncating returns a program that returns no if the flags of an open call truncate a file without opening it for
// writing. Old versions of Landlock do not check this.
func truncating(arg int, no uint32) program {
	return append(program{
		load(low(arg)), bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: unix.O_TRUNC, SkipTrue: 1}, bpf.RetConstant{Val: retAllow},
	}, among(arg, unix.O_ACCMODE, retAllow, no, unix.O_WRONLY, unix.O_RDWR)...)
}

// ioctls lists the allowed requests, which only read or concern only a descriptor. Many others change something, even
// through a descriptor opened for reading.
var ioctls = []uint32{
	unix.TCGETS, unix.TCGETS2, unix.TIOCGWINSZ, unix.TIOCGPGRP, unix.TIOCGSID, unix.TIOCINQ,
	// FIONBIO, FIOCLEX, FIONCLEX (asm-generic/ioctls.h), FIGETBSZ, FS_IOC_FSGETXATTR, FS_IOC_FIEMAP (linux/fs.h)
	0x5421, 0x5451, 0x5450, 2, 0x801c581f, 0xc020660b, unix.FS_IOC_GETFLAGS,
	unix.SIOCGIFNAME, unix.SIOCGIFCONF, unix.SIOCGIFFLAGS, unix.SIOCGIFADDR, unix.SIOCGIFDSTADDR, unix.SIOCGIFBRDADDR,
	unix.SIOCGIFNETMASK, unix.SIOCGIFMETRIC, unix.SIOCGIFMTU, unix.SIOCGIFHWADDR, unix.SIOCGIFINDEX, unix.SIOCGIFTXQLEN,
}

// byNumber returns the action of each system call; later tables take precedence.
func byNumber(tables ...map[string][]uint32) map[uint32]string {
	all := map[uint32]string{}
	for _, t := range tables {
		for action, numbers := range t {
			for _, n := range numbers {
				all[n] = action
			}
		}
	}
	return all
}

// span is a range of call numbers with one action, starting at first.
type span struct {
	first  uint32
	action string
}

// spans sorts calls by number. Unknown numbers between and after them have the action ENOSYS.
func spans(calls map[uint32]string) []span {
	by := make([]string, slices.Max(slices.Collect(maps.Keys(calls)))+2)
	for n, action := range calls {
		by[n] = action
	}
	var all []span
	for n, action := range by {
		if action == "" {
			action = "ENOSYS"
		}
		if len(all) == 0 || all[len(all)-1].action != action {
			all = append(all, span{uint32(n), action})
		}
	}
	return all
}

// decide returns a program that finds the span of the loaded call number by bisection and runs the span's action.
func decide(all []span, do map[string]program) program {
	if len(all) == 1 {
		return do[all[0].action]
	}
	half := len(all) / 2
	below, above := decide(all[:half], do), decide(all[half:], do)
	p := program{
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: all[half].first, SkipTrue: 1},
		bpf.Jump{Skip: uint32(len(below))},
	}
	return slices.Concat(p, below, above)
}

// filter returns the complete filter of the read-only sandbox for one version of Landlock's interface.
func filter(abi int) ([]bpf.RawInstruction, error) {
	return assemble(byNumber(calls, machineCalls), actions(abi))
}

// FenceFilter returns the filter of the workspace sandbox as an array of struct sock_filter (linux/filter.h). It is the
// filter of the read-only sandbox with additional calls for builds and tests.
func FenceFilter() ([]byte, error) {
	filter, err := assemble(byNumber(calls, machineCalls, fenceCalls, machineFenceCalls), actions(abiScope))
	var out []byte
	for _, i := range filter {
		out = binary.NativeEndian.AppendUint16(out, i.Op)
		out = append(out, i.Jt, i.Jf)
		out = binary.NativeEndian.AppendUint32(out, i.K)
	}
	return out, err
}

// assemble compiles the actions of calls to a filter.
func assemble(calls map[uint32]string, do map[string]program) ([]bpf.RawInstruction, error) {
	for n, action := range calls {
		if do[action] == nil {
			return nil, fmt.Errorf("system call %d: unknown action %q", n, action)
		}
	}
	p := program{
		load(offArch),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1},
		bpf.RetConstant{Val: retKill},
		load(offNumber),
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: foreignNumbers, SkipTrue: 1},
		bpf.RetConstant{Val: retKill},
	}
	return bpf.Assemble(append(p, decide(spans(calls), do)...))
}
