package apptest

import (
	"testing"

	"buddy/tmux"
	"buddy/tools/target"
)

// Idle opens a target in dir on this machine, without a connection. Nothing runs on the target.
func Idle(t *testing.T, at *target.Target, dir string) *target.Session {
	t.Helper()
	here := *at
	here.Host = nil // the session uses the files in dir
	one, err := here.Open(target.Environment{Dir: dir}, target.Options{Options: tmux.Options{Session: at.Name, Exe: "none", Socket: dir + "/sock"}})
	if err != nil {
		t.Fatal(err)
	}
	return one
}
