package ansi

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"buddy/texts/ansi/ansitest"
)

// rendered returns the text and the Screen of output that arrives in pieces.
func rendered(p []byte, piece int) (string, *Screen) {
	var text bytes.Buffer
	s := NewScreen(func(p []byte) { text.Write(p) })
	for len(p) > 0 {
		n := min(piece, len(p))
		_, _ = s.Write(p[:n])
		p = p[n:]
	}
	s.Close()
	return strings.ToValidUTF8(text.String(), "\uFFFD"), s
}

func TestScreen(t *testing.T) {
	t.Parallel()
	var frames strings.Builder // three bars, drawn over each other 600 times, with an error between
	frames.WriteString("pulling\n")
	for i := range 600 {
		if i == 300 {
			frames.WriteString("\x1b[0Jerror: layer b is damaged\n")
		} else if i > 0 {
			frames.WriteString("\x1b[3A")
		}
		for _, layer := range "abc" {
			fmt.Fprintf(&frames, "\x1b[2K\r\x1b[32m%c: %d/600\x1b[0m\n", layer, i+1)
		}
	}
	tests := []struct {
		name, sent, want string
		full, moved      bool
	}{
		{"plain", "one\r\ntwo\r\n", "one\ntwo\n", false, false},
		{"spaces at the end of lines", "one  \ntwo \t", "one  \ntwo \t", false, false},
		{"colours", "\x1b[1;31mred\x1b[m\x1b[K \x1b[38:2::1:2:3mx\x1b(B\r\n", "red x\n", false, false},
		{"a progress bar", " 10%\r 50%\r100%\r\n", "100%\n", false, true},
		{"a line that is cleared first", "\r\x1b[K 10%\r\x1b[K100%\n", "100%\n", false, true},
		{"bars over each other", frames.String(), "pulling\na: 300/600\nb: 300/600\nc: 300/600\nerror: layer b is damaged\na: 600/600\nb: 600/600\nc: 600/600\n", false, true},
		{"a shorter line over a longer", "installing\rdone\x1b[K\r\n", "done\n", false, true},
		{"the end of a longer line stays", "downloading\rdone\n", "doneloading\n", false, true},
		{"a spinner", "⠋ building\b\b\b\b\b\b\b\b\b\b⠙\x1b[10D⠹\x1b[1G⠸\n", "⠸ building\n", false, true},
		{"erased rows", "a\nb\nc\x1b[2F\x1b[Jdone", "done", false, true},
		{"the cursor kept", "\x1b7 1%\x1b8 2%\x1b[s\x1b[u\n", " 2%\n", false, true},
		{"absolute places", "\x1b[Hone\x1b[2;3Htwo\x1b[1dX", "one  X\n  two", false, true},
		{"a cleared screen stays above", "old\n\x1b[H\x1b[2Jnew", "old\nnew", false, true},
		{"inserted and removed", "abcd\x1b[4D\x1b[2P\x1b[1@x\x1b[1X\n", "x d\n", false, true},
		{"erased keys", "passx\b \bword\r\n", "password\n", false, true},
		{"an erased wide character", "a漢\b \b\r\nb", "a\nb", false, true},
		{"half of a wide character", "漢字\r\x1b[Cx\n", " x字\n", false, true},
		{"a mark for a character", "e\u0301a\re\u0302\n", "e\u0302a\n", false, true},
		{"columns", "a\tb\rx\n", "x\tb\n", false, true},
		{"a column over text", "abcdefghij\r\tX\n", "abcdefghXj\n", false, true},
		{"titles and links", "\x1b]0;title\aa\x1b]8;;http://x\x1b\\b\r\n", "ab\n", false, false},
		{"a full screen", "before\r\n\x1b[?1049h\x1b[2J\x1b[Hmenu\r\nline\x1b[?1049lafter\r\n", "before\nafter\n", true, false},
		{"bell and controls", "a\a\x00\x0fb\x7f\tc", "ab\tc", false, false},
		{"a new page", "a\fb\n", "a\n b\n", false, true},
		{"cut sequences", "a\x1b[", "a", false, false},
		{"an open title ends with its line", "\x1b]0;no end\nb", "\nb", false, false},
		{"no UTF-8", "a\xffb\xc3", "a\uFFFDb\uFFFD", false, false},
		{"a long line", strings.Repeat("é", 5000) + "\n", strings.Repeat("é", 5000) + "\n", false, false},
		{"many lines", strings.Repeat("line\n", 1000), strings.Repeat("line\n", 1000), false, false},
	}
	for _, tt := range tests {
		for _, piece := range []int{1, 7, 1 << 20} {
			got, s := rendered([]byte(tt.sent), piece)
			if got != tt.want || s.Full != tt.full || s.Moved != tt.moved {
				t.Errorf("%s in pieces of %d: %q, full %v, moved %v, want %q, %v, %v", tt.name, piece, got, s.Full, s.Moved, tt.want, tt.full, tt.moved)
			}
		}
	}
}

// The text on the screen can be read at any time, and reading it changes nothing.
func TestScreenRest(t *testing.T) {
	var gone bytes.Buffer
	s := NewScreen(func(p []byte) { gone.Write(p) })
	for i := range 500 {
		_, _ = fmt.Fprintf(s, "%d\n 50%%", i)
		if got := gone.String() + string(s.Rest()); !strings.HasSuffix(got, fmt.Sprintf("%d\n 50%%", i)) || strings.Count(got, "%") != 1 {
			t.Fatalf("after %d lines: …%q", i, got[max(0, len(got)-40):])
		}
		_, _ = fmt.Fprint(s, "\r\x1b[K")
	}
	s.Close()
	if lines := strings.Split(gone.String(), "\n"); len(lines) != 501 || lines[499] != "499" || len(s.Rest()) > 0 {
		t.Errorf("%d lines, the last %q, rest %q", len(lines), lines[len(lines)-2:], s.Rest())
	}
}

// The memory of a screen does not grow with the output.
func TestScreenIsBounded(t *testing.T) {
	for name, piece := range map[string]string{
		"one line": "x", "marks": "\u0301", "columns": "\t", "moves": "\x1b[999B\x1b[999Cx\x1b[H", "insertions": "\x1b[H\x1b[999@", "a title": "\x1b]0;x", "cells": "x\b\bxx",
	} {
		s := NewScreen(func([]byte) {})
		for range 300_000 {
			_, _ = s.Write([]byte(piece))
		}
		kept := 0
		for i := range s.rows {
			kept += cap(s.rows[i].text) + 16*cap(s.rows[i].cells)
			for _, c := range s.rows[i].cells {
				kept += len(c)
			}
		}
		if kept > 32<<20 {
			t.Errorf("%s: %d bytes are kept", name, kept)
		}
	}
}

// The text does not depend on how the output is split, and contains no sequence.
func TestScreenInPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		sent := ansitest.Progress(r, 20+r.IntN(300))
		want, _ := rendered(sent, len(sent))
		if strings.ContainsAny(want, "\x1b\r\a\b\x00") || !utf8.ValidString(want) {
			t.Fatalf("%q of %q", want, sent)
		}
		if got, _ := rendered(sent, 1+r.IntN(9)); got != want {
			t.Fatalf("in pieces %q, at once %q, of %q", got, want, sent)
		}
	}
}

func FuzzScreen(f *testing.F) {
	f.Add([]byte("a\x1b[31mb\x1b]0;t\x07\r\n\b\x1b[?1049hx"))
	f.Add([]byte("\x1b[200B\x1b[9999Cx\t\x1b[K\x1b[1J\x1b[5@\x1b[9P\x1bM\x1bc"))
	f.Add(bytes.Repeat([]byte("é\x80"), 1500))
	f.Fuzz(func(t *testing.T, p []byte) {
		got, _ := rendered(p, len(p)+1)
		if strings.ContainsAny(got, "\x1b\r\a\b\x00") {
			t.Errorf("%q of %q", got, p)
		}
	})
}

func BenchmarkScreen(b *testing.B) {
	plain := bytes.Repeat([]byte("2026-01-02T03:04:05 INFO a line of a log, as there are many\n"), 1<<14)
	var bars bytes.Buffer
	for i := range 20_000 {
		fmt.Fprintf(&bars, "\r%3d%% [%-40s] %d/20000", i/200, strings.Repeat("#", i/500), i)
	}
	for name, sent := range map[string][]byte{"plain": plain, "bars": bars.Bytes()} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(sent)))
			for b.Loop() {
				rendered(sent, 32<<10)
			}
		})
	}
}
