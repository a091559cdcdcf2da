package input

import (
	"os"
	"path/filepath"
	"testing"
)

func TestInside(t *testing.T) {
	base := t.TempDir()
	folder, secret := filepath.Join(base, "shop"), filepath.Join(base, "secret")
	for _, dir := range []string{filepath.Join(folder, "a"), secret} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{filepath.Join(folder, "a", "x"), filepath.Join(folder, "..x"), filepath.Join(secret, "key")} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"out": "../secret", "key": "../secret/key", "in": "a/x", "dangling": "nowhere", "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(folder, filepath.Join(base, "alias")); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{folder, filepath.Join(base, "alias")} {
		inside := Inside(root)
		for name, want := range map[string]bool{
			"shop/a/x": true, "shop/..x": true, "shop": true, "shop/in": true, "shop/a/../a/x": true,
			"secret/key": false, "shop/../secret/key": false, "shop/out/key": false, "shop/key": false, "shop/dangling": false, "shop/loop": false, "shop/none": false, "shop2": false,
		} {
			for range 2 { // once remembered
				if inside(filepath.Join(base, filepath.FromSlash(name))) != want {
					t.Errorf("%s is in %s: %v", name, root, !want)
				}
			}
		}
	}
	if Inside("")(folder) || Inside(filepath.Join(base, "none"))(folder) {
		t.Error("no folder has files")
	}
	many := Inside(folder)
	for i := range 2 * maxInside {
		many(filepath.Join(folder, "n"+string(rune('a'+i%26)), string(rune('0'+i%300))))
	}
}
