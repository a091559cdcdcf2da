// Package ansitest generates random output of programs with escape sequences, for tests.
//
//	sent := ansitest.Progress(rand.New(rand.NewPCG(1, 2)), 100)
package ansitest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
)

// words has no wide characters, because terminals differ in how they show half of one.
var words = []string{"ok", "50%", "[####    ]", "→ ", "é", "downloading ", "\t", " ", "error: no", "⠋", "e\u0301"}

// Progress returns random output of progress bars that takes at most the given number of rows.
func Progress(r *rand.Rand, rows int) []byte {
	var out bytes.Buffer
	bars := 1 + r.IntN(6)
	for lines := 0; lines < rows-2*bars-2; {
		text, more := step(r, bars)
		out.WriteString(text)
		lines += more
	}
	return out.Bytes()
}

// step returns the next output of a program with some bars, and the maximum rows that it takes.
func step(r *rand.Rand, bars int) (text string, rows int) {
	word := words[r.IntN(len(words))]
	steps := []struct {
		text string
		rows int
	}{
		{word + words[r.IntN(len(words))] + "\n", 1},
		{word + "\n", 1},
		{fmt.Sprintf("\x1b[%dm%s\x1b[0m\x1b[K\r\n", 30+r.IntN(8), word), 1},
		{"\r" + word, 0},
		{"\r\x1b[K" + word, 0},
		{fmt.Sprintf("\x1b[%dA", r.IntN(bars)), 0},
		{fmt.Sprintf("\x1b[%dB", r.IntN(2)), 1},
		{fmt.Sprintf("\x1b[%dK", r.IntN(3)), 0},
		{fmt.Sprintf("\x1b[%d%c", r.IntN(9), "CDGX"[r.IntN(4)]), 0},
		{strings.Repeat("\b", r.IntN(4)), 0},
		{fmt.Sprintf("\x1b[%d%c", r.IntN(3), "EFP@"[r.IntN(4)]), 2},
		{"x\x1b[J", 0}, // at the first position tmux moves the erased text to its scrollback
		{[]string{"\x1b7", "\x1b8", "\x1b[1J", "\x1b[?25l", "\x1b]0;t\a"}[r.IntN(5)], 0},
		{drawn(r, bars), 1},
		{word, 0},
		{word, 0},
	}
	next := steps[r.IntN(len(steps))]
	return next.text, next.rows
}

// drawn returns some bars that are drawn again, one below the other.
func drawn(r *rand.Rand, bars int) string {
	var out strings.Builder
	for i := range bars {
		fmt.Fprintf(&out, "\x1b[2K\rbar %d: %d%%\n", i, r.IntN(101))
	}
	fmt.Fprintf(&out, "\x1b[%dA", bars)
	return out.String()
}
