package input

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/adrg/xdg"

	"buddy/agent/model"
)

const png = "\x89PNG\r\n\x1a\nrest"

// picturesIn keeps pasted pictures in a folder of the test.
func picturesIn(t *testing.T) (dir string) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	xdg.Reload()
	t.Cleanup(xdg.Reload)
	return filepath.Join(xdg.StateHome, "buddy", "pictures")
}

func TestPictureOfAPastedPath(t *testing.T) {
	kept := picturesIn(t)
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Chdir(dir)
	for name, data := range map[string]string{"a.png": png, "two words.png": png, "text.png": "no picture", "a.txt": png, "big.png": png + strings.Repeat("x", model.MaxImage)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const copied = "copied"
	for pasted, want := range map[string]string{
		dir + "/a.png":                                dir + "/a.png",
		" " + dir + "/a.png\n":                        dir + "/a.png",
		"'" + dir + "/a.png'":                         dir + "/a.png",
		"~/a.png":                                     dir + "/a.png",
		"file://" + dir + "/a.png":                    dir + "/a.png",
		dir + "/two\\ words.png":                      copied,
		"\"" + dir + "/two words.png\"":               copied,
		"file://localhost" + dir + "/two%20words.png": copied,
		dir + "/text.png":                             "",
		dir + "/a.txt":                                "",
		dir + "/big.png":                              "",
		dir + "/gone.png":                             "",
		"a.png":                                       "", // a word
		dir + "/a.png and more":                       "",
		dir + "/a.png\n" + dir + "/a.png":             "",
		"":                                            "",
		"file://x%zz/a.png":                           "",
	} {
		got := Picture(pasted)
		if want == copied && filepath.Dir(got) == kept {
			continue
		}
		if got != want {
			t.Errorf("Picture(%q) = %q, want %q", pasted, got, want)
		}
	}
	all, err := Attached("look at @" + Picture("'"+dir+"/two words.png'"))
	if err != nil || len(all) != 1 || string(all[0].Data) != png {
		t.Errorf("the copy is sent as %v, %v", all, err)
	}
}

func TestOldCopiesOfPicturesAreRemoved(t *testing.T) {
	kept := picturesIn(t)
	old, err := keepPicture(model.Image{MediaType: "image/gif", Data: []byte("GIF89a")})
	if err != nil || filepath.Dir(old) != kept {
		t.Fatal(old, err)
	}
	if info, err := os.Stat(old); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.Chtimes(old, time.Now(), time.Now().Add(-2*keepPictures)); err != nil {
		t.Fatal(err)
	}
	young, err := keepPicture(model.Image{MediaType: "image/png", Data: []byte(png)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Errorf("the old one is there: %v", err)
	}
	if _, err := os.Stat(young); err != nil {
		t.Error(err)
	}
}

func TestPictureOfTheClipboard(t *testing.T) {
	picturesIn(t)
	have := func(names ...string) func(string) (string, error) {
		return func(name string) (string, error) {
			for _, n := range names {
				if n == name {
					return "/bin/" + name, nil
				}
			}
			return "", exec.ErrNotFound
		}
	}
	wayland := func(name string) string { return map[string]string{"WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}[name] }
	for _, c := range []struct{ have, want string }{{"wl-paste", "wl-paste"}, {"xclip", "xclip"}, {"", ""}} {
		got := pictureTool(wayland, have(c.have))
		if c.want == "" && got != nil || c.want != "" && (len(got) == 0 || got[0] != c.want) {
			t.Errorf("with %q: %q", c.have, got)
		}
	}
	for _, c := range []struct{ command, want, err string }{
		{"printf 'GIF89a'", "GIF89a", ""},
		{"exit 1", "", "the clipboard has no picture"},
		{"true", "", "the clipboard has no picture"},
		{"exec head -c 60000000 /dev/zero", "", "more than 52.4 MB"},
	} {
		data, err := readTool(context.Background(), []string{"sh", "-c", c.command})
		if string(data) != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %d bytes, %v", c.command, len(data), err)
		}
	}
	over, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	if _, err := readTool(over, []string{"sleep", "1000"}); err == nil || strings.Contains(err.Error(), "has none") {
		t.Errorf("a tool that is too slow: %v", err)
	}
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	if _, err := ClipboardPicture(context.Background()); err == nil || !strings.Contains(err.Error(), "paste") {
		t.Errorf("without a tool: %v", err)
	}
}
