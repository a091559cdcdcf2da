package sessions

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"buddy/agent/event"
)

// syncEvery limits how long an uncritical event may wait for the disk.
const syncEvery = time.Second

// disk tracks the part of a session file that is not on the disk yet. The mutex of the journal guards it.
type disk struct {
	timer      *time.Timer // runs while data is not synced
	newFile    bool        // the directory entry is not synced yet
	turn       *turnSync   // the sync of the last turn; nil: none is pending
	background sync.WaitGroup
	sync       func(f *os.File, dir bool) error // nil: syncFile; tests watch the disk
}

// turnSync is a sync of the end of a turn, which runs during the next request to the model.
type turnSync struct {
	done chan struct{} // closed when err is set
	err  error
}

// awaitTurn waits until the last turn is on the disk, if the event must not be recorded before the turn: a tool's
// changes can't be undone, listeners to the end of a task rely on the task's turns, and an event that is synced at once
// must not be on the disk without the turns before it.
func (d *disk) awaitTurn(e event.Event) error {
	switch e.(type) {
	case event.ToolStarted, event.TaskFinished, event.ApprovalAsked, event.EffectApplying, event.HistoryRewound:
		return d.settle()
	}
	return nil
}

// toDisk syncs a written event: at once, during the next request, or within a second.
func (j *Journal) toDisk(e event.Event) error {
	switch e.(type) {
	case event.ApprovalAsked, event.EffectApplying, event.HistoryRewound:
		return j.disk.syncAll(j.f)
	case event.TurnFinished:
		return j.disk.syncTurn(j.f)
	}
	j.armSync()
	return nil
}

// armSync schedules a sync within a second. Without appends no timer runs.
func (j *Journal) armSync() {
	if j.disk.timer != nil {
		return
	}
	j.disk.background.Add(1)
	j.disk.timer = time.AfterFunc(syncEvery, j.syncLater)
}

func (j *Journal) syncLater() {
	defer j.disk.background.Done()
	j.mu.Lock()
	j.disk.timer = nil
	dir := j.disk.clearNewFile()
	j.mu.Unlock()
	// The mutex is not held, so that Append does not wait for the disk.
	if err := j.disk.syncFile(j.f, dir); err != nil {
		j.mu.Lock()
		j.fail(err) //nolint:errcheck // Append returns the error
		j.mu.Unlock()
	}
}

// syncAll writes everything to the disk now.
func (d *disk) syncAll(f *os.File) error {
	d.disarm()
	return d.syncFile(f, d.clearNewFile())
}

// syncTurn starts to write everything to the disk, on its own goroutine. settle waits for it.
func (d *disk) syncTurn(f *os.File) error {
	if err := d.settle(); err != nil {
		return err
	}
	d.disarm()
	t, dir := &turnSync{done: make(chan struct{})}, d.clearNewFile()
	d.turn = t
	go func() {
		t.err = d.syncFile(f, dir)
		close(t.done)
	}()
	return nil
}

// settle waits until the last finished turn is on the disk. It returns an error of that sync once.
func (d *disk) settle() error {
	t := d.turn
	if t == nil {
		return nil
	}
	<-t.done
	d.turn = nil
	return t.err
}

// disarm stops the scheduled sync.
func (d *disk) disarm() {
	if d.timer != nil && d.timer.Stop() { // otherwise syncLater waits for the mutex and syncs again
		d.timer = nil
		d.background.Done()
	}
}

func (d *disk) clearNewFile() (dir bool) {
	dir, d.newFile = d.newFile, false
	return dir
}

func (d *disk) syncFile(f *os.File, dir bool) error {
	if d.sync != nil {
		return d.sync(f, dir)
	}
	return syncFile(f, dir)
}

func syncFile(f *os.File, dir bool) error {
	err := datasync(f)
	if dir && err == nil {
		err = syncDir(f.Name())
	}
	if err != nil {
		return fmt.Errorf("it may not be on the disk: %w", err)
	}
	return nil
}

// syncDir writes the directory entry of path to the disk.
func syncDir(path string) error {
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(datasync(d), d.Close())
}
