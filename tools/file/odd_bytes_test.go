package file

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf16"

	"buddy/tools"
)

// wide returns text as UTF-16 with a byte order mark, big-endian with highFirst.
func wide(text string, highFirst bool) string {
	var b bytes.Buffer
	for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
		pair := []byte{byte(u), byte(u >> 8)}
		if highFirst {
			pair[0], pair[1] = pair[1], pair[0]
		}
		b.Write(pair)
	}
	return b.String()
}

// oddBytes has files with unusual bytes, by what is unusual. Each contains the text port=1 once.
var oddBytes = map[string]string{
	"nothing else":                     "port=1",
	"no line end at the end":           "a\nport=1",
	"line ends of Windows":             "a\r\nport=1\r\nb\r\n",
	"both line ends":                   "a\r\nport=1\nb\r\n\n\r\n",
	"line ends of old Macs":            "a\rport=1\rb\r",
	"a CR within a line":               "a\rb\nport=1\r\r\nc\n",
	"blanks at the ends of lines":      "a  \t\nport=1 \t \n\n\n",
	"a byte order mark":                "\ufeffport=1\nb\n",
	"two files after each other":       "\ufeffa\n\ufeffport=1\n",
	"form feeds":                       "a\n\f\nport=1\n\v\n",
	"separators of Unicode":            "a\u2028b\u2029c\u0085port=1\n",
	"the end of DOS":                   "a\r\nport=1\r\n\x1a",
	"colours":                          "\x1b[31ma\x1b[0m\nport=1\n\x1b]0;t\a\n",
	"backspaces":                       "a\b_b\nport=1\n",
	"one byte of Latin-1":              strings.Repeat("caf\u00e9 \u2013 \u4e2d\n", 9) + "ol\xe9\nport=1\n",
	"half a character at the end":      "\u4e2d\u6587\nport=1\n\xe4\xb8",
	"half a character before the text": "\u4e2d\u6587 \u00e9\u00e9\n\xe4\xb8 port=1\n",
	"surrogates":                       "\u4e2d\u6587\u4e2d\n\xed\xa0\xbd\xed\xb8\x80\nport=1\n",
	"a long form of a slash":           "\u00e9\u00e9\u00e9\n\xc0\xaf\nport=1\n",
	"quotes of Windows":                "\x93Hello\x94, she said \x96 it\x92s late, na\xefve caf\xe9\r\nport=1\r\n",
	"LaTeX in Latin-1":                 "\\section{\xdcbersicht f\xfcr gr\xf6\xdfere H\xe4user}\nport=1\n",
	"Shift-JIS":                        "\x93\xfa\x96{\x8c\xea\x82\xcc\x83t\x83@\x83C\x83\x8b\x82\xc5\x82\xb7\x81B\x95\\\x8e\xa6\nport=1\n",
	"GBK":                              "\xd6\xd0\xce\xc4\xb5\xc4\xd7\xa2\xca\xcd\xa3\xac\xb2\xbb\xd2\xaa\xb8\xc4\xb1\xe4\nport=1\n",
	"escapes of ISO-2022-JP":           "\x1b$BF|K\\8l\x1b(B\nport=1\n",
	"several encodings":                "Subject: caf\xe9\n\n\u4e2d\u6587\n\xd6\xd0\xce\xc4\nport=1\n",
	"UTF-16":                           wide("a\r\nport=1\r\n\u4e2d", false),
	"UTF-16 of other machines":         wide("a\nport=1\n\U0001f600", true),
	"a long line":                      strings.Repeat("x;", 1<<19) + "port=1;" + strings.Repeat("y;", 99) + "\n",
	"many lines":                       strings.Repeat("line\n", 1<<16) + "port=1\n",
	"marks of a conflict":              "<<<<<<< HEAD\nport=1\n=======\nport=2\n>>>>>>> x\n",
	"a patch with other line ends":     "--- a\n+++ b\n@@ -1 +1 @@\n-a\r\n+port=1\r\n\\ No newline at end of file\n",
	"marks of this program":            "[exit code 0, 1.0 s]\n*** Begin Patch\nport=1\n\u2026 [cut off]\n",
	"invisible characters":             "a\u200bb\u00adc\u202ed\u2066\nport=1\n\u200d",
	"accents in two forms":             "\u00e9 e\u0301\nport=1\n",
	"faces":                            "\U0001f469\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea\nport=1\n",
	"a newline within a cell":          "a,\"b\r\nc\",d\nport=1,\"\",\n",
	"tabs at the ends":                 "a\t\t\t\nport=1\t\t\n",
}

// TestOddFilesKeepTheirBytes: an edit of each file changes only the named character, and /undo restores all bytes. A
// file with a NUL byte is not text; it is refused and stays unchanged.
func TestOddFilesKeepTheirBytes(t *testing.T) {
	b := newBench(t)
	for name, text := range oddBytes {
		b.put("f", text)
		b.OK("read_file", args{"path": "f"})
		call, refused := b.Plan("edit_file", args{"path": "f", "old_string": "port=1", "new_string": "port=8"})
		if refused != "" {
			t.Errorf("%s: %s", name, refused)
			continue
		}
		var kept []tools.Before
		call.Keep = func(files []tools.Before) error { kept = files; return nil }
		if _, err := b.Finish(call); err != "" {
			t.Errorf("%s: %s", name, err)
			continue
		}
		edited := strings.NewReplacer("port=1", "port=8", wide("=1", false)[2:], wide("=8", false)[2:], wide("=1", true)[2:], wide("=8", true)[2:])
		if got, want := b.content("f"), edited.Replace(text); got != want {
			t.Errorf("%s: %.200q, want %.200q", name, got, want)
		}
		if _, err := b.ws.Restore(t.Context(), kept, false); err != nil || b.content("f") != text {
			t.Errorf("%s: restored: %v, %.200q", name, err, b.content("f"))
		}
	}
	b.put("f", "a\x00\nport=1\n")
	if _, refused := b.Plan("edit_file", args{"path": "f", "old_string": "port=1", "new_string": "port=8"}); refused == "" || b.content("f") != "a\x00\nport=1\n" {
		t.Errorf("a file with a NUL is edited: %q", b.content("f"))
	}
}
