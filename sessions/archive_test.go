package sessions

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"buddy/agent/event"
)

// withOutputs creates a session with outputs, and returns it open.
func withOutputs(t *testing.T, s Store) *Journal {
	t.Helper()
	j := create(t, s)
	id := j.Info().Header.ID
	appendAll(t, j, stream(id, 2))
	dir := filepath.Join(s.OutDir(id), "000001")
	appendAll(t, j, []event.Envelope{
		{Seq: 500, Session: id, Payload: event.ToolStarted{CallID: "c", Name: "run_shell", Dir: dir}},
		{Seq: 501, Session: id, Payload: event.ToolResult{CallID: "c", Name: "run_shell", Result: "the whole result is in " + dir + "/out"}},
	})
	for name, text := range map[string]string{"out/000001/out": "all of it\n", "out/000001/empty": "", "out/000002/result.txt": strings.Repeat("long ", 1e5), "plan.md": "# plan\n"} {
		writeFile(t, filepath.Join(s.dir, id, name), []byte(text))
	}
	if err := errors.Join(syscall.Mkfifo(filepath.Join(dir, "sock"), 0o600), os.Symlink("/etc/passwd", filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	return j
}

func archive(t *testing.T, s Store, id string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := s.Archive(&b, id); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// filesBelow returns the files in a folder with their contents, except the store's own files.
func filesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() != ".gitignore" && path != dir {
			rel, _ := filepath.Rel(dir, path)
			all[rel] = ""
			if d.Type().IsRegular() {
				all[rel] = string(readFile(t, path))
			}
		}
		return ignoreMissing(err)
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// An archive of a session in use contains everything except special files; the imported session is read-only until it
// is trusted, and refers to its outputs in the new folder.
func TestArchiveMovesASessionWithItsOutputs(t *testing.T) {
	t.Parallel()
	from, to := newStore(t), newStore(t)
	j := withOutputs(t, from)
	id := j.Info().Header.ID
	moved := archive(t, from, id)
	if mac := j.Info().Header.MAC; mac == "" || strings.Contains(string(unpacked(t, moved)), mac) {
		t.Error("the archive has the proof that is for this machine only")
	}
	wantFiles := filesBelow(t, filepath.Join(from.dir, id))
	delete(wantFiles, "out/000001/sock")
	delete(wantFiles, "out/000001/link")
	events := load(t, j).Events
	for round := range 2 { // the second time its id exists already
		got, err := to.Import(bytes.NewReader(moved))
		if err != nil || (got == id) != (round == 0) {
			t.Fatalf("Import = %q, %v", got, err)
		}
		k := open(t, to, got)
		if !errors.Is(k.ReadOnly(), ErrUntrusted) || k.Info().Header.ID != got || k.Info().Header.Cwd != "/work" {
			t.Errorf("%v, header %+v", k.ReadOnly(), k.Info().Header)
		}
		want := slices.Clone(events)
		for i := range want {
			want[i].Session = got
		}
		out := filepath.Join(to.OutDir(got), "000001")
		want[len(want)-2].Payload = event.ToolStarted{CallID: "c", Name: "run_shell", Dir: out}
		want[len(want)-1].Payload = event.ToolResult{CallID: "c", Name: "run_shell", Result: "the whole result is in " + out + "/out"}
		wantEvents(t, "imported", load(t, k).Events, want)
		closeJournal(t, k)
		if files := filesBelow(t, filepath.Join(to.dir, got)); fmt.Sprint(files) != fmt.Sprint(wantFiles) {
			t.Errorf("files %v, want %v", files, wantFiles)
		}
		if err := to.Trust(got); err != nil || open(t, to, got).ReadOnly() != nil {
			t.Errorf("trusted: %v", err)
		}
	}
}

func unpacked(t *testing.T, archive []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func packed(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// wantRefused checks that the import of an archive fails without leaving files in the store or near it.
func wantRefused(t *testing.T, archive []byte, why string) {
	t.Helper()
	s := newStore(t)
	id, err := s.Import(bytes.NewReader(archive))
	if err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("Import = %q, %v, want %q", id, err, why)
	}
	root := filepath.Dir(filepath.Dir(filepath.Dir(s.dir)))
	for path := range filesBelow(t, root) {
		if !strings.HasPrefix(s.dir+"/", filepath.Join(root, path)+"/") { // the folder itself may exist
			t.Errorf("%s was left", path)
		}
	}
}

func TestHostileArchives(t *testing.T) {
	t.Parallel()
	const info = `{"buddy_archive":1,"id":"a-1","dir":"/x/a-1"}`
	header := `{"format":1,"id":"a-1","created":1,"cwd":"/","target":"local","model":"m"}` + "\n"
	line := `{"seq":1,"ts_unix_ms":1,"session":"a-1","type":"notice","payload":{"text":"hello"}}` + "\n"
	file := func(name, text string) func(*tar.Writer) error {
		return func(w *tar.Writer) error {
			err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o777, Typeflag: tar.TypeReg})
			_, wrong := io.WriteString(w, text)
			return errors.Join(err, wrong)
		}
	}
	other := func(h tar.Header) func(*tar.Writer) error {
		return func(w *tar.Writer) error { return w.WriteHeader(&h) }
	}
	good := []func(*tar.Writer) error{file(archiveHead, info), file("files/out/000001/out", "x"), file(archiveLines, header+line)}
	tests := []struct {
		name  string
		parts []func(*tar.Writer) error
		want  string
	}{
		{"absolute", []func(*tar.Writer) error{good[0], file("/tmp/planted", "x")}, "is a path outside the archive"},
		{"parent", []func(*tar.Writer) error{good[0], file("files/../../../planted", "x")}, "is a path outside the archive"},
		{"outside the folder", []func(*tar.Writer) error{good[0], file("files/../b-2.jsonl", "x")}, "is not a file of a session"},
		{"not below files", []func(*tar.Writer) error{good[0], file("a-1.trust", "x")}, "is not a file of a session"},
		{"link", []func(*tar.Writer) error{good[0], other(tar.Header{Name: "files/out", Linkname: "/etc", Typeflag: tar.TypeSymlink})}, "is not a plain file"},
		{"hard link", []func(*tar.Writer) error{good[0], other(tar.Header{Name: "files/x", Linkname: "/etc/passwd", Typeflag: tar.TypeLink})}, "is not a plain file"},
		{"device", []func(*tar.Writer) error{good[0], other(tar.Header{Name: "files/x", Typeflag: tar.TypeBlock, Devmajor: 8})}, "is not a plain file"},
		{"FIFO", []func(*tar.Writer) error{good[0], other(tar.Header{Name: "files/x", Typeflag: tar.TypeFifo})}, "is not a plain file"},
		{"folder", []func(*tar.Writer) error{good[0], other(tar.Header{Name: "files/x/", Typeflag: tar.TypeDir})}, "is not a plain file"},
		{"too large", []func(*tar.Writer) error{good[0], other(tar.Header{Name: "files/x", Size: maxArchiveBytes + 1, Typeflag: tar.TypeReg})}, "an archive has at most"},
		{"long name", []func(*tar.Writer) error{good[0], file("files/"+strings.Repeat("x/", maxArchiveName)+"x", "x")}, "an archive has at most"},
		{"twice", []func(*tar.Writer) error{good[0], good[1], good[1]}, "file exists"},
		{"a file as a folder", []func(*tar.Writer) error{good[0], good[1], file("files/out/000001/out/x", "x")}, "file exists"},
		{"more after the session", append(slices.Clone(good), file("files/later", "x")), "comes after the session"},
		{"no session", good[:2], "it is incomplete"},
		{"no beginning", good[1:], "it starts with"},
		{"nothing", nil, "it is incomplete"},
		{"newer", []func(*tar.Writer) error{file(archiveHead, `{"buddy_archive":9}`)}, "version 9, this program reads 1"},
		{"no folder", []func(*tar.Writer) error{file(archiveHead, `{"buddy_archive":1,"id":"a-1","dir":"x/../y"}`)}, "not a clean absolute path"},
		{"no events", []func(*tar.Writer) error{good[0], file(archiveLines, header)}, "it has no events"},
		{"numbers that fall", []func(*tar.Writer) error{good[0], file(archiveLines, header+line+line)}, "event 1 comes after event 1"},
		{"newer format", []func(*tar.Writer) error{good[0], file(archiveLines, newFormatText(header)+line)}, "unknown session format"},
		{"endless header", []func(*tar.Writer) error{good[0], file(archiveLines, strings.Repeat("x", 1<<20))}, "it is incomplete"},
		{"a line that grows", []func(*tar.Writer) error{
			file(archiveHead, `{"buddy_archive":1,"id":"a-1","dir":"/"}`),
			file(archiveLines, header+strings.Replace(line, "hello", strings.Repeat("/out/", 5<<20), 1)),
		}, "with its new folder it has more than"},
	}
	pack := func(t *testing.T, parts []func(*tar.Writer) error) []byte {
		t.Helper()
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, part := range parts {
			if err := part(w); err != nil {
				t.Fatal(err)
			}
		}
		_ = w.Close() // one test has no contents
		return packed(t, b.Bytes())
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			wantRefused(t, pack(t, tt.parts), tt.want)
		})
	}
	s := newStore(t)
	if id, err := s.Import(bytes.NewReader(pack(t, good))); err != nil || id != "a-1" {
		t.Errorf("what they were made of: %q, %v", id, err)
	}
	odd := slices.Clone(good)
	odd[0] = file(archiveHead, `{"buddy_archive":1,"id":"`+trashName+`","dir":"/x"}`)
	if id, err := s.Import(bytes.NewReader(pack(t, odd))); err != nil || strings.HasPrefix(id, ".") {
		t.Errorf("with the name of a folder of ours: %q, %v", id, err)
	}
}

func newFormatText(header string) string { return string(newFormat([]byte(header), 9)) }

// A truncated or damaged archive is refused completely, or the imported session can be read.
func TestDamagedArchives(t *testing.T) {
	t.Parallel()
	from := newStore(t)
	j := withOutputs(t, from)
	moved := archive(t, from, j.Info().Header.ID)
	rng := rand.New(rand.NewPCG(5, 6))
	for range 40 {
		wantRefused(t, moved[:2+rng.IntN(len(moved)-2)], "")
	}
	text := unpacked(t, moved)
	for range 300 {
		bad := bytes.Clone(text)
		for range 1 + rng.IntN(3) {
			bad[rng.IntN(len(bad))] = byte(rng.IntN(256))
		}
		s := newStore(t)
		id, err := s.Import(bytes.NewReader(packed(t, bad)))
		if err != nil {
			continue
		}
		k := open(t, s, id)
		if !errors.Is(k.ReadOnly(), ErrUntrusted) || len(load(t, k).Events) == 0 {
			t.Errorf("imported: %v", k.ReadOnly())
		}
		closeJournal(t, k)
	}
}
