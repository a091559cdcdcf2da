package markup

import "buddy/texts"

// Shorten returns s as one line of at most n characters.
func Shorten(s string, n int) string { return texts.Clip(texts.OneLine(s), n) }
