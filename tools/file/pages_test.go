package file

import (
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
