package screen

import (
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"
)

// cell is one cell of the screen. A wide text also covers the cell to its right. Cells are small and hold no pointers,
// because thousands of them are set and compared for each frame.
type cell struct {
	text  uint32 // number in an ink
	style uint32 // number in the same ink
	width uint8  // 0 if the shown content is unknown
}

// manyInks is the number of styles and texts, in addition to one for each cell, from which an ink drops unused ones.
const manyInks = 4096

// ink gives numbers to texts and styles. The number of a text with a single rune is the rune's value.
type ink struct {
	styles   []tcell.Style
	encoded  []encodedStyle // of styles; encoded on first use
	numbers  map[tcell.Style]uint32
	last     uint32   // the last requested style: mostly the next one as well
	clusters []string // of several runes
	known    map[string]uint32
	runes    map[rune]cleanRune // shown ones, except ASCII
}

// cleanRune holds the text that is shown for a rune, and its width.
type cleanRune struct {
	text  string
	width int
}

func newInk() ink {
	return ink{
		styles: []tcell.Style{tcell.StyleDefault}, encoded: make([]encodedStyle, 1), numbers: map[tcell.Style]uint32{tcell.StyleDefault: 0},
		known: map[string]uint32{}, runes: map[rune]cleanRune{},
	}
}

// style returns the number of a style.
func (k *ink) style(st tcell.Style) uint32 {
	if k.styles[k.last] == st {
		return k.last
	}
	n, ok := k.numbers[st]
	if !ok {
		n = uint32(len(k.styles))
		k.styles, k.encoded = append(k.styles, st), append(k.encoded, encodedStyle{})
		k.numbers[st] = n
	}
	k.last = n
	return n
}

// text returns the number of a clean text.
func (k *ink) text(s string) uint32 {
	if r, n := utf8.DecodeRuneInString(s); n == len(s) {
		return uint32(r)
	}
	n, ok := k.known[s]
	if !ok {
		n = utf8.MaxRune + 1 + uint32(len(k.clusters))
		k.clusters = append(k.clusters, s)
		k.known[s] = n
	}
	return n
}

// rune is cleanCluster for a cluster of one rune.
func (k *ink) rune(r rune) (text string, width int) {
	c, ok := k.runes[r]
	if !ok {
		c.text, c.width = cleanCluster(string(r))
		k.runes[r] = c
	}
	return c.text, c.width
}

// size returns the number of kept styles and texts.
func (k *ink) size() int { return len(k.styles) + len(k.clusters) + len(k.runes) }

// string returns the text that has this number, see [ink].
func (k *ink) string(text uint32) string {
	switch {
	case text < utf8.RuneSelf:
		return ascii[text]
	case text <= utf8.MaxRune:
		if c, ok := k.runes[rune(text)]; ok && c.width > 0 {
			return c.text
		}
		return string(rune(text))
	}
	return k.clusters[text-utf8.MaxRune-1]
}

// is reports whether a text consists of these runes.
func (k *ink) is(text uint32, primary rune, combining []rune) bool {
	if text <= utf8.MaxRune {
		return len(combining) == 0 && text == uint32(primary)
	}
	return sameText(k.string(text), primary, combining)
}

// ascii maps ASCII characters to strings, to avoid an allocation for each of them.
var ascii = func() (t [utf8.RuneSelf]string) {
	for i := range t {
		t[i] = string(rune(i))
	}
	return t
}()

func sameText(s string, primary rune, combining []rune) bool {
	r, n := utf8.DecodeRuneInString(s)
	if r != primary || r == utf8.RuneError {
		return false
	}
	for _, c := range combining {
		s = s[n:]
		if r, n = utf8.DecodeRuneInString(s); r != c || r == utf8.RuneError {
			return false
		}
	}
	return len(s) == n
}
