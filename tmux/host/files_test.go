package host_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"buddy/tmux/host"
	"buddy/tmux/tmuxtest"
)

const hard = "we ird\"$x`\\\n81a4 1 1 .'é\n"

func put(t *testing.T, path, content string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// tree makes files of every kind.
func tree(t *testing.T, dir string) string {
	t.Helper()
	dir = filepath.Join(dir, "tree")
	if err := os.MkdirAll(filepath.Join(dir, "sub", hard), 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "file"), "0123456789", 0o640)
	put(t, filepath.Join(dir, "binary"), "a\x00\xff\x1e\r\n", 0o755)
	put(t, filepath.Join(dir, "sub", hard, "x"), "deep", 0o600)
	for from, to := range map[string]string{"link": "file", "abs": filepath.Join(dir, "sub"), "dangling": "nowhere", "loop": "loop", "nl": "sub/" + hard} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	if err := mkfifo(filepath.Join(dir, "fifo")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestRead reads ranges, binary, hard names, nothing but regular files.
func TestRead(t *testing.T) {
	everywhere(t, func(t *testing.T, h *host.Host, dir string) {
		dir = tree(t, dir)
		for _, c := range []struct {
			name      string
			off, n    int64
			want      string
			err       error
			errorText string
		}{
			{name: "file", off: 0, n: 100, want: "0123456789"},
			{name: "file", off: 3, n: 4, want: "3456"},
			{name: "file", off: 20, n: 4, want: ""},
			{name: "binary", off: 0, n: 100, want: "a\x00\xff\x1e\r\n"},
			{name: "sub/" + hard + "/x", off: 0, n: 100, want: "deep"},
			{name: "missing", n: 1, err: fs.ErrNotExist},
			{name: "no/where", n: 1, err: fs.ErrNotExist},
			{name: "file/x", n: 1, errorText: "not a directory"},
			{name: "sub", n: 1, errorText: "not a regular file"},
			{name: "fifo", n: 1, errorText: "not a regular file"},
			{name: "link", n: 1, errorText: "symbolic link"},
			{name: "abs/" + hard + "/x", n: 1, errorText: "symbolic link"},
		} {
			var out bytes.Buffer
			err := h.Read(t.Context(), filepath.Join(dir, c.name), c.off, c.n, &out)
			if out.String() != c.want || c.err != nil && !errors.Is(err, c.err) || c.errorText != "" && (err == nil || !strings.Contains(err.Error(), c.errorText)) ||
				c.err == nil && c.errorText == "" && err != nil {
				t.Errorf("Read(%q, %d, %d) = %q, %v; want %q, %v %s", c.name, c.off, c.n, out.String(), err, c.want, c.err, c.errorText)
			}
		}
		if err := h.Read(t.Context(), "relative", 0, 1, &bytes.Buffer{}); err == nil {
			t.Error("a relative path was read")
		}
	})
}

// TestStat: the target's data about files equals this machine's.
func TestStat(t *testing.T) {
	everywhere(t, func(t *testing.T, h *host.Host, dir string) {
		dir = tree(t, dir)
		for _, name := range []string{"file", "binary", "sub", "link", "abs", "fifo", "dangling", "sub/" + hard} {
			want, err := os.Lstat(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			got, err := h.Lstat(t.Context(), filepath.Join(dir, name))
			if err != nil || got.Mode != want.Mode() || got.Size != want.Size() || got.ModTime.Unix() != want.ModTime().Unix() || got.Name != want.Name() {
				t.Errorf("Lstat(%q) = %+v, %v, want %v %d", name, got, err, want.Mode(), want.Size())
			}
		}
		if got, err := h.Stat(t.Context(), filepath.Join(dir, "link")); err != nil || got.Size != 10 || !got.Mode.IsRegular() {
			t.Errorf("Stat(link) = %+v, %v", got, err)
		}
		if _, err := h.Lstat(t.Context(), filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Lstat(missing): %v", err)
		}
		if _, err := h.Stat(t.Context(), filepath.Join(dir, "dangling")); err == nil {
			t.Error("Stat(dangling): no error")
		}
	})
}

// TestRealPath: like filepath.EvalSymlinks, with missing names at the end.
func TestRealPath(t *testing.T) {
	everywhere(t, func(t *testing.T, h *host.Host, dir string) {
		dir = tree(t, dir)
		for in, want := range map[string]string{
			"file": "file", "link": "file", "abs": "sub", "abs/" + hard: "sub/" + hard, "nl/x": "sub/" + hard + "/x", "abs/new/er": "sub/new/er",
			"sub/../link": "file", "nl/../x": "sub/x", "new": "new", ".": "",
		} {
			got, err := h.RealPath(t.Context(), dir+"/"+in)
			if err != nil || got != filepath.Join(dir, want) {
				t.Errorf("RealPath(%q) = %q, %v, want %q", in, got, err, want)
			}
		}
		for _, in := range []string{"dangling", "dangling/x", "loop"} {
			if got, err := h.RealPath(t.Context(), filepath.Join(dir, in)); err == nil {
				t.Errorf("RealPath(%q) = %q, want an error", in, got)
			}
		}
		for _, in := range []string{"/", "/nonexistent-buddy/x"} {
			if got, err := h.RealPath(t.Context(), in); err != nil || got != in {
				t.Errorf("RealPath(%q) = %q, %v", in, got, err)
			}
		}
		if got, err := h.Readlink(t.Context(), filepath.Join(dir, "nl")); err != nil || got != "sub/"+hard {
			t.Errorf("Readlink = %q, %v", got, err)
		}
	})
}

func TestReadDir(t *testing.T) {
	everywhere(t, func(t *testing.T, h *host.Host, dir string) {
		dir = tree(t, dir)
		list, more, err := h.ReadDir(t.Context(), dir)
		var names []string
		for _, f := range list {
			names = append(names, f.Name+" "+f.Mode.Type().String())
		}
		slices.Sort(names)
		want := "abs L---------|binary ----------|dangling L---------|fifo p---------|file ----------|link L---------|loop L---------|nl L---------|sub d---------"
		if got := strings.Join(names, "|"); err != nil || more || got != want {
			t.Errorf("ReadDir = %s, %v, %v\nwant %s", got, more, err, want)
		}
		if list, _, err := h.ReadDir(t.Context(), filepath.Join(dir, "sub")); err != nil || len(list) != 1 || list[0].Name != hard {
			t.Errorf("ReadDir(sub) = %+v, %v", list, err)
		}
		if list, _, err := h.ReadDir(t.Context(), filepath.Join(dir, "sub", hard, "x")); err == nil {
			t.Errorf("ReadDir of a file = %+v", list)
		}
		if list, _, err := h.ReadDir(t.Context(), filepath.Join(dir, "abs")); err == nil {
			t.Errorf("ReadDir of a link = %+v", list)
		}
	})
}

// TestWriteFile: completely or not at all, the mode stays, links and others are refused.
func TestWriteFile(t *testing.T) {
	everywhere(t, func(t *testing.T, h *host.Host, dir string) {
		dir = tree(t, dir)
		write := func(name, content string, size int) error {
			path := filepath.Join(dir, name)
			err := h.WriteFile(t.Context(), path, strings.NewReader(content), int64(size), 0o644, false)
			if errors.Is(err, host.ErrLoses) { // BusyBox cannot show a file's attributes
				err = h.Overwrite(t.Context(), path, strings.NewReader(content), int64(size))
			}
			return err
		}
		big := strings.Repeat("0123456789abcde\n", 200_000)
		for _, c := range []struct {
			name, content string
			mode          fs.FileMode
		}{
			{"file", "new\x00content", 0o640}, {"binary", "", 0o755}, {"fresh", "x", 0o644}, {"sub/" + hard + "/y", big, 0o644},
		} {
			err := write(c.name, c.content, len(c.content))
			got, _ := os.ReadFile(filepath.Join(dir, c.name))
			info, statErr := os.Stat(filepath.Join(dir, c.name))
			if err != nil || string(got) != c.content || statErr != nil || info.Mode().Perm() != c.mode {
				t.Errorf("WriteFile(%q): %v; %d bytes, %v", c.name, err, len(got), info)
			}
		}
		for name, want := range map[string]string{"link": "symbolic link", "sub": "not a regular file", "fifo": "not a regular file", "abs/z": "symbolic link", "no/where": "not exist"} {
			if err := write(name, "x", 1); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("WriteFile(%q): %v, want %s", name, err, want)
			}
		}
		// After a cut connection: less than announced.
		if err := write("file", "short", 100); err == nil || !strings.Contains(err.Error(), "completely") {
			t.Errorf("a short file: %v", err)
		}
		if got, _ := os.ReadFile(filepath.Join(dir, "file")); string(got) != "new\x00content" {
			t.Errorf("after that the file has %q", got)
		}
		if m, _ := filepath.Glob(filepath.Join(dir, ".buddy-*")); len(m) > 0 {
			t.Errorf("left behind: %v", m)
		}
		if err := h.MkdirAll(t.Context(), filepath.Join(dir, "a/b/c")); err != nil {
			t.Error(err)
		}
	})
}

// withProgram returns this machine with a script in place of a program.
func withProgram(t *testing.T, name, script string) *host.Host {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil { //nolint:gosec // is run
		t.Fatal(err)
	}
	h := host.Local([]string{"PATH=" + dir + ":" + os.Getenv("PATH")})
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// TestFullDisk: the write fails with this cause, and the file is unchanged.
func TestFullDisk(t *testing.T) {
	h := withProgram(t, "cat", "[ \"$LC_ALL\" = C ] || exit 0\nhead -c 1; echo 'cat: write error: No space left on device' >&2; exit 1\n")
	dir := tree(t, tmuxtest.Dir(t))
	path := filepath.Join(dir, "file")
	for name, write := range map[string]func() error{
		"write":     func() error { return h.WriteFile(t.Context(), path, strings.NewReader("new"), 3, 0, false) },
		"overwrite": func() error { return h.Overwrite(t.Context(), path, strings.NewReader("new"), 3) },
	} {
		if err := write(); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "the disk there is full") || errors.Is(err, host.ErrUnknown) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, _ := os.ReadFile(path); string(got) != "0123456789" {
		t.Errorf("the file has %q", got)
	}
	if m, _ := filepath.Glob(filepath.Join(dir, ".buddy-*")); len(m) > 0 {
		t.Errorf("left behind: %v", m)
	}
}

// FuzzParse: the output of a hostile stat or find never causes a panic or a name with a slash.
func FuzzParse(f *testing.F) {
	f.Add("//81a4 10 1700000000 ./a\n//41ed 4096 1 ./b\nc\n")
	f.Add("//")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := host.ParseList(text)
		if err != nil {
			return
		}
		for _, i := range list {
			if i.Size < 0 && !strings.Contains(text, "-") {
				t.Errorf("size %d", i.Size)
			}
		}
	})
}

func TestHome(t *testing.T) {
	everywhere(t, func(t *testing.T, h *host.Host, _ string) {
		home, err := h.Home(t.Context())
		if info, statErr := h.Stat(t.Context(), home); err != nil || statErr != nil || !info.Mode.IsDir() {
			t.Errorf("Home = %q, %v, %v", home, err, statErr)
		}
	})
}
