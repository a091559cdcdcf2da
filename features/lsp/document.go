package lsp

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"buddy/texts/ansi"
)

// maxText limits the files that a server is told of, in bytes.
const maxText = 4 << 20

// document is a file that a server has open.
type document struct {
	path    string
	version int
	text    string
	barrier int // that was sent behind the text; see [wire.barrier]
}

// uriOf returns the URI of a file.
func uriOf(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }

// pathOf returns the file that a URI of a server means, "" if it means none here.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || !filepath.IsAbs(u.Path) {
		return ""
	}
	return filepath.Clean(u.Path)
}

// readText reads a file as a server gets it; ok is false if it is none that a server should get.
func readText(path string) (text string, ok bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxText {
		return "", false
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", false
	}
	return textOf(data)
}

// textOf returns the content of a file as text; ok is false if it is none.
func textOf(data []byte) (text string, ok bool) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	return string(data), len(data) <= maxText && utf8.Valid(data)
}

// place returns where a diagnostic is for people: line and column from 1, in characters. text is that
// of the file.
func place(text string, p position) string {
	column := p.Character
	if line, ok := lineOf(text, p.Line); ok {
		column = characters(line, p.Character)
	}
	return fmt.Sprintf("%d:%d", p.Line+1, column+1)
}

// lineOf returns a line of a text, from 0; ok is false if it has none.
func lineOf(text string, n int) (line string, ok bool) {
	for l := range strings.Lines(text) {
		if n == 0 {
			return l, true
		}
		n--
	}
	return "", false
}

// characters returns how many characters the first units of UTF-16 of a line are.
func characters(line string, units int) int {
	n := 0
	for _, r := range line {
		if units <= 0 {
			break
		}
		units--
		if r > 0xffff {
			units--
		}
		n++
	}
	return n
}

// plain returns text without escape sequences and characters that nobody sees.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, ansi.Strip(text))
}
