package file

import (
	"encoding/json"
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
	if got, err := b.Finish(call); err != "" || len(got["content"].(string)) != 40_000 || got["note"] != nil {
		t.Errorf("%d bytes, note %v, %s", len(got["content"].(string)), got["note"], err)
	}
}

// A page is given whole: what is encoded with many escapes is a shorter page, from which one
// reads on, and never a result that is too long to be sent.
func TestPagesFitTheResult(t *testing.T) {
	b := newBench(t)
	for name, text := range map[string]string{
		"quotes": strings.Repeat(strings.Repeat(`"`, 99)+"\n", 500), "one line": strings.Repeat("\\", 50_000), "controls": strings.Repeat("\x1b[0m\n", 9_000),
		"not UTF-8": strings.Repeat("\xe9\xe8\xe7\n", 10_000),
	} {
		b.put(name, text)
		read := ""
		for offset := 1; ; {
			call, _ := b.Plan("read_file", args{"path": name, "offset": offset})
			call.Page = tools.MaxPage
			res := b.Run(call)
			if res.IsError || len(res.Content) > 50_000 || len(res.Content) < 30_000 && offset == 1 {
				t.Fatalf("%s: a result of %d bytes: %.200s", name, len(res.Content), res.Content)
			}
			var got struct{ Result readPayload }
			must(t, json.Unmarshal([]byte(res.Content), &got))
			read += strings.TrimSuffix(got.Result.Content, tools.Truncated)
			_, next, more := strings.Cut(got.Result.Note, "read on with offset=")
			if !more {
				break
			}
			next, _, _ = strings.Cut(next, ";")
			after, err := strconv.Atoi(next)
			must(t, err)
			offset = after
		}
		if want := text; name != "one line" && name != "not UTF-8" && read != want {
			t.Errorf("%s: read %d bytes, want %d", name, len(read), len(want))
		}
	}
}

// A person may want pages that are larger than what is looked ahead in a file.
func TestLargePages(t *testing.T) {
	b := newBench(t)
	b.put("a", strings.Repeat("x", 150_000)+"\nend\n")
	call, _ := b.Plan("read_file", args{"path": "a"})
	call.Page = 200_000
	if got, err := b.Finish(call); err != "" || len(got["content"].(string)) != 150_005 {
		t.Errorf("%.100v, %s", got, err)
	}
}
