package file

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"buddy/tools"
	"buddy/tools/fs"
)

// samples has lines in each encoding: words from source comments, and sentences.
var samples = []struct {
	charset *charset
	name    string
	short   string
	long    string
}{
	{windows1252, "Windows-1252", "x = 1 # café", "Größe und Länge müssen übereinstimmen – sonst „Fehler“.\nL'été dernier, il a été très déçu par l'œuvre.\nEl niño comió piñas mañana; ¿qué pasó?\n"},
	{windows1251, "Windows-1251", "x = 1 # тест", "Проверка размера файла не удалась.\nЗначение по умолчанию берётся из настроек пользователя.\n"},
	{koi8R, "KOI8-R", "x = 1 # тест", "Проверка размера файла не удалась.\nЗначение по умолчанию берётся из настроек пользователя.\n"},
	{gbk, "GBK", "name = 中文注释", "检查文件大小是否正确,否则返回错误。\n用户可以在设置中修改默认值。\n霓虹灯照亮了整条街道\n"},
	{big5, "Big5", "name = 中文註解", "檢查檔案大小是否正確,否則傳回錯誤。\n使用者可以在設定中修改預設值。\n"},
	{shiftJIS, "Shift-JIS", "name = 日本語", "ファイルの大きさを確認してください。\n設定が見つからない場合は、既定の値を使う。\n表示の予定\n"},
	{eucJP, "EUC-JP", "name = 日本語", "ファイルの大きさを確認してください。\n設定が見つからない場合は、既定の値を使う。\n"},
	{eucKR, "EUC-KR", "name = 한국어 주석", "파일 크기를 확인하지 못했습니다.\n설정에서 기본값을 바꿀 수 있다.\n"},
	{littleUTF16, "UTF-16", "x = 1 # тест", "naïve café 中文\n日本語 текст\n"},
	{bigUTF16, "UTF-16", "x = 1 # тест", "naïve café 中文\n日本語 текст\n"},
	{littleBare, "UTF-16LE without a byte order mark", "x = 1", "Windows Registry Editor Version 5.00\nnaïve café 中文 текст\n"},
	{bigBare, "UTF-16BE without a byte order mark", "x = 1", "Windows Registry Editor Version 5.00\nnaïve café 中文 текст\n"},
}

// coded returns a text as the content of a file.
func coded(t testing.TB, c *charset, text string) string {
	t.Helper()
	data, err := c.encode(text)
	must(t, err)
	if c == nil {
		return string(data)
	}
	return c.mark + string(data)
}

func TestCharsetIsDetected(t *testing.T) {
	for _, s := range samples {
		for _, text := range []string{s.short, s.short + "\n", s.long, "int main(void) { return 0; }\n" + s.long, strings.Repeat(s.long, 50)} {
			if got, c := decode([]byte(coded(t, s.charset, text))); c != s.charset || got != text {
				t.Errorf("%s: %.40q is read as %v, %.40q", s.name, text, c, got)
			}
		}
		for text := range strings.Lines(s.long) {
			if got, c := decode([]byte(coded(t, s.charset, text))); c != s.charset || got != text {
				t.Errorf("%s: the line %.40q is read as %v, %.40q", s.name, text, c, got)
			}
		}
	}
	polish, _ := charmap.ISO8859_2.NewEncoder().String("Błąd: nie można otworzyć źródła\n")
	greek, _ := charmap.Windows1253.NewEncoder().String("Ο έλεγχος του αρχείου απέτυχε, δοκιμάστε ξανά\n")
	dos, _ := charmap.CodePage866.NewEncoder().String("Проверка размера файла не удалась\n")
	for _, text := range []string{polish, greek, dos, "k \xe9\nl \xe8\n"} {
		if got, c := decode([]byte(text)); c != unknown || len(got) <= len(text) {
			t.Errorf("%q is read as %v, %q", text, c, got)
		}
	}
	tests := []struct {
		name, file string
		want       *charset
		text       string
	}{
		{"ASCII", "a\n", nil, "a\n"},
		{"UTF-8", "naïve café\n", nil, "naïve café\n"},
		{"UTF-8 with a byte that is not", "hello\nnaïve café\nbad \xe9 line\n", brokenUTF8, "hello\nnaïve café\nbad � line\n"},
		{"UTF-8 that ends in a character", "世界 世界\xe4\xb8", brokenUTF8, "世界 世界��"},
		{"UTF-8 with a line in Windows-1252", "größe größe größe\ngr\xf6\xdfe\n", brokenUTF8, "größe größe größe\ngr��e\n"},
		{"a byte alone", "bad \xe9 line\n", unknown, "bad � line\n"},
		{"one half of a pair", utf16LE("a\n") + "\x00\xd8", littleUTF16, "a\n�"},
		{"one word in Windows-1252", "caf\xe9\n", windows1252, "café\n"},
		{"a quote in Windows-1252", "don\x92t\n", windows1252, "don’t\n"},
		{"a year in Windows-1252", "Copyright \xa9 2003 A. Author\n", windows1252, "Copyright © 2003 A. Author\n"},
		{"by chance", "k: \x81\xfe\x9d\x80\xff\xf7\xd7\xb2\xa8\xfa\n", unknown, "k: ������ײ��\n"},
		{"bytes that are no text", "a\x00b\xff\x00c", nil, "a\x00b\xff\x00c"},
		{"ASCII with a NUL", strings.Repeat("a\n", 10) + "\x00\n", nil, strings.Repeat("a\n", 10) + "\x00\n"},
		{"numbers", "\x01\x00\x02\x00\x41\x00\x00\x00\x42\x00\x00\x00", nil, "\x01\x00\x02\x00\x41\x00\x00\x00\x42\x00\x00\x00"},
		{"UTF-32", "\xff\xfe\x00\x00a\x00\x00\x00", nil, "\xff\xfe\x00\x00a\x00\x00\x00"},
	}
	for _, tt := range tests {
		if got, c := decode([]byte(tt.file)); c != tt.want || got != tt.text {
			t.Errorf("%s: %q in %v, want %q in %v", tt.name, got, c, tt.text, tt.want)
		}
	}
}

// FuzzCharacters: the characters of any file cover all of its bytes, and decoding gives valid text.
func FuzzCharacters(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(coded(f, s.charset, s.long)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, c := range []*charset{littleUTF16, bigUTF16, windows1252, windows1251, koi8R, gbk, big5, shiftJIS, eucJP, eucKR, brokenUTF8} {
			var all []byte
			for one := range c.characters(data, 0) {
				all = append(all, data[one.at:one.at+one.size]...)
			}
			if !bytes.Equal(all, data) {
				t.Errorf("%s: the characters of %q are %q", c.name, data, all)
			}
		}
		text, c := decode(data)
		if c != nil && strings.ToValidUTF8(text, "") != text {
			t.Errorf("%q is read as %q", data, text)
		}
	})
}

// oddFile returns the bytes before and after the place of a word in a file: lines of a sample with odd line ends and,
// with junk, some bytes that are invalid in its encoding.
func oddFile(t testing.TB, r *rand.Rand, c *charset, sample string, junk bool) (before, after string) {
	lines := strings.SplitAfter(strings.Repeat(sample, 3), "\n")
	ends := []string{"\n", "\r\n", "\n", "\r\n\r\n", "\r", ""}
	half := func() string {
		var b strings.Builder
		for range 1 + r.IntN(8) {
			line := strings.TrimSuffix(lines[r.IntN(len(lines))], "\n")
			data, err := c.encode(line + ends[r.IntN(len(ends))])
			must(t, err)
			b.Write(data)
			if junk && r.IntN(3) == 0 && !c.isWide() {
				for range 1 + r.IntN(3) {
					b.WriteByte(byte(0x80 + r.IntN(0x80)))
				}
			}
		}
		return b.String()
	}
	mark := ""
	if c != nil {
		mark = c.mark
	} else if r.IntN(4) == 0 {
		mark = byteOrderMark
	}
	return mark + half() + coded(t, bare(c), " "), coded(t, bare(c), " ") + half()
}

func (c *charset) isWide() bool { return c != nil && c.wide }

// bare returns a charset without its mark.
func bare(c *charset) *charset {
	switch c {
	case littleUTF16:
		return littleBare
	case bigUTF16:
		return bigBare
	}
	return c
}

// An edit keeps all bytes outside the replaced text, in each encoding, with any line ends and with invalid bytes, and
// writes its text in the encoding of the file.
func TestBytesOutsideOfAnEditStay(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range append(samples, struct {
		charset           *charset
		name, short, long string
	}{nil, "UTF-8", "", "naïve café 中文\n日本語 текст\n"}) {
		for _, junk := range []bool{false, true} {
			edited, same := 0, 0
			for range 100 {
				before, after := oddFile(t, r, s.charset, s.long, junk)
				if strings.IndexFunc(before+after, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
					continue // ASCII
				}
				word, _ := s.charset.encode("token")
				own, _, _ := strings.Cut(s.long, " ")
				own, _, _ = strings.Cut(own, "\n")
				for _, text := range []string{"edit", own} {
					d := open([]byte(before + string(word) + after))
					parts, err := replacements(d.text, "token", text, false)
					if err == nil {
						d, err = d.splice(parts, false)
					}
					if err != nil {
						continue
					}
					edited++
					want, _ := s.charset.encode(text)
					if got := string(d.data); !strings.HasPrefix(got, before) || !strings.HasSuffix(got, after) {
						t.Fatalf("%s: %q\nbefore %q\nafter %q", s.name, got, before, after)
					}
					if string(d.data) == before+string(want)+after {
						same++
					} else if d.charset == s.charset {
						t.Fatalf("%s: %q, want %q\nbefore %q\nafter %q", s.name, d.data, want, before, after)
					}
				}
			}
			if edited < 160 || same < 130 || !junk && edited != same {
				t.Errorf("%s, junk %v: %d edited, %d in the encoding of the file", s.name, junk, edited, same)
			}
		}
	}
}

// A patch and a complete rewrite of a file change only the lines that differ.
func TestLinesThatStayKeepTheirBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, s := range samples {
		for _, junk := range []bool{false, true} {
			done := 0
			for range 40 {
				before, after := oddFile(t, r, s.charset, s.long, junk)
				d := open([]byte(before + coded(t, bare(s.charset), "\ntoken\n") + after))
				if d.charset != s.charset {
					continue
				}
				for _, lossy := range []bool{false, true} {
					got, err := d.become(strings.Replace(d.text, "token", "edit", 1), lossy)
					if want := before + coded(t, bare(s.charset), "\nedit\n") + after; err != nil || string(got.data) != want {
						t.Fatalf("%s: %v, %q, want %q", s.name, err, got.data, want)
					}
				}
				done++
			}
			if done < 20 {
				t.Errorf("%s, junk %v: %d done", s.name, junk, done)
			}
		}
	}
}

func TestToolsInEveryEncoding(t *testing.T) {
	b := newBench(t)
	for i, s := range samples {
		name := fmt.Sprintf("f%02d", i)
		file := coded(t, s.charset, "one\r\n"+s.long+"two\n"+s.short)
		b.put(name, file)
		read := b.OK("read_file", args{"path": name})
		if want := "one\n" + s.long + "two\n" + s.short; read.Text != want || !strings.Contains(read.Note, "the file is not UTF-8: it is read and changed as "+s.name) {
			t.Errorf("%s: read %v", s.name, read)
		}
		if again := b.OK("read_file", args{"path": name}); strings.Contains(again.Note, "UTF-8") {
			t.Errorf("%s: said again: %s", s.name, again.Note)
		}
		call, planErr := b.Plan("edit_file", args{"path": name, "old_string": "two\n" + s.short, "new_string": s.short + "\n2"})
		if planErr != "" {
			t.Fatal(planErr)
		}
		if !strings.Contains(call.Planned.Preview, "+"+s.short+"\n+2\n") || !strings.Contains(call.Planned.Preview, "bytes in "+s.name) {
			t.Errorf("%s: preview:\n%s", s.name, call.Planned.Preview)
		}
		var kept []tools.Before
		call.Keep = func(files []tools.Before) error { kept = files; return nil }
		if _, err := b.Finish(call); err != "" {
			t.Fatal(err)
		}
		if got, want := b.content(name), coded(t, s.charset, "one\r\n"+s.long+s.short+"\n2"); got != want {
			t.Errorf("%s: edited: %q, want %q", s.name, got, want)
		}
		if _, err := b.ws.Restore(t.Context(), kept, false); err != nil || b.content(name) != file {
			t.Errorf("%s: restored: %v, %q", s.name, err, b.content(name))
		}
		b.OK("read_file", args{"path": name})
		line, _, _ := strings.Cut(s.long, "\n")
		b.OK("apply_patch", args{"patch": fmt.Sprintf("*** Begin Patch\n*** Update File: %s\n@@\n one\n-%s\n+%s\n*** End Patch\n", name, line, s.short)})
		patched := "one\r\n" + strings.Replace(s.long, line, s.short, 1) + "two\n" + s.short
		if got, want := b.content(name), coded(t, s.charset, patched); got != want {
			t.Errorf("%s: patched: %q, want %q", s.name, got, want)
		}
		done := b.OK("write_file", args{"path": name, "content": s.long})
		if got, want := b.content(name), coded(t, s.charset, strings.Replace(s.long, "\n", "\r\n", 1)); got != want || !strings.Contains(done.Text, " in "+s.name+" to ") {
			t.Errorf("%s: %s: %q, want %q", s.name, done.Text, got, want)
		}
	}
}

// A file that is too large to be edited is decoded while it is read.
func TestLargeFilesAreDecoded(t *testing.T) {
	for _, s := range samples {
		if s.charset != windows1252 && s.charset != gbk && s.charset != littleUTF16 {
			continue
		}
		b := newBench(t)
		n := fs.MaxText/len(coded(t, bare(s.charset), s.long)) + 1
		b.put("f", coded(t, s.charset, strings.Repeat(s.long, n)))
		line, _, _ := strings.Cut(s.long, "\n")
		got := b.OK("read_file", args{"path": "f", "offset": (n-1)*strings.Count(s.long, "\n") + 1, "limit": 1})
		if got.Text != line+"\n" || !strings.Contains(got.Note, "it is read and changed as "+s.name) {
			t.Errorf("%s: %v", s.name, got)
		}
	}
	b := newBench(t)
	b.put("f", strings.Repeat("naïve café\n", fs.MaxText/10)+"bad \xe9 line\n")
	if got := b.OK("read_file", args{"path": "f", "offset": fs.MaxText/10 + 1}); got.Text != "bad � line\n" {
		t.Errorf("UTF-8: %v", got)
	}
}

func TestGrepFindsTextInEveryEncoding(t *testing.T) {
	b := newBench(t)
	for _, s := range samples {
		if onTarget != nil && s.charset.mark == "" && s.charset.wide {
			continue // the target does not send the file
		}
		line, _, _ := strings.Cut(s.long, "\n")
		b.put("f", coded(t, s.charset, "one\n"+s.long))
		if got := b.OK("grep", args{"pattern": line}); got.Text != "f:2:"+line+"\n" {
			t.Errorf("%s: grep = %v", s.name, got)
		}
	}
	b.put("f", "hello\nnaïve café\nbad \xe9 line\n")
	if got := b.OK("grep", args{"pattern": "café|bad"}); got.Text != "f:2:naïve café\nf:3:bad � line\n" {
		t.Errorf("grep = %v", got)
	}
}

func TestBytesThatAreNoTextStay(t *testing.T) {
	const file = "hello\nnaïve café\nbad \xe9 line\nand \xe8\n"
	edit := func(before, after string) args {
		return args{"path": "f", "old_string": before, "new_string": after}
	}
	b := newBench(t)
	b.put("f", file)
	got := b.OK("read_file", args{"path": "f"})
	if got.Text != "hello\nnaïve café\nbad � line\nand �\n" || got.Note != "2 bytes that are not UTF-8 are shown as �, and changes keep them" {
		t.Errorf("read = %v", got)
	}
	b.Fails("edit_file", edit("bad � line", "bad line"), `"f": the text to replace has �, which stands for bytes that are not UTF-8; leave it out, or change those bytes with a command`)
	b.Fails("edit_file", edit("hello", "hello �"), "the new text has �, which stands for bytes that are not UTF-8 and can't be written")
	b.Fails("apply_patch", args{"patch": "*** Begin Patch\n*** Update File: f\n@@\n-bad � line\n*** End Patch\n"}, "the text to replace has �")
	if b.content("f") != file {
		t.Errorf("the file has %q", b.content("f"))
	}
	b.OK("edit_file", edit("hello", "hello é"))
	b.OK("edit_file", edit(" line\nand", " é line\nand"))
	b.OK("apply_patch", args{"patch": "*** Begin Patch\n*** Update File: f\n@@\n bad � é line\n-and �\n+and this �\n*** End Patch\n"})
	if want := "hello é\nnaïve café\nbad \xe9 é line\nand this \xe8\n"; b.content("f") != want {
		t.Errorf("the file has %q, want %q", b.content("f"), want)
	}
	b.OK("write_file", args{"path": "f", "content": "hello\nnaïve café\nbad � é line\n"}) // a line that stays
	if want := "hello\nnaïve café\nbad \xe9 é line\n"; b.content("f") != want {
		t.Errorf("the file has %q, want %q", b.content("f"), want)
	}
	b.Fails("write_file", args{"path": "f", "content": "new �\n"}, "the new text has �")
	if got := b.OK("write_file", args{"path": "f", "content": "hello\nnaïve café\nfixed é line\n"}); b.content("f") != "hello\nnaïve café\nfixed é line\n" ||
		got.Text != "Wrote 33 bytes in UTF-8, without the bytes that were not, to f" {
		t.Errorf("written: %q, %v", b.content("f"), got)
	}
}

func TestFileInAnUnknownEncoding(t *testing.T) {
	const file = "k = \x81\xfe\x9d\x80\xff\xf7\n"
	b := newBench(t)
	b.put("f", file)
	if got := b.OK("read_file", args{"path": "f"}); got.Text != "k = ������\n" || got.Note != "the encoding of the file is not known: 6 bytes that are not UTF-8 are shown as �, and changes keep them; only ASCII can be added" {
		t.Errorf("read = %v", got)
	}
	b.Fails("edit_file", args{"path": "f", "old_string": "k", "new_string": "ключ"}, "the encoding of the file is not known, so 'к' (U+043A) can't be encoded; use ASCII, or convert")
	b.OK("edit_file", args{"path": "f", "old_string": "k", "new_string": "key"})
	if want := "key" + file[1:]; b.content("f") != want {
		t.Errorf("the file has %q", b.content("f"))
	}
	b.OK("write_file", args{"path": "f", "content": "ключ = 1\n"})
	if b.content("f") != "ключ = 1\n" {
		t.Errorf("the file has %q", b.content("f"))
	}
}

// A change that would join an invalid byte with others to a different character is refused.
func TestChangeThatJoinsBytesIsRefused(t *testing.T) {
	b := newBench(t)
	b.put("f", "naïve café \xc3-\xa9\n")
	b.OK("read_file", args{"path": "f"})
	b.Fails("edit_file", args{"path": "f", "old_string": "-", "new_string": ""}, "the change would join bytes that are not UTF-8 with others")
	b.OK("edit_file", args{"path": "f", "old_string": "-", "new_string": "+"})
	if got := b.content("f"); got != "naïve café \xc3+\xa9\n" {
		t.Errorf("the file has %q", got)
	}
}
