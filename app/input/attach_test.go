package input

import (
	"os"
	"strings"
	"testing"

	"buddy/agent/model"
)

func TestAttached(t *testing.T) {
	t.Chdir(t.TempDir())
	png := "\x89PNG\r\n\x1a\nrest"
	for name, data := range map[string]string{
		"a.png": png, "b.PNG": png, "c d.png": png, "notes.txt": "x", "fake.jpg": "text", "empty.gif": "",
		"big.webp": strings.Repeat("x", model.MaxImage+1),
	} {
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("dir.png", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		prompt string
		images int
		err    string
	}{
		{"no picture, ann@b.png either", 0, ""},
		{"compare @a.png and (see @./b.PNG).", 2, ""},
		{`look at @"c d.png", then at @a.png`, 2, ""},
		{`@"missing one.png"`, 0, ""},
		{"what is in @notes.txt and @missing.png?", 0, ""},
		{"@fake.jpg", 0, "fake.jpg: the file is not an image that models take"},
		{"@empty.gif", 0, "empty.gif: the image is empty"},
		{"@big.webp", 0, "big.webp: the image has 3.9 MB (allowed: 3.9 MB)"},
		{"@dir.png", 0, "dir.png: not a regular file"},
	} {
		got, err := Attached(tt.prompt)
		if len(got) != tt.images || (err == nil) != (tt.err == "") || err != nil && !strings.HasPrefix(err.Error(), tt.err) {
			t.Errorf("attached(%q) = %d images, %v, want %d, %q", tt.prompt, len(got), err, tt.images, tt.err)
		}
	}
}
