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

// maxText limits the files that are sent to servers, in bytes.
const maxText = 4 << 20

// document is a file that a server has open.
type document struct {
	path    string
	version int
	text    string
	barrier int // sent after the text; see [wire.barrier]
}

// uriOf returns the URI of a file.
func uriOf(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }

// pathOf returns the local file of a URI, or "".
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || !filepath.IsAbs(u.Path) {
		return ""
	}
	return filepath.Clean(u.Path)
}

// readText reads a file for a server; ok is false if the file is not suitable.
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

// textOf converts the content of a file to text; ok is false if it is not valid text or too long.
func textOf(data []byte) (text string, ok bool) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	return string(data), len(data) <= maxText && utf8.Valid(data)
}

// place returns the line and column of a diagnostic, from 1, in characters of text.
func place(text string, p position) string {
	column := p.Character
	if line, ok := lineOf(text, p.Line); ok {
		column = characters(line, p.Character)
	}
	return fmt.Sprintf("%d:%d", p.Line+1, column+1)
}

// lineOf returns line n of a text, from 0; ok is false if there is none.
func lineOf(text string, n int) (line string, ok bool) {
	for l := range strings.Lines(text) {
		if n == 0 {
			return l, true
		}
		n--
	}
	return "", false
}

// characters converts a number of UTF-16 units at the start of a line to characters.
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

// plain removes escape sequences and invisible characters.
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
