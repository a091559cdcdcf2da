package history

import (
	"slices"
	"strings"
	"testing"

	"buddy/agent/model"
)

// TestWithhold: only unanswered results are withheld, once, and requests that were sent keep theirs.
func TestWithhold(t *testing.T) {
	h := New("")
	h.User("go")
	called(h, tool{"a", "read_file", "{}", "old text"})
	called(h, tool{"b", "read_file", "{}", "new text"}, tool{"c", "read_file", "{}", strings.Repeat("more ", 100)})
	h.Append(model.Reminder, "The pictures", model.Image{MediaType: "image/png", Data: []byte("p")})
	h.Append(model.Steering, "look", model.Image{MediaType: "image/png", Data: []byte("of the person")})
	before := h.Messages()
	ids := Unread(h)
	if !slices.Equal(ids, []string{"b", "c"}) {
		t.Fatalf("unread: %q", ids)
	}
	Withhold(h, ids)
	var got []string
	chars := 0
	for _, m := range h.Messages() {
		got = append(got, m.Content)
		chars += size(m)
	}
	if want := []string{"go", "", "old text", "", Withheld, Withheld, Withheld, "look"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if msgs := h.Messages(); msgs[6].Images != nil || msgs[7].Images == nil || chars != h.gauge.chars {
		t.Errorf("pictures %v, %v; %d characters, counted %d", msgs[6].Images, msgs[7].Images, chars, h.gauge.chars)
	}
	if before[4].Content != "new text" || before[6].Images == nil || len(Unread(h)) > 0 {
		t.Errorf("%+v, unread %q", before, Unread(h))
	}
	Withhold(h, []string{"unknown"})
}
