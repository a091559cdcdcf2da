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

// syncEvery limits how long an event that nothing depends on may wait for the disk.
const syncEvery = time.Second

// disk holds what of a session file is not on the disk yet. The mutex of the journal guards it.
type disk struct {
	timer      *time.Timer // runs while data is not synced
	newFile    bool        // its directory entry is not synced yet
	turn       *turnSync   // of the last turn that ended; nil: none, or it was waited for
	background sync.WaitGroup
	sync       func(f *os.File, dir bool) error // nil: syncFile; tests watch the disk
}

// turnSync brings the end of a turn to the disk, while the model is asked already.
type turnSync struct {
	done chan struct{} // closed when err is set
	err  error
}

// awaitTurn waits until the last turn is on the disk, before an event that may not be recorded earlier: nothing takes
// back what a tool changes, who hears of the end of a task relies on its turns, and what is synced at once must not
// be there without them.
func (d *disk) awaitTurn(e event.Event) error {
	switch e.(type) {
	case event.ToolStarted, event.TaskFinished, event.ApprovalAsked, event.HistoryRewound:
		return d.settle()
	}
	return nil
}

// toDisk syncs an event that was written: at once, beside the next request, or within a second.
func (j *Journal) toDisk(e event.Event) error {
	switch e.(type) {
	case event.ApprovalAsked, event.HistoryRewound:
		return j.disk.syncAll(j.f)
	case event.TurnFinished:
		return j.disk.syncTurn(j.f)
	}
	j.armSync()
	return nil
}

// armSync schedules a sync within a second. Nothing runs while nothing is appended.
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
	dir := j.disk.takeNewFile()
	j.mu.Unlock()
	// Without the lock, so that Append does not wait for the disk.
	if err := j.disk.syncFile(j.f, dir); err != nil {
		j.mu.Lock()
		j.fail(err) //nolint:errcheck // Append returns it
		j.mu.Unlock()
	}
}

// syncAll writes everything to the disk now.
func (d *disk) syncAll(f *os.File) error {
	d.disarm()
	return d.syncFile(f, d.takeNewFile())
}

// syncTurn begins to write everything to the disk, on a goroutine of its own. settle waits for that.
func (d *disk) syncTurn(f *os.File) error {
	if err := d.settle(); err != nil {
		return err
	}
	d.disarm()
	t, dir := &turnSync{done: make(chan struct{})}, d.takeNewFile()
	d.turn = t
	go func() {
		t.err = d.syncFile(f, dir)
		close(t.done)
	}()
	return nil
}

// settle waits until the last turn that has ended is on the disk, and returns once what went wrong with that.
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
	if d.timer != nil && d.timer.Stop() { // else syncLater waits for the mutex and syncs again
		d.timer = nil
		d.background.Done()
	}
}

func (d *disk) takeNewFile() (dir bool) {
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
