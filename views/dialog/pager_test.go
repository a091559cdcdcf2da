package dialog

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"buddy/app/keymap"
	"buddy/views/pattern"
	"buddy/views/viewtest"
)

// bigText is a generated text of numbered lines; the line needle contains a match.
type bigText struct{ lines, needle int64 }

const bigLine = 64

func (b bigText) size() int64 { return b.lines * bigLine }

func (b bigText) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		i := off / bigLine
		if i >= b.lines {
			return n, io.EOF
		}
		text := ""
		if i == b.needle {
			text = "Needle"
		}
		line := fmt.Sprintf("line %-12d%-46s\n", i, text)
		c := copy(p[n:], line[off%bigLine:])
		n, off = n+c, off+int64(c)
	}
	return n, nil
}

func newTestPager(t testing.TB, text io.ReaderAt, size int64) *Pager {
	p := NewPager(viewtest.Dark(t), keymap.Default())
	p.Show(Document{Title: "make", Text: text, Size: size})
	return p
}

// A pager of 100 MB uses little memory.
func TestPagerIsBounded(t *testing.T) {
	big := bigText{lines: 100 << 20 / bigLine, needle: 1_500_000}
	p := newTestPager(t, big, big.size())
	p.Later = func(func()) {} // not yet
	show := func() string { return viewtest.Text(t, p, 80, 12) }
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	if got := show(); !strings.Contains(got, "line 0 ") || !strings.Contains(got, "0% of 104.9 MB") {
		t.Errorf("at first:\n%s", got)
	}
	viewtest.Press(t, p, "scroll-bottom")
	if got := show(); !strings.Contains(got, fmt.Sprint("line ", big.lines-1)) || !strings.Contains(got, "100% of") {
		t.Errorf("at the end:\n%s", got)
	}
	viewtest.Press(t, p, "page-up", "scroll-down", "scroll-top", "page-down")
	if got := show(); !strings.Contains(got, "line 9 ") || strings.Contains(got, "line 8 ") {
		t.Errorf("a page on:\n%s", got)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
		t.Errorf("looking at 100 MB took %d MB", used>>20)
	}
	turns := 0
	var next func()
	p.Later = func(f func()) { turns++; next = f }
	viewtest.Press(t, p, "find", "'needle", "find-accept")
	if got := show(); !strings.Contains(got, "searching") {
		t.Errorf("while it searches:\n%s", got)
	}
	for next != nil {
		f := next
		next = nil
		f()
	}
	if got := show(); !strings.Contains(got, "line 1500000") || strings.Contains(got, "line 1499999") || turns < 50 {
		t.Errorf("after %d turns:\n%s", turns, got)
	}
	p.Later = nil
	viewtest.Press(t, p, "find-next")
	if got := show(); !strings.Contains(got, "not found: needle") {
		t.Errorf("there is no other:\n%s", got)
	}
	viewtest.Press(t, p, "scroll-bottom", "find-previous")
	if got := show(); !strings.Contains(got, "line 1500000") {
		t.Errorf("found from below:\n%s", got)
	}
}

func TestPagerGolden(t *testing.T) {
	text := viewtest.Hostile + "\n\n" + strings.Repeat("long 日本 ", 30) + "\r\n10%\r20%\rdone\n" + "\x1b[31mred\x1b[m needle\x1b[2J\n\xff\xfe\n" + strings.Repeat("x", 3*maxPagerLine) + "\nlast"
	p := newTestPager(t, strings.NewReader(text), int64(len(text)))
	for _, size := range [][2]int{{80, 14}, {40, 8}, {12, 4}, {2, 2}} {
		viewtest.Golden(t, "pager", p, size[0], size[1])
	}
	viewtest.Text(t, p, 60, 10)
	p.Focus(nil)
	viewtest.Press(t, p, "find", "'NEEDLE", "find-erase")
	viewtest.Golden(t, "pager-find", p, 60, 10)
	viewtest.Press(t, p, "find-close", "find", "'needle", "find-accept")
	viewtest.Golden(t, "pager-found", p, 60, 10)
	var copied string
	p.OnCopy = func(s string) { copied = s }
	viewtest.Press(t, p, "select", "scroll-down")
	viewtest.Golden(t, "pager-selected", p, 60, 10)
	viewtest.Press(t, p, "copy-block")
	if copied != "red needle\n\ufffd\ufffd\n" && !strings.HasPrefix(copied, "red needle\n") {
		t.Errorf("copied %q", copied)
	}
	viewtest.Press(t, p, "scroll-bottom", "copy-block")
	if !strings.HasSuffix(copied, "x\nlast") {
		t.Errorf("copied %.50q", copied)
	}
	viewtest.Press(t, p, "back", "back")
	if p.Open() {
		t.Error("it is open after the search and the pager were left")
	}
}

// Every byte of any text can be reached, and no movement fails.
func FuzzPager(f *testing.F) {
	f.Add([]byte(viewtest.Hostile+"\n\r\n\n"+strings.Repeat("日", 50)), uint8(20), []byte("jkGgn"))
	f.Fuzz(func(t *testing.T, text []byte, w uint8, keys []byte) {
		p := newTestPager(t, bytes.NewReader(text), int64(len(text)))
		p.doc.w, p.h = max(int(w), 1), 5
		p.find.Pattern = pattern.New("a")
		for _, k := range keys[:min(len(keys), 50)] {
			switch k % 6 {
			case 0:
				p.Scroll(1)
			case 1:
				p.Scroll(-1)
			case 2:
				p.Page(1)
			case 3:
				p.Bottom()
			case 4:
				p.seek(1)
			case 5:
				p.seek(-1)
			}
			if p.top.off < 0 || p.top.off > p.doc.Size {
				t.Fatalf("at %d of %d", p.top.off, p.doc.Size)
			}
		}
		p.Top()
		seen := int64(0)
		for at := p.top; ; {
			l := p.doc.lineAt(at.off)
			seen = l.next
			next := p.doc.after(at)
			if next == at {
				break
			}
			if !at.before(next) {
				t.Fatalf("%v comes after %v", next, at)
			}
			at = next
		}
		if seen != p.doc.Size {
			t.Fatalf("the last line ends at %d of %d", seen, p.doc.Size)
		}
	})
}

func BenchmarkPagerPage(b *testing.B) {
	big := bigText{lines: 100 << 20 / bigLine, needle: -1}
	p := newTestPager(b, big, big.size())
	s := viewtest.Screen(b, p, 120, 30)
	b.ReportAllocs()
	for b.Loop() {
		p.Page(1)
		p.Draw(s)
	}
}
