package owners

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

const other = 1 // an account that every system has

func TestFoldersThatOthersCouldChange(t *testing.T) {
	base := t.TempDir()
	mode := func(name string, perm os.FileMode) string {
		t.Helper()
		dir := filepath.Join(base, name)
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, perm)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	own := mode("own", 0o755)
	open := mode("open", 0o777)
	sticky := mode("sticky", 0o777|os.ModeSticky)
	mode("open/below", 0o700)
	mode("sticky/below", 0o700)
	if err := errors.Join(os.Symlink(open, filepath.Join(own, "link")), os.Symlink(own, filepath.Join(own, "fine"))); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{
		own: nil, own + "/missing/deep": nil, open: ErrOther, open + "/below": ErrOther, open + "/missing": ErrOther, sticky: nil, sticky + "/below": nil,
		own + "/link": ErrOther, own + "/link/missing": ErrOther, own + "/fine": nil, own + "/../open/below": ErrOther,
	} {
		if err := Check(path); !errors.Is(err, want) || (want == nil) != (err == nil) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
}

// A second account: what belongs to it, and what it can write through a group.
func TestFoldersOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	base := t.TempDir()
	give := func(name string, uid, gid int, perm os.FileMode) string {
		t.Helper()
		dir := filepath.Join(base, name)
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chown(dir, uid, gid), os.Chmod(dir, perm)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	for path, want := range map[string]error{
		give("his", other, other, 0o700): ErrOther, give("group", 0, other, 0o775): ErrOther, give("readable", 0, other, 0o755): nil, give("root", 0, 0, 0o775): nil,
		give("sticky", 0, 0, 0o777|os.ModeSticky): nil, give("sticky/planted", other, other, 0o755): ErrOther, filepath.Join(give("his2", other, 0, 0o755), "x"): ErrOther,
	} {
		if err := Check(path); !errors.Is(err, want) || (want == nil) != (err == nil) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
	if err := os.Symlink("/etc", filepath.Join(base, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Lchown(filepath.Join(base, "link"), other, other); err != nil {
		t.Fatal(err)
	}
	if err := Check(filepath.Join(base, "link/x")); !errors.Is(err, ErrOther) {
		t.Errorf("a link of another user: %v", err)
	}
}
