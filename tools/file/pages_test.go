package file

import (
	"strconv"
	"strings"
	"testing"

	"buddy/tools"
)

func TestPagesFitTheModel(t *testing.T) {
	for window, want := range map[int]int{0: 8_000, 8_192: 8_000, 32_000: 8_000, 64_000: 16_000, 128_000: 32_000, 200_000: 40_000, 1_000_000: 40_000} {
		if got := tools.PageOf(window, 0); got != want {
			t.Errorf("a window of %d tokens gets %d bytes, want %d", window, got, want)
		}
	}
	if tools.PageOf(1_000_000, 100_000) != 100_000 || tools.PageOf(0, 100_000) != tools.MinPage || tools.PageOf(1_000_000, 500) != 500 {
		t.Error("what is set is not the most")
	}
	b := newBench(t)
	b.put("a.txt", strings.Repeat("1234567\n", 5_000))
	call, _ := b.Plan("read_file", args{"path": "a.txt"})
	call.Page = 40_000
	if got, err := b.Finish(call); err != "" || len(got.Text) != 40_000 || got.Note != "" {
		t.Errorf("%d bytes, note %v, %s", len(got.Text), got.Note, err)
	}
}

// A page ends with a complete line whatever the content, and the next page starts there.
func TestPagesAreWhole(t *testing.T) {
	b := newBench(t)
	for name, text := range map[string]string{
		"quotes": strings.Repeat(strings.Repeat(`"`, 99)+"\n", 500), "controls": strings.Repeat("\x1b[0m\n", 9_000), "brackets": strings.Repeat("[exit code 0]\n", 5_000),
	} {
		b.put(name, text)
		read := ""
		for offset := 1; ; {
			call, _ := b.Plan("read_file", args{"path": name, "offset": offset})
			call.Page = tools.MaxPage
			got, err := b.Finish(call)
			if err != "" || len(got.Text) > tools.MaxPage || len(got.Text) < tools.MaxPage-100 && offset == 1 {
				t.Fatalf("%s: a result of %d bytes: %s", name, len(got.Text), err)
			}
			read += got.Text
			_, next, more := strings.Cut(got.Note, "continue with offset ")
			if !more {
				break
			}
			next, _, _ = strings.Cut(next, ";")
			after, atoiErr := strconv.Atoi(next)
			must(t, atoiErr)
			offset = after
		}
		if read != text {
			t.Errorf("%s: read %d bytes, want %d", name, len(read), len(text))
		}
	}
}

// Pages may be larger than the buffer for looking ahead.
func TestLargePages(t *testing.T) {
	b := newBench(t)
	b.put("a", strings.Repeat("x", 150_000)+"\nend\n")
	call, _ := b.Plan("read_file", args{"path": "a"})
	call.Page = 200_000
	if got, err := b.Finish(call); err != "" || len(got.Text) != 150_005 {
		t.Errorf("%.100v, %s", got, err)
	}
}
