package pane

import "golang.org/x/sys/unix"

// olderWaits lists the calls that newer architectures do not have.
var olderWaits = map[int]wait{unix.SYS_POLL: waitPoll, unix.SYS_SELECT: waitSelect, unix.SYS_EPOLL_WAIT: waitEpoll}
