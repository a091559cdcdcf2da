package confine

import "golang.org/x/sys/unix"

const (
	auditArch      = unix.AUDIT_ARCH_X86_64
	foreignNumbers = 0x40000000 // from here on they are those of x32
)
