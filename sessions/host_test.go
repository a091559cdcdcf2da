package sessions

import (
	"os"
	"path/filepath"
	"testing"
)

// TestHostNote: one process at a time can change the note with a host, which others can always read. A released empty
// note leaves no file, and a damaged one names no host.
func TestHostNote(t *testing.T) {
	s := At(t.TempDir())
	id := NewID()
	path := filepath.Join(s.dir, id+hostExt)
	hold := func() *HostNote {
		t.Helper()
		n, err := HoldHost(s, id, true)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	hold().Release()
	if _, err := os.Lstat(path); err == nil {
		t.Error("a note of no host is left")
	}
	n := hold()
	if _, err := HoldHost(s, id, false); err == nil {
		t.Error("two hold one note")
	}
	for _, want := range []Host{{PID: 12345, Socket: "/tmp/a/long/path/sock"}, {PID: 1, Socket: "/s"}} {
		if err := n.Write(want); err != nil {
			t.Fatal(err)
		}
		if got := HostOf(s, id); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		if got := Hosts(s); len(got) != 1 || got[id] != want {
			t.Errorf("%+v", got)
		}
	}
	held := make(chan Host)
	go func() {
		n, err := HoldHost(s, id, true) // its file is removed meanwhile
		if err != nil {
			t.Error(err)
		}
		_ = n.Write(Host{PID: 2})
		held <- HostOf(s, id)
		n.Release()
	}()
	n.Forget()
	n.Release()
	if got := <-held; got.PID != 2 {
		t.Errorf("the next one wrote %+v", got)
	}
	if err := os.WriteFile(path, []byte(`{"pid":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := HostOf(s, id); got != (Host{}) {
		t.Errorf("a damaged note names %+v", got)
	}
}
