package views

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"
)

// span is text of one style without control characters.
type span struct {
	text  string
	style tcell.Style
}

// sanitise makes control, bidi and invisible characters visible, so that the result is
// safe to draw and shows everything that s holds.
func sanitise(s string) string {
	var b strings.Builder
	for _, sp := range sanitiseSpans(s, tcell.StyleDefault, tcell.StyleDefault) {
		b.WriteString(sp.text)
	}
	return b.String()
}

// sanitiseSpans is sanitise with a style of their own for the characters that it made
// visible.
func sanitiseSpans(s string, base, control tcell.Style) []span {
	var spans []span
	state := -1
	for s != "" {
		var cluster string
		cluster, s, _, state = uniseg.FirstGraphemeClusterInString(s, state)
		text, hostile := visible(cluster)
		style := base
		if hostile {
			style = control
		}
		if n := len(spans); n > 0 && spans[n-1].style == style {
			spans[n-1].text += text
			continue
		}
		spans = append(spans, span{text, style})
	}
	return spans
}

const maxCombining = 8

// visible returns how a grapheme cluster is shown, and whether it had to be changed.
func visible(cluster string) (text string, hostile bool) {
	if len(cluster) == 1 && cluster[0] >= ' ' && cluster[0] < 0x7f {
		return cluster, false
	}
	if cluster == "\t" {
		return "    ", false
	}
	var b strings.Builder
	combining := 0
	first, _ := utf8.DecodeRuneInString(cluster)
	for i, r := range cluster {
		mark := unicode.In(r, unicode.Mn, unicode.Me)
		switch joins := r == zwj && first >= 0x80 && i > 0; {
		case hidden(r) && !joins, mark && i == 0:
			hostile = true
			b.WriteString(name(r))
		case mark:
			if combining++; combining <= maxCombining {
				b.WriteRune(r)
			}
		default:
			hostile = hostile || r == utf8.RuneError
			b.WriteRune(r)
		}
	}
	return b.String(), hostile
}

const zwj = 0x200d

// hidden says that a character has no shape of its own, moves the ones around it, or
// controls the terminal.
func hidden(r rune) bool {
	switch r {
	case 0x115f, 0x1160, 0x3164, 0xffa0: // Hangul fillers look like nothing
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// name shows a hidden character: C0 as a control picture, others by number.
func name(r rune) string {
	switch {
	case r < ' ':
		return string(0x2400 + r)
	case r == 0x7f:
		return "␡"
	}
	return fmt.Sprintf("‹U+%04X›", r)
}

// parseSGR splits a row as tmux captures it into styled spans. Sequences other than
// SGR are dropped, other control characters made visible.
func parseSGR(row string) []span {
	var spans []span
	style := tcell.StyleDefault
	for row != "" {
		i := strings.IndexByte(row, 0x1b)
		if i != 0 {
			if i < 0 {
				i = len(row)
			}
			spans = append(spans, span{sanitise(row[:i]), style})
			row = row[i:]
			continue
		}
		var params string
		var sgr bool
		params, row, sgr = cutSequence(row[1:])
		if sgr {
			style = applySGR(style, params)
		}
	}
	return spans
}

// cutSequence removes the escape sequence whose ESC was before s.
func cutSequence(s string) (params, rest string, sgr bool) {
	if s == "" {
		return "", "", false
	}
	switch s[0] {
	case '[':
		for i := 1; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return s[1:i], s[i+1:], s[i] == 'm'
			}
		}
		return "", "", false
	case ']', 'P', '_', '^', 'X':
		for i := 1; i < len(s); i++ {
			if s[i] == 0x07 {
				return "", s[i+1:], false
			}
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				return "", s[i+2:], false
			}
		}
		return "", "", false
	}
	_, size := utf8.DecodeRuneInString(s)
	return "", s[size:], false
}

func applySGR(st tcell.Style, params string) tcell.Style {
	if params == "" {
		return tcell.StyleDefault
	}
	var codes []int
	for field := range strings.SplitSeq(strings.ReplaceAll(params, "::", ":"), ";") {
		sub := strings.Split(field, ":")
		if sub[0] == "4" && len(sub) > 1 {
			if sub = []string{"4"}; strings.HasSuffix(field, ":0") {
				sub = []string{"24"}
			}
		}
		for _, s := range sub {
			n, _ := strconv.Atoi(s) // an empty field is 0
			codes = append(codes, n)
		}
	}
	for i := 0; i < len(codes); i++ {
		switch n := codes[i]; n {
		case 38, 48:
			c, used := extendedColor(codes[i+1:])
			i += used
			if n == 38 {
				st = st.Foreground(c)
			} else {
				st = st.Background(c)
			}
		default:
			st = simpleSGR(st, n)
		}
	}
	return st
}

func extendedColor(codes []int) (c tcell.Color, used int) {
	switch {
	case len(codes) >= 2 && codes[0] == 5:
		return tcell.PaletteColor(codes[1] & 0xff), 2
	case len(codes) >= 4 && codes[0] == 2:
		return tcell.NewRGBColor(int32(codes[1]&0xff), int32(codes[2]&0xff), int32(codes[3]&0xff)), 4
	}
	return tcell.ColorDefault, len(codes)
}

func simpleSGR(st tcell.Style, n int) tcell.Style {
	switch {
	case n == 0:
		return tcell.StyleDefault
	case n >= 30 && n <= 37:
		return st.Foreground(tcell.PaletteColor(n - 30))
	case n >= 40 && n <= 47:
		return st.Background(tcell.PaletteColor(n - 40))
	case n >= 90 && n <= 97:
		return st.Foreground(tcell.PaletteColor(n - 90 + 8))
	case n >= 100 && n <= 107:
		return st.Background(tcell.PaletteColor(n - 100 + 8))
	case n == 39:
		return st.Foreground(tcell.ColorDefault)
	case n == 49:
		return st.Background(tcell.ColorDefault)
	}
	return attributeSGR(st, n)
}

func attributeSGR(st tcell.Style, n int) tcell.Style {
	switch n {
	case 1:
		return st.Bold(true)
	case 2:
		return st.Dim(true)
	case 3:
		return st.Italic(true)
	case 4:
		return st.Underline(true)
	case 7:
		return st.Reverse(true)
	case 9:
		return st.StrikeThrough(true)
	case 22:
		return st.Bold(false).Dim(false)
	case 23:
		return st.Italic(false)
	case 24:
		return st.Underline(false)
	case 27:
		return st.Reverse(false)
	case 29:
		return st.StrikeThrough(false)
	}
	return st
}
