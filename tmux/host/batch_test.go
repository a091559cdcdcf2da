package host_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"buddy/tmux/host"
)

// TestMany reads many folders and files in one go, hard names among them.
func TestMany(t *testing.T) {
	everywhere(t, func(t *testing.T, h *host.Host, dir string) {
		dir = tree(t, dir)
		lists, more, err := h.ReadDirs(t.Context(), dir, []string{".", "sub", "sub/" + hard, "none", "file", "abs"})
		if err != nil || more {
			t.Fatalf("ReadDirs: %v, %v", more, err)
		}
		var got []string
		for d, list := range lists {
			for _, f := range list {
				got = append(got, fmt.Sprintf("%s %s %v %d", d, f.Name, f.Mode.Type(), min(f.Size, 10)))
			}
		}
		slices.Sort(got)
		for _, want := range []string{". file ---------- 10", "sub/" + hard + " x ---------- 4", "sub " + hard + " d---------"} {
			if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, want) }) {
				t.Errorf("%q is not in %q", want, got)
			}
		}
		if len(lists) != 3 {
			t.Errorf("%d folders, want 3 of the 6: %q", len(lists), got)
		}
		if _, _, err := h.ReadDirs(t.Context(), filepath.Join(dir, "abs"), []string{"."}); err == nil {
			t.Error("a link was listed")
		}
		paths := []string{"file", "binary", "missing", "link", "sub/" + hard + "/x", "fifo"}
		for i, p := range paths {
			paths[i] = filepath.Join(dir, p)
		}
		files, err := h.ReadFiles(t.Context(), paths, 5, host.Texts{})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{"01234", "a\x00\xff\x1e\r", "", "", "deep", ""} {
			if string(files[i].Data) != want || (want == "") != (files[i].Err != nil) {
				t.Errorf("%s = %q, %v, want %q", paths[i], files[i].Data, files[i].Err, want)
			}
		}
		if !errors.Is(files[2].Err, fs.ErrNotExist) {
			t.Errorf("missing: %v", files[2].Err)
		}
		files, err = h.ReadFiles(t.Context(), []string{paths[0], paths[4]}, 100, host.Texts{Any: []string{"-x", "DEE"}, Fold: true})
		if err != nil || !files[0].Skip || string(files[1].Data) != "deep" {
			t.Errorf("with texts: %+v, %v", files, err)
		}
	})
}

// TestRemoveAndChmod change regular files only.
func TestRemoveAndChmod(t *testing.T) {
	everywhere(t, func(t *testing.T, h *host.Host, dir string) {
		dir = tree(t, dir)
		if err := h.Chmod(t.Context(), filepath.Join(dir, "file"), 0o751); err != nil {
			t.Error(err)
		}
		if info, err := os.Stat(filepath.Join(dir, "file")); err != nil || info.Mode() != 0o751 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		for _, name := range []string{"link", "sub", "fifo", "abs/x", "missing"} {
			if err := h.Remove(t.Context(), filepath.Join(dir, name)); err == nil {
				t.Errorf("%s was removed", name)
			}
		}
		if err := h.Remove(t.Context(), filepath.Join(dir, "file")); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(filepath.Join(dir, "file")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it is there: %v", err)
		}
	})
}
