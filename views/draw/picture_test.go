package draw

import "testing"

// Each row ends where the next one starts, whatever the rows contain.
func FuzzPictureRows(f *testing.F) {
	for _, row := range []string{"[red]x[-] \x1b]52;c;aGk=\x07 \u202egnp.exe\u202c z\u200bw 日本", "\x1b[38;5", "\x1b[38;2;1;2;3mx", "\x1b]8;;x\x1b\\y", "\x1b", "a\x1b[4:3mb\x1b(0c", "\xff\x1b[m", "\x0elqk", "a\rb\nc"} {
		f.Add(row, "next")
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		var pic Picture
		pic.Read(&first, []string{first, second})
		if len(pic.ends) != 2 || pic.ends[1] >= len(pic.text.Bytes) {
			t.Fatalf("rows end at %v of %d", pic.ends, len(pic.text.Bytes))
		}
	})
}
