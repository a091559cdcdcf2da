package markup

import (
	"strings"
	"testing"
)

// A long line continues below its text, not below its label.
func TestHang(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a label  one two three four", "a label  one two|         three four"},
		{"  #2  one two three four", "  #2  one two three|      four"},
		{"  one two three four five", "  one two three four|  five"},
		{"one two three four five", "one two three four|five"},
		{"a  x\none two three four five\nb  one two three four five", "a  x|one two three four|five|b  one two three four|   five"},
		{strings.Repeat("x", 30) + "  y", strings.Repeat("x", 21) + "|xxxxxxxxx  y"},
		{"é  one two three four five", "é  one two three four|   five"},
	} {
		var w Writer
		w.Text.Wrap = Words
		w.Write([]byte(c.text))
		w.Close()
		w.Text.Hang()
		var l Layout
		l.Wrap(&w.Text, 21, 0)
		var rows []string
		for i, r := range l.Rows {
			rest, _, _ := l.Rest(&w.Text, i)
			rows = append(rows, rest+string(w.Text.Bytes[r.From:r.To]))
		}
		if got := strings.Join(rows, "|"); got != c.want {
			t.Errorf("%q shows as\n%s, want\n%s", c.text, got, c.want)
		}
	}
}
