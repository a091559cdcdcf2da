package markup

import "buddy/texts"

// Shorten puts s on one line of at most n characters.
func Shorten(s string, n int) string { return texts.Clip(texts.OneLine(s), n) }
