package redact

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// pieces feeds text to a stream in pieces of at most n bytes.
func pieces(r *Redactor, text string, size func() int) string {
	s := r.Stream()
	var b strings.Builder
	for text != "" {
		n := min(size(), len(text))
		b.WriteString(s.Write(text[:n]))
		text = text[n:]
	}
	b.WriteString(s.Flush())
	return b.String()
}

// A secret split between pieces is never shown, wherever it is split.
func TestStreamSecrets(t *testing.T) {
	r := New("hunter2-hunter2")
	for _, tt := range secrets {
		text := "before\n" + tt.text + "\nafter it\n"
		for cut := range text {
			first := true
			got := pieces(r, text, func() int {
				if first && cut > 0 {
					first = false
					return cut
				}
				return len(text)
			})
			checkStream(t, tt.name, got, tt.secret)
		}
		for n := 1; n < 8; n++ {
			checkStream(t, tt.name, pieces(r, text, func() int { return n }), tt.secret)
		}
	}
}

func checkStream(t *testing.T, name, got, secret string) {
	t.Helper()
	for i := 0; i+6 <= min(len(secret), 64); i++ {
		if strings.Contains(got, secret[i:i+6]) {
			t.Fatalf("%s shows: %q", name, got)
		}
	}
	// The first letters of the line after an unfinished key may belong to the key.
	if !strings.HasPrefix(got, "before\n") || !strings.HasSuffix(got, " it\n") || strings.Count(got, Mark) != 1 {
		t.Fatalf("%s: %q", name, got)
	}
}

func TestStreamOrdinary(t *testing.T) {
	r := New("hunter2-hunter2")
	for _, text := range ordinary {
		text += "\n"
		for n := 1; n < len(text); n++ {
			if got := pieces(r, text, func() int { return n }); got != text {
				t.Errorf("%q in pieces of %d: %q", text, n, got)
			}
		}
	}
}

// A prompt without a line end is shown as soon as it is printed.
func TestStreamPrompts(t *testing.T) {
	r := New("hunter2-hunter2")
	for _, prompt := range []string{
		"Password: ", "Password for 'https://ann@github.com': ", "Proceed? [y/N]", "> ", ">>> ", "token ghp_", "sk-", "no",
		"http://localhost:", "https://example.com", "Enter a name", "TOKEN=", "Authorization: ", "machine ", "x\ng", "-----BEGIN", "50%",
	} {
		if got := r.Stream().Write(prompt); got != prompt {
			t.Errorf("Write(%q) = %q", prompt, got)
		}
		s := r.Stream()
		var got string
		for i := range len(prompt) {
			got += s.Write(prompt[i : i+1])
		}
		if got != prompt {
			t.Errorf("%q, byte by byte: %q", prompt, got)
		}
	}
}

// The held back text is bounded, and comes at the end.
func TestStreamBound(t *testing.T) {
	for _, text := range []string{"sk-" + strings.Repeat("a", 100_000), "http://a:" + strings.Repeat("b", 100_000), "eyJ" + strings.Repeat("c", 100_000), strings.Repeat("sk-", 30_000), strings.Repeat("eyJ-", 30_000)} {
		s := (*Redactor)(nil).Stream()
		got := 0
		for i := 0; i < len(text); i += 1000 {
			got += len(s.Write(text[i:min(len(text), i+1000)]))
			if held := min(len(text), i+1000) - got; held > maxValue+1000 {
				t.Fatalf("%.10s: %d bytes are held after %d", text, held, i)
			}
		}
		if got += len(s.Flush()); got != len(text) {
			t.Errorf("%.10s: %d of %d bytes came out", text, got, len(text))
		}
		if len(s.text) > 16<<10 {
			t.Errorf("%.10s: %d bytes are kept", text, len(s.text))
		}
	}
}

// FuzzStream checks that pieces yield the result of the whole text and never show a key.
func FuzzStream(f *testing.F) {
	for _, o := range ordinary {
		f.Add(o, uint64(1))
	}
	for i, n := range notations {
		text, _ := split(n)
		f.Add(text, uint64(i))
	}
	f.Add("a known value at https://u:", uint64(2))
	r := New("hunter2-hunter2")
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		size := func() int { return 1 + rnd.IntN(9) }
		if got, want := pieces(r, text, size), r.Text(text); got != want && !strings.Contains(text, pemEnd) {
			t.Errorf("%q in pieces: %q, as a whole: %q", text, got, want)
		}
		secret := "ghp_" + body(36)
		if got := pieces(r, text+" "+secret+"\n", size); strings.Contains(got, body(36)[:20]) {
			t.Errorf("the key shows: %q", got)
		}
	})
}
