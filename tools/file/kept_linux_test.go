package file

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"buddy/tools"
	"buddy/tools/fs"
)

func init() {
	keptTests = map[string]func(*testing.T){
		"Keeps": TestWhatAnEditKeeps, "Mounted": TestMountedFile, "FullInPlace": TestFullDiskInPlace, "Further": TestPlanSaysWhatElseChanges,
		"Moved": TestMovedFileKeepsWhatItCarries, "Half": TestHalfWrittenFile, "Far": TestMoveToAnotherFileSystem,
	}
}

// accessList returns the kernel's encoding of user::rw-,user:5:r--,group::---,mask::r--,other::---.
func accessList() []byte {
	var b bytes.Buffer
	const noID = 0xffffffff
	_ = binary.Write(&b, binary.LittleEndian, uint32(2)) // version
	for _, e := range []struct {
		tag, perm uint16
		id        uint32
	}{{1, 6, noID}, {2, 4, 5}, {4, 0, noID}, {16, 4, noID}, {32, 0, noID}} {
		_ = binary.Write(&b, binary.LittleEndian, e)
	}
	return b.Bytes()
}

// state holds the attributes of a file.
type state struct {
	inode, links uint64
	mode         uint32
	uid, gid     uint32
	attrs        string // names and values of some extended attributes
}

func stateOf(t testing.TB, path string) state {
	t.Helper()
	var st unix.Stat_t
	must(t, unix.Lstat(path, &st))
	s := state{inode: st.Ino, links: uint64(st.Nlink), mode: st.Mode & 0o7777, uid: st.Uid, gid: st.Gid}
	for _, name := range []string{"system.posix_acl_access", "user.note", "security.capability", "trusted.note"} {
		value := make([]byte, 1000)
		if n, err := unix.Lgetxattr(path, name, value); err == nil {
			s.attrs += name + "=" + string(value[:n]) + ";"
		}
	}
	return s
}

func setAttr(t testing.TB, path, name string, value []byte) {
	t.Helper()
	if err := unix.Setxattr(path, name, value, 0); errors.Is(err, unix.ENOTSUP) {
		t.Skipf("no %s on this file system", name)
	} else {
		must(t, err)
	}
}

// change reads and edits a file and returns the note for the model and the state stored for /undo.
func (b *bench) change(path string) (note string, kept []tools.Before) {
	b.T.Helper()
	b.OK("read_file", args{"path": path})
	call, err := b.Plan("edit_file", args{"path": path, "old_string": "old", "new_string": "new"})
	if err != "" {
		b.T.Fatal(err)
	}
	call.Keep = func(files []tools.Before) error { kept = append(kept, files...); return nil }
	out, err := b.Finish(call)
	if err != "" {
		b.T.Fatal(err)
	}
	return out.Note, kept
}

// capable gives a file the capability to open ports below 1024.
func capable(t *testing.T, _ *bench, f string) {
	needRoot(t)
	if onTarget != nil {
		t.Skip("a target does not tell")
	}
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, [5]uint32{0x02000000, 1 << 10, 0, 0, 0}) // capabilities(7)
	setAttr(t, f, "security.capability", b.Bytes())
}

func needRoot(t testing.TB) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
}

// needMachine skips a test in a container, where mounts of this machine and attributes set by root are invisible.
func needMachine(t testing.TB) {
	t.Helper()
	needRoot(t)
	if onTarget != nil && !strings.Contains(t.Name(), "/ssh/") {
		t.Skip("not in a container")
	}
}

// TestWhatAnEditKeeps: an edit and its /undo keep a file's attributes. They keep its inode where a new file would lose
// some.
func TestWhatAnEditKeeps(t *testing.T) {
	tests := map[string]struct {
		name    string // of the file; "" means f
		prepare func(t *testing.T, b *bench, f string)
		inPlace bool
		links   uint64
		note    string
		mode    uint32 // 0 means unchanged
	}{
		"a plain file":         {prepare: func(*testing.T, *bench, string) {}, links: 1},
		"mode":                 {prepare: func(t *testing.T, _ *bench, f string) { must(t, os.Chmod(f, 0o751)) }, links: 1},
		"owner and group":      {prepare: func(t *testing.T, _ *bench, f string) { needRoot(t); must(t, os.Chown(f, 1234, 2345)) }, links: 1},
		"access list":          {prepare: func(t *testing.T, _ *bench, f string) { setAttr(t, f, "system.posix_acl_access", accessList()) }, inPlace: true, links: 1},
		"attribute of a user":  {prepare: func(t *testing.T, _ *bench, f string) { setAttr(t, f, "user.note", []byte("keep")) }, inPlace: true, links: 1},
		"attribute of root":    {prepare: func(t *testing.T, _ *bench, f string) { needMachine(t); setAttr(t, f, "trusted.note", []byte("keep")) }, inPlace: true, links: 1},
		"hard links":           {prepare: func(t *testing.T, _ *bench, f string) { must(t, os.Link(f, f+"2")); must(t, os.Link(f, f+"3")) }, inPlace: true, links: 3},
		"hard link to a store": {name: "node_modules/p/f", prepare: func(t *testing.T, _ *bench, f string) { must(t, os.Link(f, f+"2")) }, links: 1},
		"setuid":               {prepare: func(t *testing.T, _ *bench, f string) { must(t, unix.Chmod(f, 0o6755)) }, links: 1, note: "removed setuid and setgid from f", mode: 0o755},
		"setuid and hard link": {prepare: func(t *testing.T, _ *bench, f string) { must(t, os.Link(f, f+"2")); must(t, unix.Chmod(f, 0o4755)) }, inPlace: true, links: 2, note: "removed setuid from f", mode: 0o755},
		"capabilities":         {prepare: capable, links: 1, note: "removed file capabilities from f"},
		"capabilities and hard link": {prepare: func(t *testing.T, b *bench, f string) {
			capable(t, b, f)
			must(t, os.Link(f, f+"2"))
		}, inPlace: true, links: 2, note: "removed file capabilities from f"},
		"read-only and attribute": {prepare: func(t *testing.T, _ *bench, f string) {
			setAttr(t, f, "user.note", []byte("keep"))
			must(t, os.Chmod(f, 0o444))
		}, inPlace: true, links: 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.T = t
			if tt.name == "" {
				tt.name = "f"
			}
			b.put(tt.name, "old\n"+strings.Repeat("x", 100)+"\n")
			f := b.path(tt.name)
			tt.prepare(t, b, f)
			was, other := stateOf(t, f), b.content(tt.name)
			held, err := os.Open(f) // else the next file could get its inode
			must(t, err)
			defer func() { _ = held.Close() }()
			note, kept := b.change(tt.name)
			want := was
			want.links = tt.links
			if tt.mode != 0 {
				want.mode = tt.mode
			}
			if strings.HasPrefix(name, "capabilities") {
				want.attrs = ""
			}
			check := func(when, start string) {
				t.Helper()
				got := stateOf(t, f)
				if (got.inode == was.inode) != tt.inPlace && onTarget == nil { // some targets keep the inode when a rename would do, others copy the attributes
					t.Errorf("%s: inode %d → %d, in place: want %v", when, was.inode, got.inode, tt.inPlace)
				}
				got.inode, want.inode = 0, 0
				if got != want || !strings.HasPrefix(b.content(tt.name), start) {
					t.Errorf("%s: %+v, want %+v; content %.10q", when, got, want, b.content(tt.name))
				}
			}
			check("edit", "new\n")
			if (tt.note == "") != (note == "") || !strings.Contains(note, tt.note) {
				t.Errorf("note %q, want %q", note, tt.note)
			}
			if _, err := os.Lstat(f + "2"); err == nil {
				if got := b.content(tt.name + "2"); (got != other) != tt.inPlace {
					t.Errorf("the other name has %.10q", got)
				}
			}
			if changed, err := b.ws.Restore(t.Context(), kept, false); err != nil || len(changed) > 0 {
				t.Fatalf("undo: %v, %v", changed, err)
			}
			if check("undo", "old\n"); b.content(tt.name) != other {
				t.Errorf("undo left %q", b.content(tt.name))
			}
			if m, _ := filepath.Glob(filepath.Join(filepath.Dir(f), ".buddy-*")); len(m) > 0 {
				t.Errorf("left behind: %v", m)
			}
		})
	}
}

// TestWhatAnotherUserMayWrite: a user who may write a file, but may not write its folder or give the file away, writes
// in place; a user who may not write the file does not replace it.
func TestWhatAnotherUserMayWrite(t *testing.T) {
	needRoot(t)
	b := newBench(t)
	for dir := b.root; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		must(t, os.Chmod(dir, 0o711))
	}
	recovery := filepath.Join(b.root, "recovery")
	must(t, os.Mkdir(recovery, 0o777))
	must(t, os.Chmod(recovery, 0o777))
	KeepOldBytes(b.ws, fs.Recovery(recovery))
	b.put("shut/f", "old\n", "open/shared", "old\n", "open/theirs", "old\n", "sticky/shared", "old\n")
	must(t, os.Chmod(b.path("shut/f"), 0o666))
	must(t, os.Chmod(b.path("open"), 0o777))
	must(t, unix.Chmod(b.path("sticky"), 0o1777))
	for _, name := range []string{"open/shared", "sticky/shared"} {
		must(t, os.Chmod(b.path(name), 0o666))
	}
	must(t, os.Chmod(b.path("open/theirs"), 0o644))
	asNobody(func() {
		for _, name := range []string{"shut/f", "open/shared", "sticky/shared"} {
			was := stateOf(t, b.path(name))
			_, kept := b.change(name)
			if now := stateOf(t, b.path(name)); now != was || b.content(name) != "new\n" {
				t.Errorf("%s: %+v, want %+v; content %q", name, now, was, b.content(name))
			}
			if changed, err := b.ws.Restore(t.Context(), kept, false); err != nil || len(changed) > 0 {
				t.Errorf("%s: undo: %v, %v", name, changed, err)
			}
			if now := stateOf(t, b.path(name)); now != was || b.content(name) != "old\n" {
				t.Errorf("%s: undo: %+v, want %+v; content %q", name, now, was, b.content(name))
			}
		}
		b.OK("read_file", args{"path": "open/theirs"})
		b.Fails("edit_file", args{"path": "open/theirs", "old_string": "old", "new_string": "new"}, "permission denied", "open/theirs")
	})
	if left, _ := os.ReadDir(recovery); len(left) > 0 || b.content("open/theirs") != "old\n" {
		t.Errorf("left in the recovery folder: %v; theirs has %q", left, b.content("open/theirs"))
	}
}

// TestMountedFile: a file that is a mount point, like /etc/hosts in a container, can't be replaced.
func TestMountedFile(t *testing.T) {
	needMachine(t)
	b := newBench(t)
	b.put("f", "old\n")
	source := filepath.Join(b.outside(), "source")
	must(t, os.WriteFile(source, []byte("old\n"), 0o640))
	if err := unix.Mount(source, b.path("f"), "", unix.MS_BIND, ""); err != nil {
		t.Skipf("mount: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(b.path("f"), unix.MNT_DETACH) })
	was := stateOf(t, source)
	_, kept := b.change("f")
	if got, err := os.ReadFile(source); err != nil || string(got) != "new\n" || stateOf(t, source) != was {
		t.Errorf("%q, %v, %+v, want %+v", got, err, stateOf(t, source), was)
	}
	if changed, err := b.ws.Restore(t.Context(), kept, false); err != nil || len(changed) > 0 || b.content("f") != "old\n" {
		t.Errorf("undo: %v, %v; %q", changed, err, b.content("f"))
	}
}

// TestFullDiskInPlace: a file that is written in place is unchanged if the new content does not fit.
func TestFullDiskInPlace(t *testing.T) {
	needMachine(t)
	b := newBench(t)
	must(t, os.Mkdir(b.path("small"), 0o755))
	if err := unix.Mount("tmpfs", b.path("small"), "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("mount: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(b.path("small"), unix.MNT_DETACH) })
	text := "old\n" + strings.Repeat("x", 30_000) + "\n"
	b.put("small/f", text)
	must(t, os.Link(b.path("small/f"), b.path("small/g")))
	b.OK("read_file", args{"path": "small/f"})
	b.Fails("edit_file", args{"path": "small/f", "old_string": "old", "new_string": strings.Repeat("new", 20_000)}, "o space left")
	if b.content("small/f") != text {
		t.Errorf("the file has %d bytes, want the %d old ones", len(b.content("small/f")), len(text))
	}
	if b.change("small/f"); !strings.HasPrefix(b.content("small/g"), "new\n") {
		t.Error("what fits is not written")
	}
}

// TestPlanSaysWhatElseChanges: the plan lists hard links and read-only files, and nothing else changes.
func TestPlanSaysWhatElseChanges(t *testing.T) {
	b := newBench(t)
	b.put("f", "old\n", "node_modules/f", "old\n", "r", "old\n")
	for _, name := range []string{"f2", "f3", "node_modules/g"} {
		must(t, os.Link(b.path(filepath.Join(filepath.Dir(name), "f")), b.path(name)))
	}
	must(t, os.Chmod(b.path("r"), 0o444))
	for name, want := range map[string]struct {
		names    int
		readOnly bool
	}{"f": {2, false}, "node_modules/f": {0, false}, "r": {0, true}} {
		b.OK("read_file", args{"path": name})
		for tool, a := range map[string]args{
			"edit_file":   {"path": name, "old_string": "old", "new_string": "new"},
			"write_file":  {"path": name, "content": "new\n"},
			"apply_patch": {"patch": "--- a/" + name + "\n+++ b/" + name + "\n@@ -1 +1 @@\n-old\n+new\n"},
		} {
			call, err := b.Plan(tool, a)
			if got := call.Planned; err != "" || got.OtherNames != want.names || got.ReadOnly != want.readOnly {
				t.Errorf("%s %s: %d other names, read-only %v, %s; want %+v", tool, name, got.OtherNames, got.ReadOnly, err, want)
			}
		}
	}
	for patch, want := range map[string]int{"--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n": 0, "diff --git a/f b/g\nsimilarity index 100%\nrename from f\nrename to g\n": 0, "diff --git a/f b/g\nrename from f\nrename to g\n--- a/f\n+++ b/g\n@@ -1 +1 @@\n-old\n+new\n": 2} {
		call, err := b.Plan("apply_patch", args{"patch": patch})
		if err != "" || call.Planned.OtherNames != want {
			t.Errorf("%q: %d other names, %s; want %d", patch, call.Planned.OtherNames, err, want)
		}
	}
	b.put("late", "old\n")
	b.OK("read_file", args{"path": "late"})
	call, err := b.Plan("edit_file", args{"path": "late", "old_string": "old", "new_string": "new"})
	if err != "" {
		t.Fatal(err)
	}
	must(t, os.Link(b.path("late"), b.path("late2")))
	out, err := b.Finish(call)
	if b.WantError("edit_file", out, err, "changed after"); b.content("late2") != "old\n" {
		t.Errorf("a name that nobody approved has %q", b.content("late2"))
	}
}

// TestMovedFileKeepsWhatItCarries: a patch that renames a file keeps its attributes and inode, with and without a
// change of the content.
func TestMovedFileKeepsWhatItCarries(t *testing.T) {
	for name, hunk := range map[string]string{"renamed": "similarity index 100%\n", "renamed and changed": ""} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.T = t
			b.put("f", "old\n")
			must(t, os.Chmod(b.path("f"), 0o600))
			setAttr(t, b.path("f"), "system.posix_acl_access", accessList())
			was := stateOf(t, b.path("f"))
			b.OK("read_file", args{"path": "f"})
			patch, want := "diff --git a/f b/deep/g\n"+hunk+"rename from f\nrename to deep/g\n", "old\n"
			if hunk == "" {
				patch, want = patch+"--- a/f\n+++ b/deep/g\n@@ -1 +1 @@\n-old\n+new\n", "new\n"
			}
			call, err := b.Plan("apply_patch", args{"patch": patch})
			var kept []tools.Before
			call.Keep = func(files []tools.Before) error { kept = files; return nil }
			if _, err2 := b.Finish(call); err != "" || err2 != "" {
				t.Fatal(err, err2)
			}
			if now := stateOf(t, b.path("deep/g")); now != was || b.content("deep/g") != want {
				t.Errorf("%+v, want %+v; %q", now, was, b.content("deep/g"))
			}
			redo, contentsErr := b.ws.Contents(t.Context(), []string{b.path("f"), b.path("deep/g")})
			must(t, contentsErr)
			redo[0].After = tools.SumOf([]byte("old\n"))
			if changed, err := b.ws.Restore(t.Context(), kept, false); err != nil || len(changed) > 0 {
				t.Fatalf("undo: %v, %v", changed, err)
			}
			if now := stateOf(t, b.path("f")); now != was || b.content("f") != "old\n" {
				t.Errorf("undo: %+v, want %+v; %q", now, was, b.content("f"))
			}
			if changed, err := b.ws.Restore(t.Context(), redo, false); err != nil || len(changed) > 0 {
				t.Fatalf("redo: %v, %v", changed, err)
			}
			if now := stateOf(t, b.path("deep/g")); now != was || b.content("deep/g") != want {
				t.Errorf("redo: %+v, want %+v; %q", now, was, b.content("deep/g"))
			}
		})
	}
}

// TestDeletedFileWithAccessList: /undo of a deletion does not grant the file's group the rights that the access list
// gave to others.
func TestDeletedFileWithAccessList(t *testing.T) {
	b := newBench(t)
	b.put("f", "old\n")
	must(t, os.Chmod(b.path("f"), 0o600))
	setAttr(t, b.path("f"), "system.posix_acl_access", accessList())
	b.OK("read_file", args{"path": "f"})
	call, err := b.Plan("apply_patch", args{"patch": "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n"})
	var kept []tools.Before
	call.Keep = func(files []tools.Before) error { kept = files; return nil }
	if _, err2 := b.Finish(call); err != "" || err2 != "" {
		t.Fatal(err, err2)
	}
	if _, err := b.ws.Restore(t.Context(), kept, false); err != nil {
		t.Fatal(err)
	}
	if now := stateOf(t, b.path("f")); now.mode != 0o600 || b.content("f") != "old\n" {
		t.Errorf("mode %o, want 600; %q", now.mode, b.content("f"))
	}
}

// TestHalfWrittenFile: the old bytes of a partly written file are restored; on a target the next start restores and
// reports it.
func TestHalfWrittenFile(t *testing.T) {
	b := newBench(t)
	b.put("f", "old and long\n")
	must(t, os.Link(b.path("f"), b.path("g")))
	kept, err := b.ws.recovery.Keep(t.Context(), b.ws.files, b.path("f"), []byte("new and longer\n"))
	must(t, err)
	b.put("f", "new and")
	err = kept.End(&fs.TornError{Err: errTest})
	if onTarget == nil {
		if err == nil || !strings.Contains(err.Error(), "is unchanged") {
			t.Errorf("End: %v", err)
		}
	} else {
		if err == nil || !strings.Contains(err.Error(), "its earlier content is in") || b.content("g") != "new and" {
			t.Errorf("End: %v; the file has %q", err, b.content("g"))
		}
		if reported := Recover(t.Context(), b.ws); len(reported) != 1 || reported[0] != (fs.Interrupted{Path: b.path("f")}) {
			t.Errorf("told %+v", reported)
		}
	}
	if got := b.content("g"); got != "old and long\n" {
		t.Errorf("the file has %q", got)
	}
	if reported := Recover(t.Context(), b.ws); len(reported) > 0 {
		t.Errorf("told again: %+v", reported)
	}
}

// TestMoveToAnotherFileSystem: a patch renames a file across file systems, and /undo moves it back.
func TestMoveToAnotherFileSystem(t *testing.T) {
	needMachine(t)
	b := newBench(t)
	b.put("f", "old\n")
	must(t, os.Chmod(b.path("f"), 0o750))
	must(t, os.Mkdir(b.path("there"), 0o755))
	if err := unix.Mount("tmpfs", b.path("there"), "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("mount: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(b.path("there"), unix.MNT_DETACH) })
	b.OK("read_file", args{"path": "f"})
	call, err := b.Plan("apply_patch", args{"patch": "diff --git a/f b/there/g\nrename from f\nrename to there/g\n--- a/f\n+++ b/there/g\n@@ -1 +1 @@\n-old\n+new\n"})
	var kept []tools.Before
	call.Keep = func(files []tools.Before) error { kept = files; return nil }
	if _, err2 := b.Finish(call); err != "" || err2 != "" {
		t.Fatal(err, err2)
	}
	if now := stateOf(t, b.path("there/g")); now.mode != 0o750 || b.content("there/g") != "new\n" {
		t.Errorf("mode %o; %q", now.mode, b.content("there/g"))
	}
	if changed, err := b.ws.Restore(t.Context(), kept, false); err != nil || len(changed) > 0 {
		t.Fatalf("undo: %v, %v", changed, err)
	}
	if now := stateOf(t, b.path("f")); now.mode != 0o750 || b.content("f") != "old\n" {
		t.Errorf("undo: mode %o; %q", now.mode, b.content("f"))
	}
	if left, _ := os.ReadDir(b.path("there")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
