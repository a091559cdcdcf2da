//go:build linux && !amd64

package pane

// olderWaits is empty: this architecture has no older system calls to wait with.
var olderWaits map[int]wait
