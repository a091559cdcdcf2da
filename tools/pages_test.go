package tools

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

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
			call, _ := b.plan("read_file", args{"path": name, "offset": offset})
			call.Page = MaxPage
			res := b.run(call)
			if res.IsError || len(res.Content) > 50_000 || len(res.Content) < 30_000 && offset == 1 {
				t.Fatalf("%s: a result of %d bytes: %.200s", name, len(res.Content), res.Content)
			}
			var got struct{ Result readPayload }
			must(t, json.Unmarshal([]byte(res.Content), &got))
			read += strings.TrimSuffix(got.Result.Content, truncated)
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
	b, url := netBench(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, strings.Repeat(`"`, 60_000))
	})
	call, _ := b.plan("fetch_url", args{"url": url})
	call.Page = MaxPage
	if res := b.run(call); res.IsError || len(res.Content) > 50_000 || !strings.Contains(res.Content, "read on with offset=22500 of 60000") {
		t.Errorf("a page of %d bytes: %.100s … %s", len(res.Content), res.Content, res.Content[max(0, len(res.Content)-100):])
	}
}

// A person may want pages that are larger than what is looked ahead in a file.
func TestLargePages(t *testing.T) {
	b := newBench(t)
	b.put("a", strings.Repeat("x", 150_000)+"\nend\n")
	call, _ := b.plan("read_file", args{"path": "a"})
	call.Page = 200_000
	if got, err := b.finish(call); err != "" || len(got["content"].(string)) != 150_005 {
		t.Errorf("%.100v, %s", got, err)
	}
}
