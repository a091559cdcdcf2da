package confine

import "golang.org/x/sys/unix"

const (
	auditArch      = unix.AUDIT_ARCH_AARCH64
	foreignNumbers = 1 << 31
)

// This architecture has no additional calls.
var machineCalls, machineFenceCalls map[string][]uint32
