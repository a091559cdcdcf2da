package undo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"buddy/agent/event"
	"buddy/agent/stream"
)

func TestKeptCopiesAreBounded(t *testing.T) {
	dir := t.TempDir()
	c := New(stream.New("s1", time.Now, nil), nil, "", "")
	copyOf := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	kept := func(task int, path, name string, bytes int64) {
		c.add(0, task, event.FileKept{Files: []event.KeptFile{{Path: path, Copy: copyOf(name), Existed: true, Bytes: bytes}}})
	}
	kept(1, "/a", "1", maxKept/2)
	kept(2, "/a", "2", maxKept/2)
	c.free(1)
	if _, err := os.Stat(filepath.Join(dir, "1")); err == nil || c.bytes != maxKept/2 {
		t.Errorf("the oldest copy is there, %d bytes", c.bytes)
	}
	if b, err := readCopy(c.steps[0].kept[0].Files[0]); err != nil || !b.Lost {
		t.Errorf("%+v, %v, want it lost", b, err)
	}
	if b, err := readCopy(c.steps[1].kept[0].Files[0]); err != nil || b.Lost {
		t.Errorf("%+v, %v, want it kept", b, err)
	}
	c.restored(1, event.FileRestored{Calls: make([]string, 9)})
	if c.bytes != maxKept/2 || len(c.steps) != 0 { // /redo needs them
		t.Errorf("left %d bytes, %+v", c.bytes, c.steps)
	}
	for range maxTaken {
		c.restored(1, event.FileRestored{})
	}
	if c.bytes != 0 || len(c.taken) != maxTaken {
		t.Errorf("left %d bytes, %+v", c.bytes, c.taken)
	}
}

// Changes on several targets can't be undone together; those on one target can.
func TestUndoOnTargets(t *testing.T) {
	files := func(_ context.Context, target string) (Files, error) { return nil, fmt.Errorf("asked for %s", target) }
	for _, tt := range []struct {
		targets []string
		want    string
	}{
		{[]string{"web-01", "web-02"}, "the files are on web-01 and web-02; buddy restores all or none, so they must be on one target"},
		{[]string{"web-01", "web-01"}, "asked for web-01"},
	} {
		l := New(stream.New("s1", time.Now, nil), files, "local", "")
		for i, target := range tt.targets {
			l.add(0, 1, event.FileKept{CallID: fmt.Sprint("c", i), Target: target, Files: []event.KeptFile{{Path: "/x"}}})
		}
		run, err := l.Begin(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := run.putBack(false); err == nil || err.Error() != tt.want {
			t.Errorf("%v: %v, want %s", tt.targets, err, tt.want)
		}
	}
}

// However an undo ends, its copies are counted once, and only as long as they may be needed.
func TestCopiesOfAnUndoCountOnce(t *testing.T) {
	kept := event.FileKept{CallID: "c", Files: []event.KeptFile{{Path: "/a", Copy: "b", Existed: true, Bytes: 100}}}
	files := []event.KeptFile{{Path: "/a", Copy: "a", Existed: true, Bytes: 10}}
	begins := event.FileRestoring{Calls: []string{"c"}, Kept: files}
	done := event.FileRestored{Calls: []string{"c"}, Kept: files}
	redo, redone := event.FileRestoring{Calls: []string{"c"}, Redo: true}, event.FileRestored{Calls: []string{"c"}, Redo: true}
	for name, tt := range map[string]struct {
		events []event.Event
		want   int64
	}{
		"done":                          {[]event.Event{begins, done}, 110},
		"by an earlier version":         {[]event.Event{done}, 110},
		"failed":                        {[]event.Event{begins, event.FileUnchanged{}}, 100},
		"interrupted":                   {[]event.Event{begins}, 110},
		"interrupted and done":          {[]event.Event{begins, begins, done}, 110},
		"interrupted twice and done":    {[]event.Event{begins, begins, begins, done}, 110},
		"interrupted and failed":        {[]event.Event{begins, begins, event.FileUnchanged{}}, 110},
		"interrupted and redone":        {[]event.Event{begins, redo, redone}, 100},
		"interrupted, redo interrupted": {[]event.Event{begins, redo, redo, redone}, 100},
		"redone":                        {[]event.Event{begins, done, redo, redone}, 100},
		"redo interrupted":              {[]event.Event{begins, done, redo, redo, redone}, 100},
		"redo failed":                   {[]event.Event{begins, done, redo, event.FileUnchanged{}}, 110},
		"new changes":                   {[]event.Event{begins, kept}, 210},
		"new changes, all taken back":   {[]event.Event{begins, kept, begins, done, redo, redone}, 210},
	} {
		l := New(stream.New("s1", time.Now, nil), nil, "", "")
		for i, e := range append([]event.Event{kept}, tt.events...) {
			l.Replay(event.Envelope{Seq: uint64(i + 1), Task: i + 1, Payload: e})
		}
		if l.bytes != tt.want {
			t.Errorf("%s: %d bytes, want %d", name, l.bytes, tt.want)
		}
	}
}
