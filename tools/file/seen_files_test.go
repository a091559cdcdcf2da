package file

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

func (b *bench) names(files []State) (names []string) {
	for _, f := range files {
		names = append(names, b.ws.show(f.Path))
	}
	return names
}

func TestFileState(t *testing.T) {
	b := newBench(t)
	b.put("a", "12345678", "b", "x\n", "c", "x\n")
	began := time.Now()
	b.know("a", "b", "a", "c", "b", "a", "c")
	b.OK("edit_file", args{"path": "b", "old_string": "x", "new_string": "yyyyyyy"})
	if got := b.names(b.ws.Recent()); !reflect.DeepEqual(got, []string{"b", "c", "a"}) {
		t.Errorf("Recent = %v", got)
	}
	if got := b.names(b.ws.MostRead()); !reflect.DeepEqual(got, []string{"b", "a", "c"}) {
		t.Errorf("MostRead = %v", got)
	}
	info, err := os.Stat(b.path("b"))
	must(t, err)
	f := b.ws.Recent()[0]
	modified := info.ModTime()
	if onTarget != nil {
		modified = modified.Truncate(time.Second) // the precision of some versions of stat(1)
	}
	if f.Path != b.path("b") || f.Bytes != 8 || f.Tokens != 2 || f.Reads != 3 || !f.Modified.Equal(modified) || f.LastRead.Before(began) {
		t.Errorf("state = %+v", f)
	}
}

// diffs returns the changes, as "path: diff".
func (b *bench) diffs() (all []string) {
	b.T.Helper()
	for _, c := range b.ws.Changed(b.T.Context()) {
		what := c.Diff
		if c.Gone {
			what = "gone"
		}
		all = append(all, c.Path+": "+what)
	}
	return all
}

func TestChangedFilesAreToldOnce(t *testing.T) {
	b := newBench(t)
	b.put("a", "x\n", "b", "x\n", "c", "x\n", "d", "x\n")
	b.know("a", "b", "c", "d")
	if got := b.diffs(); got != nil {
		t.Errorf("nothing changed: %q", got)
	}
	b.put("a", "theirs\n")
	must(t, os.Chtimes(b.path("b"), time.Time{}, time.Unix(1, 0))) // only the time changed
	must(t, os.Remove(b.path("c")))
	b.OK("edit_file", args{"path": "d", "old_string": "x", "new_string": "y"}) // a change by a tool
	if got, want := b.diffs(), []string{"a: @@ -1 +1 @@\n-x\n+theirs\n", "c: gone"}; !reflect.DeepEqual(got, want) {
		t.Errorf("changed %q, want %q", got, want)
	}
	if got := b.diffs(); got != nil {
		t.Errorf("told again: %q", got)
	}
	b.put("a", "and again\n") // not read since: the diff starts at the end of the last one
	if got, want := b.diffs(), []string{"a: @@ -1 +1 @@\n-theirs\n+and again\n"}; !reflect.DeepEqual(got, want) {
		t.Errorf("changed %q, want %q", got, want)
	}
}

// A model that got the complete diff may change the file; a model that did not must read it first.
func TestDiffIsAsGoodAsReading(t *testing.T) {
	b := newBench(t)
	long := strings.Repeat("theirs, at length\n", 200)
	b.put("a", "x\n", "b", "x\n", "pic", "\x00\x01")
	b.know("a", "b")
	_, _ = b.Do("read_file", args{"path": "pic"}) // not text, but recorded as seen
	b.put("a", "y\n", "b", long, "pic", "\x00\x02\x03")
	if got, want := b.diffs(), []string{"a: @@ -1 +1 @@\n-x\n+y\n", "b: ", "pic: "}; !reflect.DeepEqual(got, want) {
		t.Errorf("changed %q, want %q", got, want)
	}
	b.OK("write_file", args{"path": "a", "content": "mine\n"})
	if _, got := b.Do("write_file", args{"path": "b", "content": "mine\n"}); !strings.Contains(got, "read it again") {
		t.Errorf("a change that was not told is overwritten: %s", got)
	}
	b.put("b", long+"more\n")
	if got := b.diffs(); got != nil {
		t.Errorf("told again before it was read: %q", got)
	}
	b.know("b")
	b.put("b", long+"most\n")
	if got := b.diffs(); len(got) != 1 || !strings.Contains(got[0], "+most\n") {
		t.Errorf("changed %q", got)
	}
	b.ws.Readers().Unread(0, func(call string) bool { return call == "" }) // as before the report
	b.Fails("write_file", args{"path": "b", "content": "mine\n"}, "was not read since")
	b.OK("write_file", args{"path": "a", "content": "again\n"})
}

// The contents kept for diffs and the size of a diff are bounded.
func TestContentKeptForDiffsIsBounded(t *testing.T) {
	var f seenFiles
	content := func(n int) snapshot {
		return snapshot{exists: true, size: int64(n), data: []byte(strings.Repeat("x", n-1) + "\n")}
	}
	for i := range 40 {
		f.record("c", fmt.Sprint(i), content(maxHeldFile))
	}
	f.record("c", "long", content(maxHeldFile+1))
	held := 0
	for _, s := range f.files {
		held += len(s.text)
	}
	if held != f.held || held > maxHeld || held < maxHeld-maxHeldFile || f.files["0"].text != nil || f.files["39"].text == nil || f.files["long"].text != nil {
		t.Errorf("%d bytes are held, %d counted", held, f.held)
	}
	for i := range 40 {
		f.forget(fmt.Sprint(i))
	}
	if f.held != 0 {
		t.Errorf("%d bytes are left", f.held)
	}
	line := func(n int) []byte { return []byte(strings.Repeat("ä", n) + "\n") }
	for n := 500; n < 1100; n += 25 { // two bytes each
		d := shortDiff([]byte("x\n"), line(n))
		if (d != "") != (len("@@ -1 +1 @@\n-x\n+")+2*n+1 <= maxHeldDiff) {
			t.Errorf("%d characters give a diff of %d bytes", n, len(d))
		}
	}
}

// Several writes between two checks are reported as one change.
func TestManyWritesAreOneChange(t *testing.T) {
	b := newBench(t)
	b.put("log", "0\n")
	b.know("log")
	for i := range 50 {
		b.put("log", fmt.Sprintf("%d\n", i+1))
	}
	if got, want := b.diffs(), []string{"log: @@ -1 +1 @@\n-0\n+50\n"}; !reflect.DeepEqual(got, want) {
		t.Errorf("changed %q, want %q", got, want)
	}
}

// Readers other than the main conversation keep no texts, because no diffs are reported to them, and their knowledge
// ends with the reader.
func TestOtherReadersHoldNoTexts(t *testing.T) {
	w := Workspace{seen: new(Readers)}
	text := snapshot{exists: true, size: 2, data: []byte("a\n")}
	w.seen.by(0).record("c1", "/a", text)
	w.seen.by(1).record("c2", "/a", text)
	w.seen.ForkReader(0, 2, func(string) bool { return false })
	w.seen.ForkReader(7, 3, func(string) bool { return false }) // of a reader that knows nothing
	for reader, held := range map[int]int{0: 2, 1: 0, 2: 0} {
		if f := w.seen.by(reader); f.held != held || len(f.files["/a"].text) != held {
			t.Errorf("reader %d holds %d bytes", reader, f.held)
		}
	}
	w.seen.by(3).record("c3", "/a", text)
	for reader := range 4 {
		if known, same := w.seen.by(reader).check("/a", text); !known || !same {
			t.Errorf("reader %d does not know the file", reader)
		}
	}
	w.seen.EndReader(2)
	if known, _ := w.seen.by(2).check("/a", text); known {
		t.Error("an ended reader knows the file")
	}
}

func TestSeenFilesAreBounded(t *testing.T) {
	var f seenFiles
	for i := range maxSeen + 1 {
		f.record("c", fmt.Sprintf("/%d", i), snapshot{exists: true})
	}
	if n := len(f.files); n != maxSeen*9/10+1 {
		t.Errorf("%d files are remembered", n)
	}
	if known, _ := f.check("/0", snapshot{}); known {
		t.Error("the oldest file is still known")
	}
	if known, same := f.check(fmt.Sprintf("/%d", maxSeen), snapshot{exists: true}); !known || !same {
		t.Error("the newest file is not known")
	}
}

// A change of a file that is too large to be read completely is detected by size and time.
func TestLargeFileChangedSinceRead(t *testing.T) {
	b := newBench(t)
	b.sparse("huge", "line\n")
	b.Fails("write_file", args{"path": "huge", "content": ""}, "was not read since this session began or was resumed")
	b.OK("read_file", args{"path": "huge", "limit": 1})
	if _, err := b.Plan("write_file", args{"path": "huge", "content": ""}); err != "" {
		t.Errorf("plan: %s", err)
	}
	must(t, os.Chtimes(b.path("huge"), time.Time{}, time.Unix(1, 0)))
	b.Fails("write_file", args{"path": "huge", "content": ""}, "changed since you last read it")
}

func TestSeveralEdits(t *testing.T) {
	b := newBench(t)
	b.put("a", "one\ntwo\nthree\n")
	b.know("a")
	e := func(before, after string) args { return args{"old_string": before, "new_string": after} }
	b.Fails("edit_file", args{"path": "a", "edits": []args{e("one", "1"), e("tow", "2")}}, `"a": edit 2 of 2: old_string was not found`)
	if b.content("a") != "one\ntwo\nthree\n" {
		t.Errorf("a has %q", b.content("a"))
	}
	got := b.OK("edit_file", args{"path": "a", "edits": []args{e("one", "1"), e("1\ntwo", "1\n2")}}) // in order
	if got.Text != "Edited a: 2 replacements" || b.content("a") != "1\n2\nthree\n" {
		t.Errorf("%v, a has %q", got, b.content("a"))
	}
	b.OK("edit_file", args{"path": "a", "old_string": "three", "new_string": "3", "edits": []args{{"old_string": "\n", "new_string": ";", "replace_all": true}}})
	if b.content("a") != "1;2;3;" {
		t.Errorf("a has %q", b.content("a"))
	}
	for _, tt := range []struct {
		a    args
		want string
	}{
		{args{"path": "a"}, "old_string: missing, expected string"},
		{args{"path": "a", "old_string": "1"}, "new_string: missing, expected string"}, // must not delete
		{args{"path": "a", "new_string": "1", "edits": []args{e("1", "2")}}, "old_string: missing"},
		{args{"path": "a", "edits": []args{}}, "old_string: missing"},
		{args{"path": "a", "edits": []args{{"old_string": "1"}}}, "edits[0].new_string: missing, expected string"},
		{args{"path": "a", "edits": []args{e("1", "2"), e("2", "2")}}, "edit 2 of 2: new_string: the same as old_string"},
		{args{"path": "a", "edits": []args{e("1", "2"), e("", "2")}}, "edit 2 of 2: old_string: must not be empty"},
	} {
		b.Fails("edit_file", tt.a, "invalid arguments: ", tt.want)
	}
}

// TestReadersDoNotOverwriteEachOther: when two agents have read a file, the second may not replace what the first has
// written, by any tool; and a read by one does not count for the other.
func TestReadersDoNotOverwriteEachOther(t *testing.T) {
	for tool, change := range map[string]args{
		"write_file":  {"path": "a", "content": "mine\n"},
		"edit_file":   {"path": "a", "old_string": "two", "new_string": "2"},
		"apply_patch": {"patch": "*** Begin Patch\n*** Update File: a\n@@\n-two\n+2\n*** End Patch"},
	} {
		t.Run(tool, func(t *testing.T) {
			b := newBench(t)
			b.put("a", "one\ntwo\n")
			b.Reader = 1
			b.OK("read_file", args{"path": "a"})
			b.Reader = 2
			b.Fails(tool, change, "was not read since this session began or was resumed")
			b.OK("read_file", args{"path": "a"})
			late, _ := b.Plan(tool, change) // approved before the other one writes
			b.Reader = 1
			b.OK("edit_file", args{"path": "a", "old_string": "one", "new_string": "1"})
			b.Reader = 2
			if _, err := b.Finish(late); !strings.Contains(err, "changed since you last read it") {
				t.Errorf("the late one: %q", err)
			}
			b.Fails(tool, change, "changed since you last read it, nothing was written; read it again")
			if got := b.content("a"); got != "1\ntwo\n" {
				t.Errorf("the file has %q", got)
			}
			b.OK("read_file", args{"path": "a"})
			b.OK(tool, change)
		})
	}
}
