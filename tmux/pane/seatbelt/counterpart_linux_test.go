//go:build amd64 || arm64

package seatbelt_test

import (
	"errors"
	"testing"

	"buddy/tmux/pane/confine"
	"buddy/tmux/pane/fence"
	"buddy/tmux/pane/seatbelt"
)

const path = "/usr/bin:/bin:/usr/sbin:/sbin"

// The sandboxes of Linux pass the self-test of macOS's sandbox: its allowed actions work, and its forbidden ones are
// refused.
func TestSandboxesOfLinuxPass(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, tt := range []struct {
		mode seatbelt.Mode
		hold func(*seatbelt.World, seatbelt.Mode) (seatbelt.Holder, error)
	}{
		{seatbelt.ReadOnly, func(w *seatbelt.World, _ seatbelt.Mode) (seatbelt.Holder, error) {
			return confine.New(confine.Config{Reach: confine.Reach{Read: []string{w.Work}}, Env: w.Env, Temp: w.Temp})
		}},
		{seatbelt.Fenced, inFence},
	} {
		t.Run(string(tt.mode), func(t *testing.T) {
			wrong, err := seatbelt.Trial{Mode: tt.mode, Path: path, Hold: tt.hold}.Run()
			if errors.Is(err, confine.ErrImpossible) || errors.Is(err, fence.ErrImpossible) {
				t.Skip(err)
			}
			if err != nil || len(wrong) > 0 {
				t.Errorf("%v: %q", err, wrong)
			}
		})
	}
}

func inFence(w *seatbelt.World, _ seatbelt.Mode) (seatbelt.Holder, error) {
	s := fence.Settings{Work: []string{w.Work}, Hide: w.Hidden}
	if err := fence.Available(s, w.Env); err != nil {
		return nil, err
	}
	w.Env = append(w.Env, "TMPDIR=/tmp") // its path in the sandbox
	return fence.New(fence.Config{Settings: s, Env: w.Env, Temp: w.Temp})
}
