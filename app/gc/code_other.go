//go:build !linux

package gc

// dropCode does nothing: other systems count the pages of a program's file once for all its processes.
func dropCode() {}
