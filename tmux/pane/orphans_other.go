//go:build !linux

package pane

import "os/exec"

// Adopt does nothing here: init becomes the parent of orphans.
func Adopt() {}

// orphans are not adopted here; see orphans_linux.go.
type orphans struct{}

var orphaned orphans

func (orphans) adopt() {}

func (orphans) start(cmd *exec.Cmd, start func(*exec.Cmd) error) error { return start(cmd) }

func (orphans) present() map[int]bool { return nil }

func (orphans) leftBehind(map[int]bool, int) []Left { return nil }

func (orphans) wait(cmd *exec.Cmd) error { return cmd.Wait() }
