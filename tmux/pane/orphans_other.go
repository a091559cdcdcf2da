//go:build !linux

package pane

import "os/exec"

// Adopt does nothing here: what a program leaves behind gets init as its parent.
func Adopt() {}

// orphans get init as their parent here; see orphans_linux.go.
type orphans struct{}

var orphaned orphans

func (orphans) adopt() {}

func (orphans) start(cmd *exec.Cmd, start func(*exec.Cmd) error) error { return start(cmd) }

func (orphans) present() map[int]bool { return nil }

func (orphans) left(map[int]bool, int) []Left { return nil }

func (orphans) wait(cmd *exec.Cmd) error { return cmd.Wait() }
