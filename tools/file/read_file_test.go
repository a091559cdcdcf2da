package file

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"buddy/agent/model"
	"buddy/tools"
)

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func TestReadFile(t *testing.T) {
	exact := strings.Repeat("1234567\n", tools.MinPage/8)
	tests := []struct {
		name    string
		file    string
		a       args
		content string
		lines   string // "" = none
		note    string
	}{
		{"whole", "a\nb\n", args{}, "a\nb\n", "1-2 of 2", ""},
		{"no final newline", "a\nb", args{}, "a\nb", "1-2 of 2", ""},
		{"empty", "", args{}, "", "", "the file is empty"},
		{"only a newline", "\n", args{}, "\n", "1-1 of 1", ""},
		{"offset", "a\nb\nc\n", args{"offset": 2}, "b\nc\n", "2-3 of 3", ""},
		{"limit", "a\nb\nc\n", args{"offset": 2, "limit": 1}, "b\n", "2-2 of 3", "continue with offset 3"},
		{"limit at the end", "a\nb", args{"limit": 2}, "a\nb", "1-2 of 2", ""},
		{"exactly the limit", exact, args{}, exact, "1-1000 of 1000", ""},
		{"one more", exact + "x", args{}, exact, "1-1000 of 1001", "continue with offset 1001"},
		{"line does not fit", exact[:tools.MinPage-8] + "123456789\n", args{}, exact[:tools.MinPage-8], "1-999 of 1000", "continue with offset 1000"},
		{"long line", strings.Repeat("x", 9000) + "\nb\n", args{}, strings.Repeat("x", tools.MinPage) + tools.Truncated, "1-1 of 2", "line 1 is too long and was cut after 8000 bytes; grep finds parts of it"},
		{"long line cut in a character", strings.Repeat("x", tools.MinPage-1) + "é\n", args{}, strings.Repeat("x", tools.MinPage-1) + tools.Truncated, "1-1 of 1", "line 1 is too long and was cut after 7999 bytes; grep finds parts of it"},
		{"after a long line", strings.Repeat("x", 200_000) + "\nb\n", args{"offset": 2}, "b\n", "2-2 of 2", ""},
		{"CRLF", "a\r\nb\r\n", args{}, "a\nb\n", "1-2 of 2", "line ends are CRLF, shown as LF; changes keep them"},
		{"BOM", "\ufeffa\n", args{}, "a\n", "1-1 of 1", "a byte order mark at the start is not shown; changes keep it"},
		{"Latin-1", "caf\xe9 \x93x\x94\nb\n", args{}, "café “x”\nb\n", "1-2 of 2", "the file is not UTF-8: it is read and changed as Windows-1252"},
		{"UTF-16", "\xff\xfea\x00\n\x00=\xd8\x00\xde\n\x00", args{"offset": 2}, "😀\n", "2-2 of 2", "the file is not UTF-8: it is read and changed as UTF-16"},
		{"UTF-16, big end first", "\xfe\xff\x00a", args{}, "a", "1-1 of 1", "the file is not UTF-8: it is read and changed as UTF-16"},
		{"numbered", "\ufeffa\n\nc", args{"number": true}, "1\ta\n2\t\n3\tc", "1-3 of 3", "a byte order mark at the start is not shown; changes keep it"},
		{"numbered from", "a\nb\nc", args{"number": true, "offset": 2, "limit": 1}, "2\tb\n", "2-2 of 3", "continue with offset 3"},
		{"numbers count", exact, args{"number": true, "offset": 2}, "", "2-", "continue with offset "},
		{"escape sequences are text", "\x1b[31mred\x1b[0m\n", args{}, "\x1b[31mred\x1b[0m\n", "1-1 of 1", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.put("ünï 文/f.txt", tt.file)
			tt.a["path"] = "ünï 文/f.txt"
			got := b.OK("read_file", tt.a)
			if strings.HasPrefix(tt.name, "numbers count") {
				if n := len(got.Text); n > tools.MinPage || n < tools.MinPage-20 {
					t.Errorf("%d bytes", n)
				}
				return
			}
			lines, note := tt.lines, tt.note
			if lines != "" {
				lines = "lines " + lines
			}
			if tt.a["offset"] != nil || strings.HasPrefix(note, "continue") {
				note = tools.JoinNotes(lines, note)
			}
			if got.Text != tt.content || got.Outcome != lines || got.Note != note {
				t.Errorf("read = %.300v\nwant %.100q %v %v", got, tt.content, lines, note)
			}
		})
	}
}

// Reading page by page with the offsets in the notes returns the whole file.
func TestReadFileInPages(t *testing.T) {
	b := newBench(t)
	whole := numbered(5000)
	b.put("f", whole)
	var got strings.Builder
	offset := 1
	for range 20 {
		page := b.OK("read_file", args{"path": "f", "offset": offset})
		got.WriteString(page.Text)
		_, next, more := strings.Cut(page.Note, "continue with offset ")
		if !more {
			break
		}
		var err error
		offset, err = strconv.Atoi(next)
		must(t, err)
	}
	if got.String() != whole {
		t.Errorf("the pages have %d bytes, the file %d", got.Len(), len(whole))
	}
}

func TestReadFileRefuses(t *testing.T) {
	b := newBench(t)
	b.put("png", "\x89PNG\r\n\x1a\n\x00\x00", "utf32", "\xff\xfe\x00\x00a\x00\x00\x00", "two", "a\nb\n",
		"late", strings.Repeat("a\n", 10)+"\x00\n", "empty", "")
	b.Fails("read_file", args{"path": "png"}, "is not text: 10 bytes of image/png")
	b.Fails("read_file", args{"path": "utf32"}, "is not text: 8 bytes of")
	b.Fails("read_file", args{"path": "late", "offset": 11}, "is not text")
	b.Fails("read_file", args{"path": "two", "offset": 3}, "invalid arguments: offset: 3, but the file has 2 lines")
	b.Fails("read_file", args{"path": "two", "offset": 99}, "offset: 99, but the file has 2 lines")
	b.Fails("read_file", args{"path": "empty", "offset": 2}, "offset: 2, but the file has 0 lines")
	b.Fails("read_file", args{"path": "two", "offset": 0}, "offset: expected integer of at least 1, got 0")
}

// sparse creates a file of 5 GB that begins with text and continues with zeros.
func (b *bench) sparse(rel, text string) {
	b.T.Helper()
	b.put(rel, text)
	if err := os.Truncate(b.path(rel), 5<<30); err != nil {
		b.T.Skipf("no sparse files here: %v", err)
	}
}

func TestReadHugeFileReadsOnlyWhatIsAsked(t *testing.T) {
	b := newBench(t)
	b.sparse("huge", numbered(3000))
	began := time.Now()
	got := b.OK("read_file", args{"path": "huge", "offset": 2000, "limit": 2})
	if got.Text != "line 2000\nline 2001\n" || got.Outcome != "lines 2000-2001" || got.Note != "lines 2000-2001; continue with offset 2002" {
		t.Errorf("read = %v", got)
	}
	b.Fails("read_file", args{"path": "huge", "offset": 4000}, "is not text: 5368709120 bytes of text/plain")
	b.sparse("zeros", "")
	b.Fails("read_file", args{"path": "zeros"}, "5368709120 bytes of application/octet-stream")
	b.Fails("edit_file", args{"path": "huge", "old_string": "a", "new_string": "b"}, "more than the 10485760 that can be edited")
	if got := b.OK("grep", args{"pattern": "line"}); got.Note != "no match in 2 files; left out: 2 over 10 MB" {
		t.Errorf("grep = %v", got)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
	if _, err := b.Plan("write_file", args{"path": "huge", "content": "x\n"}); err != "" {
		t.Errorf("plan: %s", err)
	}
}

func TestReadStopsWhenCancelled(t *testing.T) {
	b := newBench(t)
	b.put("f", strings.Repeat("x\n", 6<<20))
	call, err := b.Plan("read_file", args{"path": "f", "offset": 5 << 20})
	if err != "" {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range []string{"read_file", "list_dir", "glob", "grep"} {
		tool, _ := b.Tools.Lookup(name)
		if name != "read_file" {
			if call, err = b.Plan(name, map[string]args{"list_dir": {}, "glob": {"pattern": "*"}, "grep": {"pattern": "x"}}[name]); err != "" {
				t.Fatal(err)
			}
		}
		if res := tool.Run(ctx, call); !res.IsError || !strings.Contains(res.Content, "context canceled") {
			t.Errorf("%s = %.100s", name, res.Content)
		}
	}
}

// picture returns the beginning of a picture with a size.
func picture(t *testing.T, kind string) string {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, 30, 20))
	var b bytes.Buffer
	var err error
	switch kind {
	case "png":
		err = png.Encode(&b, img)
	case "jpeg":
		err = jpeg.Encode(&b, img, nil)
	case "gif":
		err = gif.Encode(&b, img, nil)
	case "webp VP8":
		b.WriteString("RIFF\x00\x00\x00\x00WEBPVP8 \x00\x00\x00\x00\x00\x00\x00\x9d\x01\x2a\x1e\x00\x14\x00")
	case "webp VP8L":
		b.WriteString("RIFF\x00\x00\x00\x00WEBPVP8L\x00\x00\x00\x00\x2f\x1d\xc0\x04\x00\x00\x00\x00\x00\x00")
	case "webp VP8X":
		b.WriteString("RIFF\x00\x00\x00\x00WEBPVP8X\x00\x00\x00\x00\x00\x00\x00\x00\x1d\x00\x00\x13\x00\x00")
	}
	must(t, err)
	return b.String()
}

func TestReadPicture(t *testing.T) {
	for _, kind := range []string{"png", "jpeg", "gif", "webp VP8", "webp VP8L", "webp VP8X"} {
		b := newBench(t)
		data := picture(t, kind)
		b.put("p", data)
		call, planErr := b.Plan("read_file", args{"path": "p"})
		if planErr != "" {
			t.Fatal(planErr)
		}
		res := b.Run(call)
		typ, _, _ := strings.Cut(kind, " ")
		if res.IsError || len(res.Images) != 1 || res.Images[0].MediaType != "image/"+typ || string(res.Images[0].Data) != data {
			t.Errorf("%s: %+v", kind, res)
		}
		if want := fmt.Sprintf("image/%s, 30 × 20, ", typ); !strings.Contains(res.Content, want) {
			t.Errorf("%s: %s, want %s", kind, res.Content, want)
		}
		b.put("big", data+strings.Repeat("x", model.MaxImage))
		if call, planErr = b.Plan("read_file", args{"path": "big"}); planErr != "" {
			t.Fatal(planErr)
		}
		res = b.Run(call)
		header := typ == "webp" // the whole data is the header, so it can't be shortened
		if res.IsError || (len(res.Images) == 0) != header || strings.Contains(res.Content, "can't be shown") != header || !header && len(res.Images[0].Data) > model.MaxImage {
			t.Errorf("%s: %d pictures, %.300s", kind, len(res.Images), res.Content)
		}
	}
}

// Reading a slice of a 10 GB file takes no more memory than reading one of a small file.
func TestReadHugeFileInConstantMemory(t *testing.T) {
	b := newBench(t)
	b.put("huge", numbered(300_000))
	if err := os.Truncate(b.path("huge"), 10<<30); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	call, planErr := b.Plan("read_file", args{"path": "huge", "offset": 290_000, "limit": 10})
	if planErr != "" {
		t.Fatal(planErr)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res := b.Run(call)
	runtime.ReadMemStats(&after)
	if res.IsError || !strings.Contains(res.Content, "line 290009") {
		t.Errorf("read = %.300s", res.Content)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
		t.Errorf("it took %d bytes", got)
	}
}
