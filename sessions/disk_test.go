package sessions

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
)

// slowDisk is a disk whose syncs end on request.
type slowDisk struct {
	safe    atomic.Int64 // bytes that survive a power loss
	through chan error   // the result of a sync
}

func newSlowDisk(j *Journal) *slowDisk {
	d := &slowDisk{through: make(chan error)}
	j.disk.sync = func(f *os.File, _ bool) error {
		info, err := f.Stat() // later writes may be lost
		if err := errors.Join(err, <-d.through); err != nil {
			return err
		}
		d.safe.Store(max(d.safe.Load(), info.Size()))
		return nil
	}
	return d
}

// TestTurnWaitsForTheDisk: the next request does not wait until a turn is on the disk; the next tool, the end of the
// task and an approval do, and fail if the sync fails.
func TestTurnWaitsForTheDisk(t *testing.T) {
	broken := errors.New("broken disk")
	for _, tt := range []struct {
		next  event.Event
		waits bool
		fault error
	}{
		{event.TurnStarted{}, false, nil},
		{event.RequestStarted{}, false, nil},
		{event.ModelMessage{}, false, nil},
		{event.ToolRequested{}, false, nil},
		{event.ToolStarted{}, true, nil},
		{event.TaskFinished{}, true, nil},
		{event.TurnFinished{}, true, nil},
		{event.ToolStarted{}, true, broken},
		{event.TaskFinished{}, true, broken},
		{event.TurnFinished{}, true, broken},
		{event.ApprovalAsked{}, true, broken},
		{event.HistoryRewound{}, true, broken},
	} {
		s := newStore(t)
		t.Run(fmt.Sprintf("%s, %v", event.Type(tt.next), tt.fault), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j, err := s.Create(Header{})
				if err != nil {
					t.Fatal(err)
				}
				d := newSlowDisk(j)
				if err := j.Append(event.Envelope{Seq: 1, Payload: event.TurnFinished{}}); err != nil {
					t.Fatal(err)
				}
				turn := j.size
				appended := make(chan error, 1)
				go func() { appended <- j.Append(event.Envelope{Seq: 2, Payload: tt.next}) }()
				synctest.Wait()
				if waits := len(appended) == 0; waits != tt.waits {
					t.Errorf("waits for the disk: %v", waits)
				}
				d.through <- tt.fault
				if err := <-appended; !errors.Is(err, tt.fault) {
					t.Errorf("Append = %v, want %v", err, tt.fault)
				}
				synctest.Wait()
				if d.safe.Load() < turn && tt.fault == nil {
					t.Errorf("%d bytes on the disk, the turn ended at %d", d.safe.Load(), turn)
				}
				close(d.through) // the remaining syncs end
				_ = j.Close()
			})
		})
	}
}

// TestPowerLoss simulates a power loss after any event, on a slow disk: turns that ended before a tool started, an
// approval was asked for or a task ended are never lost.
func TestPowerLoss(t *testing.T) {
	events := []event.Event{event.TurnStarted{}, event.ModelMessage{}, event.ToolStarted{}, event.ToolResult{}, event.TurnFinished{}, event.TaskFinished{}, event.ApprovalAsked{}}
	j, err := newStore(t).Create(Header{})
	if err != nil {
		t.Fatal(err)
	}
	d := newSlowDisk(j)
	stop := make(chan struct{})
	defer func() { _ = j.Close(); close(stop) }()
	go func() {
		for {
			select {
			case d.through <- nil:
			case <-stop:
				return
			}
		}
	}()
	turn := int64(0) // the end of the last turn
	for seq := range uint64(3000) {
		e := events[rand.IntN(len(events))]
		if err := j.Append(event.Envelope{Seq: seq + 1, Payload: e}); err != nil {
			t.Fatal(err)
		}
		switch e.(type) {
		case event.TurnFinished, event.ApprovalAsked:
			turn = j.size
		}
		switch e.(type) {
		case event.ToolStarted, event.TaskFinished, event.ApprovalAsked:
			if safe := d.safe.Load(); safe < turn {
				t.Fatalf("event %d, %s: %d bytes on the disk, a turn or approval ends at %d", seq+1, event.Type(e), safe, turn)
			}
		}
	}
}
