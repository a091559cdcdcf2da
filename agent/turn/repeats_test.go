package turn

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// repeatedAt feeds a text in pieces and returns the position where a repetition is detected, 0 for never.
func repeatedAt(text string, piece, times int) (found, end int) {
	var r repeats
	for n := 0; n < len(text); {
		n = min(n+piece, len(text))
		if end, yes := r.over([]byte(text[:n]), times); yes {
			return r.done + 1, end
		}
	}
	return 0, 0
}

func TestRepeatsAreFound(t *testing.T) {
	words := func(seed uint64, n int) string {
		r := rand.New(rand.NewPCG(seed, 1))
		var b strings.Builder
		for b.Len() < n {
			fmt.Fprintf(&b, "%s%d ", []string{"crane", "deck", "tide", "lamp"}[r.IntN(4)], r.IntN(1000))
		}
		return b.String()[:n]
	}
	line := "If you want to see the context of the lines, you can use the -n and -C options together:\n\n"
	within := strings.Repeat("a", 60) + strings.Repeat("b", 70) + "c\n" // has repeats of its own
	for _, tt := range []struct {
		name, before, unit string
		times              int // in the text
		found              bool
	}{
		{"ten times", "Here is how.\n\n", line, 10, true},
		{"nine times", "Here is how.\n\n", line, 9, false},
		{"after a long text", words(1, 20_000), line, 10, true},
		{"without a text before", "", line, 10, true},
		{"a long paragraph", words(2, 300), words(3, 3_000), 10, true},
		{"a long paragraph, nine times", words(2, 300), words(3, 3_000), 9, false},
		{"repeats inside", words(4, 900), within, 10, true},
		{"repeats inside, nine times", words(4, 900), within, 9, false},
		{"a short line, many times", words(5, 600), "and so on. ", 50, true},
		{"a short line, fewer times", words(5, 600), "and so on. ", 45, false},
		{"one letter", words(6, 600), "-", 500, true},
		{"one letter, fewer", words(6, 600), "-", 490, false},
		{"letters of several bytes", words(7, 600), "これは同じ文です。", 60, true},
		{"letters of several bytes, fewer", words(7, 600), "これは同じ文です。", 50, false},
		{"never the same", "", words(8, 100_000), 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := tt.before + strings.Repeat(tt.unit, tt.times)
			for _, piece := range []int{1, 5, len(text)} {
				at, end := repeatedAt(text+"\n"+words(9, 200), piece, 10)
				if (at > 0) != tt.found {
					t.Fatalf("in pieces of %d: found at %d of %d", piece, at, len(text))
				}
				if tt.found && (end < len(tt.before) || end > len(tt.before)+max(len(tt.unit), 3*leastRepeated)+len(tt.unit)) {
					t.Errorf("the first one ends at %d, it begins at %d and has %d bytes", end, len(tt.before), len(tt.unit))
				}
			}
		})
	}
	if at, _ := repeatedAt(strings.Repeat(line, 100), 7, 0); at > 0 {
		t.Error("without a limit it is found")
	}
}

// Lines that differ in a number, and indented code, are no repetition.
func TestLinesThatDiffer(t *testing.T) {
	var table, code strings.Builder
	for i := range 2_000 {
		fmt.Fprintf(&table, "| row number %d | the same text in the second column of each row | yes |\n", i)
		fmt.Fprintf(&code, "                                                  case %d:\n", i)
	}
	for _, text := range []string{table.String(), code.String()} {
		if at, _ := repeatedAt(text, 11, 10); at > 0 {
			t.Errorf("found at %d: %q", at, text[max(0, at-200):at])
		}
	}
}

// BenchmarkRepeats shows that the time is linear in the length of the text.
func BenchmarkRepeats(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		text := make([]byte, n)
		r := rand.New(rand.NewPCG(1, 2))
		for i := range text {
			text[i] = "abcd \n"[r.IntN(6)]
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				var r repeats
				for at := 0; at < n; at += 20 {
					r.over(text[:min(n, at+20)], 10)
				}
			}
		})
	}
}
