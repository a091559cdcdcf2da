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

// syncEvery is how long what nothing depends on may wait for the disk.
const syncEvery = time.Second

// disk brings what was written to a session file to the disk. Its methods are called by one
// goroutine at a time.
type disk struct {
	turn       *turnSync // of the last turn that ended; nil: none, or it was waited for
	background sync.WaitGroup
	sync       func(f *os.File, dir bool) error // nil: syncFile; tests watch the disk

	mu      sync.Mutex  // guards what follows
	timer   *time.Timer // runs while data is not synced
	newFile bool        // its directory entry is not synced yet
}

// turnSync brings the end of a turn to the disk, while the model is asked already.
type turnSync struct {
	done chan struct{} // closed when err is set
	err  error
}

// await waits for the disk where an event may not be recorded earlier: a tool may change what nothing takes
// back, and who hears of the end of a task relies on its turns.
func (d *disk) await(e event.Event) error {
	switch e.(type) {
	case event.ToolStarted, event.TaskFinished:
		return d.settle()
	}
	return nil
}

// written syncs an event that was written to f, or has it synced. failed takes the error of a sync that
// nobody waits for.
func (d *disk) written(f *os.File, e event.Event, failed func(error)) error {
	switch e.(type) {
	case event.ApprovalAsked, event.HistoryRewound:
		d.disarm()
		return d.syncFile(f)
	case event.TurnFinished:
		return d.syncTurn(f)
	}
	d.arm(f, failed)
	return nil
}

// arm schedules a sync within a second. Nothing runs while nothing is appended.
func (d *disk) arm(f *os.File, failed func(error)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		return
	}
	d.background.Add(1)
	d.timer = time.AfterFunc(syncEvery, func() {
		defer d.background.Done()
		d.mu.Lock()
		d.timer = nil
		d.mu.Unlock()
		if err := d.syncFile(f); err != nil {
			failed(err)
		}
	})
}

// disarm stops the scheduled sync and reports whether there was one.
func (d *disk) disarm() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer == nil || !d.timer.Stop() { // one that begins syncs again
		return false
	}
	d.timer = nil
	d.background.Done()
	return true
}

// syncTurn begins to write everything to the disk. settle waits for that.
func (d *disk) syncTurn(f *os.File) error {
	if err := d.settle(); err != nil {
		return err
	}
	d.disarm()
	t := &turnSync{done: make(chan struct{})}
	d.turn = t
	go func() {
		t.err = d.syncFile(f)
		close(t.done)
	}()
	return nil
}

// settle waits until the last turn that has ended is on the disk.
func (d *disk) settle() error {
	t := d.turn
	if t == nil {
		return nil
	}
	<-t.done
	d.turn = nil
	return t.err
}

// close waits until everything is on the disk.
func (d *disk) close(f *os.File) error {
	var err error
	if d.disarm() {
		err = d.syncFile(f)
	}
	return errors.Join(err, d.settle())
}

// syncFile writes everything to the disk now.
func (d *disk) syncFile(f *os.File) error {
	d.mu.Lock()
	dir := d.newFile
	d.newFile = false
	d.mu.Unlock()
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
