package markup

import "testing"

func BenchmarkTintsFirst(b *testing.B) {
	for b.Loop() {
		tints("go", "package p\n")
	}
}
func TestX(t *testing.T) {
	for _, l := range []string{"go", "python", "html", "ts", "bash", "console", "md", "dockerfile", "c++", "tsx", "yml", "make", "h", "cs"} {
		t.Log(l, lexerOf(l), len(tints(l, "x = 1 # foo\n")))
	}
}
