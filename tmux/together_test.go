package tmux_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"buddy/tmux"
)

// TestSessionsTogether: sessions that start and end on one server at the same time, some of them by script as on other
// machines, do not disturb each other. tmux up to 3.6 crashes when a session starts or ends while a control client
// attaches.
func TestSessionsTogether(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	h := localHost(t, r.srv.Env)
	for round := range 6 {
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				opt := r.opt
				opt.Session = fmt.Sprintf("t%d", i)
				if i%2 == 1 {
					opt.Host, opt.Exe, opt.Env = h, "", nil
				}
				s := tmux.New(opt)
				dir := filepath.Join(r.dir, fmt.Sprintf("out-%d-%d", round, i))
				run, err := s.Start(t.Context(), tmux.Spec{Dir: dir, Command: "sleep 0.2; exit 3"})
				if err != nil {
					t.Errorf("round %d, session %d: Start: %v", round, i, err)
				} else if res, err := run.Wait(t.Context()); err != nil || res.ExitCode != 3 {
					t.Errorf("round %d, session %d: %+v, %v", round, i, res, err)
				}
				if _, err := s.Close(t.Context()); err != nil {
					t.Errorf("round %d, session %d: Close: %v", round, i, err)
				}
			})
		}
		all.Wait()
	}
}
