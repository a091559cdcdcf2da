package transcript

import "testing"

func TestFindIn(t *testing.T) {
	c := conversationOf(t, shop(), 58, 12)
	for _, tt := range []struct {
		text   string
		blocks []int
		found  bool
		focus  int
		status string
	}{
		{"tax", []int{0}, true, 0, "1 of 6"},
		{"tax", []int{3}, true, 3, "3 of 6"}, // the head of the call
		{"func Tax", []int{3}, true, 3, "1 of 1"},
		{"maybe", []int{1, 2}, true, 1, "1 of 1"},
		{"let me", []int{1, 2}, true, 2, "1 of 1"},
		{"tax", []int{2}, false, 2, ""}, // the match is elsewhere: no reason to go there
		{"", []int{4}, false, 4, ""},
		{"tax", nil, false, 4, ""},
		{"tax", []int{1000}, false, 4, ""},
	} {
		if found := c.FindIn(tt.text, tt.blocks); found != tt.found || c.view.focus != tt.focus || status(c) != tt.status {
			t.Errorf("FindIn(%q, %v) = %v, at %d, status %q; want %v, %d, %q", tt.text, tt.blocks, found, c.view.focus, status(c), tt.found, tt.focus, tt.status)
		}
		if tt.found && c.view.blocks[c.view.focus].foldable() && tt.text != "tax" && c.view.blocks[c.view.focus].fold != unfolded {
			t.Errorf("%q is in what is folded", tt.text)
		}
	}
}
