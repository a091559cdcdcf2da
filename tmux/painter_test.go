package tmux

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A session that refuses each client, whose end wakes the painter, is asked only with pauses.
func TestRefusedClientIsNotStartedOverAndOver(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		most int
	}{
		{"refused", errors.New("session exists and is not ours"), 6},
		{"no pane yet", errNoPane, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				var p *painter
				p = newPainter(func(context.Context) (*control, error) {
					if asked++; asked < 1000 && !errors.Is(tt.err, errNoPane) {
						p.invalidate() // as the end of a client does
					}
					return nil, tt.err
				}, func(Screen) {})
				defer p.close()
				p.watch([]string{"%1"})
				time.Sleep(5 * time.Second) // on the fake clock
				synctest.Wait()
				if asked == 0 || asked > tt.most {
					t.Errorf("a client was started %d times in 5 s, want at most %d", asked, tt.most)
				}
			})
		})
	}
}
