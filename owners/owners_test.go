package owners

import (
	"errors"
	"fmt"
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
		for name, check := range map[string]func(string) error{"Check": Check, "CheckOwn": CheckOwn} {
			if err := check(path); !errors.Is(err, want) || (want == nil) != (err == nil) {
				t.Errorf("%s: %s: %v, want %v", name, path, err, want)
			}
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
		for name, check := range map[string]func(string) error{"Check": Check, "CheckOwn": CheckOwn} {
			if err := check(path); !errors.Is(err, want) || (want == nil) != (err == nil) {
				t.Errorf("%s: %s: %v, want %v", name, path, err, want)
			}
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

// Of a file that decides what runs the error says whose it is and what to do. In a container root works on files of
// users without a name.
func TestOwnFilesOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	base := t.TempDir()
	for name, c := range map[string]struct {
		uid  int
		perm os.FileMode
		want string
	}{
		"mine":      {0, 0o600, ""},
		"open":      {0, 0o666, "not loaded: another user of this machine could change it: everybody may write to %q; to use it: chmod go-w %[1]q"},
		"his":       {other, 0o600, "not loaded: another user of this machine could change it: %q belongs to " + userName(other) + "; to use it: chown root %[1]q"},
		"container": {3_000_000, 0o600, ""},
	} {
		path := filepath.Join(base, name)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chown(path, c.uid, 0), os.Chmod(path, c.perm)); err != nil {
			t.Fatal(err)
		}
		if c.want != "" {
			c.want = fmt.Sprintf(c.want, path)
		}
		if err := CheckOwn(path); (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if err := Check(filepath.Join(base, "container")); !errors.Is(err, ErrOther) {
		t.Errorf("a folder of sessions that belongs to a user without a name: %v", err)
	}
}
