package host

import (
	"strings"

	"buddy/texts"
)

// Quote returns s as one word of a shell command, with as few quotes as possible.
func Quote(s string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-./:@%+,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Line returns a shell command that consists of the given words, quoted where necessary.
func Line(argv ...string) string { return texts.Join(argv, " ", Quote) }
