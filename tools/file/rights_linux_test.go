package file

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// asNobody runs f with the rights of a user who owns nothing, also when root runs the test: on Linux a thread can have
// its own file-system user.
func asNobody(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if old, err := unix.SetfsuidRetUid(65534); err == nil && os.Getuid() == 0 {
		defer func() { _ = unix.Setfsuid(old) }()
	}
	f()
}

func TestNoRights(t *testing.T) {
	b := newBench(t)
	for dir := b.root; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		must(t, os.Chmod(dir, 0o711))
	}
	b.put("file", "x\n", "shut/a", "x\n", "pass/a", "through\n")
	must(t, os.Chmod(b.path("pass"), 0o111)) // search permission only
	must(t, os.Chmod(b.path("file"), 0))
	must(t, os.Chmod(b.path("shut"), 0))
	b.put("open/a", "hit\n", "open/b", "hit\n")
	must(t, os.Chmod(b.path("open/b"), 0))
	must(t, os.Chmod(b.path("open"), 0o555))
	t.Cleanup(func() {
		for _, dir := range []string{"shut", "pass", "open"} {
			_ = os.Chmod(b.path(dir), 0o700)
		}
	})
	asNobody(func() {
		b.Fails("read_file", args{"path": "file"}, "execution failed", "/file: permission denied")
		b.Fails("read_file", args{"path": "shut/a"}, "permission denied")
		b.Fails("write_file", args{"path": "open/new", "content": "x"}, "permission denied", "/open/new")
		b.Fails("list_dir", args{"path": "shut"}, "/shut: permission denied")
		b.Fails("list_dir", args{"path": "pass"}, "/pass: permission denied")
		if got := b.OK("read_file", args{"path": "pass/a"}); got.Text != "through\n" {
			t.Errorf("read_file = %v", got)
		}
		if got := b.OK("grep", args{"path": "open", "pattern": "hit"}); got.Text != "open/a:1:hit\n" || got.Note != "left out: 1 unreadable" {
			t.Errorf("grep = %v", got)
		}
	})
}
