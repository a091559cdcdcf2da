package confine

import "golang.org/x/sys/unix"

const (
	auditArch      = unix.AUDIT_ARCH_X86_64
	foreignNumbers = 0x40000000 // numbers from here on belong to x32
)

// machineCalls holds the system calls that only this architecture has.
var machineCalls = map[string][]uint32{
	"allow": {
		unix.SYS__SYSCTL, unix.SYS_ACCESS, unix.SYS_ALARM, unix.SYS_ARCH_PRCTL, unix.SYS_CREAT, unix.SYS_DUP2,
		unix.SYS_EPOLL_CREATE, unix.SYS_EPOLL_WAIT, unix.SYS_EVENTFD, unix.SYS_FORK, unix.SYS_GET_THREAD_AREA,
		unix.SYS_GETDENTS, unix.SYS_GETPGRP, unix.SYS_INOTIFY_INIT, unix.SYS_LINK, unix.SYS_LSTAT, unix.SYS_MKDIR,
		unix.SYS_MKNOD, unix.SYS_PAUSE, unix.SYS_PIPE, unix.SYS_POLL, unix.SYS_READLINK, unix.SYS_RENAME,
		unix.SYS_RMDIR, unix.SYS_SELECT, unix.SYS_SET_THREAD_AREA, unix.SYS_SIGNALFD, unix.SYS_STAT, unix.SYS_SYMLINK,
		unix.SYS_TIME, unix.SYS_UNLINK, unix.SYS_UPROBE, unix.SYS_URETPROBE, unix.SYS_USTAT, unix.SYS_VFORK,
	},
	"EPERM": {
		// Owners, modes, times and attributes, for which Landlock has no right.
		unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT,
		// The kernel: keys, programs, counters, modules, and objects shared with others by number.
		unix.SYS_MODIFY_LDT,
		// The machine.
		unix.SYS_IOPL, unix.SYS_IOPERM,
	},
	// Removed from the kernel.
	"ENOSYS": {
		unix.SYS_AFS_SYSCALL, unix.SYS_CREATE_MODULE, unix.SYS_EPOLL_CTL_OLD, unix.SYS_EPOLL_WAIT_OLD,
		unix.SYS_GET_KERNEL_SYMS, unix.SYS_GETPMSG, unix.SYS_PUTPMSG, unix.SYS_QUERY_MODULE, unix.SYS_SECURITY,
		unix.SYS_SYSFS, unix.SYS_TUXCALL, unix.SYS_USELIB, unix.SYS_VSERVER,
	},
	"open": {unix.SYS_OPEN},
}

// machineFenceCalls holds the calls whose action differs in the workspace sandbox.
var machineFenceCalls = map[string][]uint32{
	"allow": {unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT},
	// Setting the set-user-ID and set-group-ID bits is refused: a program with these bits would give the user's rights
	// to other users of the machine, outside of the sandbox.
	"mode-1":    {unix.SYS_CHMOD, unix.SYS_CREAT, unix.SYS_MKNOD},
	"open-mode": {unix.SYS_OPEN},
}
