//go:build linux && !amd64

package pane

// olderWaits is empty here.
var olderWaits map[int]wait
