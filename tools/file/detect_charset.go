package file

import (
	"bytes"
	"encoding/binary"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// The detection compares, in bits, how likely the bytes of a file are in each encoding with how likely they are by
// chance. Libraries are no alternative: from the few words of a source file that are not ASCII, they guess wrong with
// high confidence. wlynxg/chardet (1.0.5) takes a line with 中文注释 in GBK for KOI8-R (0.58), 日本語 in Shift-JIS for
// Windows-1252 (0.73) and a German sentence for Turkish (0.67); gogs/chardet, an unmaintained port of ICU, takes them
// for Shift-JIS, GB18030 and ISO-8859-1.

const (
	confidence  = 3        // bits by which a guess must be better than chance and than any other
	sampledText = 64 << 10 // bytes of a file that are compared
	impossible  = -10      // bits of an invalid byte
	rare        = -6       // bits of a character that hardly occurs
)

// charsetOf detects the charset of a file by its content, or by the beginning of a large file. It returns nil for UTF-8
// and for files that are not text.
func charsetOf(data []byte) *charset {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe\x00\x00")): // UTF-32 is not supported
		return nil
	case bytes.HasPrefix(data, []byte(littleUTF16.mark)):
		return littleUTF16
	case bytes.HasPrefix(data, []byte(bigUTF16.mark)):
		return bigUTF16
	}
	if start := data[:min(len(data), sniffed)]; bytes.IndexByte(start, 0) >= 0 {
		return wideCharset(start)
	}
	sequences, bad, first := countUTF8(data)
	switch {
	case bad == 0 || hasControls(data[:min(len(data), sampledText)]):
		return nil
	case sequences >= bad:
		return brokenUTF8
	}
	if guess := likeliest(data[first:min(len(data), first+sampledText)]); guess != nil {
		return guess
	}
	return unknown
}

// countUTF8 counts the multi-byte characters of data in UTF-8 and the invalid bytes. first is the offset of the line
// with the first invalid byte.
func countUTF8(data []byte) (sequences, bad, first int) {
	if utf8.Valid(data) {
		return 0, 0, 0
	}
	for at := 0; at < len(data); {
		r, size := utf8.DecodeRune(data[at:])
		switch {
		case r == utf8.RuneError && size == 1:
			if bad++; bad == 1 {
				first = bytes.LastIndexByte(data[:at], '\n') + 1
			}
		case size > 1:
			sequences++
		}
		at += size
	}
	return sequences, bad, first
}

// wideCharset returns the charset of a file with NUL bytes: UTF-16, or nil if it is not text.
func wideCharset(data []byte) *charset {
	chance := 0.0
	for _, b := range data {
		switch {
		case b == 0:
			chance += impossible
		case b >= ' ' && b < 0x7f || b == '\n':
			chance += 2 // it may be ASCII
		}
	}
	little, big := likelyWide(data, binary.LittleEndian), likelyWide(data, binary.BigEndian)
	switch {
	case little > max(chance, big, 0)+confidence:
		return littleBare
	case big > max(chance, little, 0)+confidence:
		return bigBare
	default:
		return nil
	}
}

// wideBits lists ranges of common characters, and how much likelier one of them is in UTF-16 than two bytes by chance.
var wideBits = []struct {
	from, to rune
	bits     float64
}{
	{'\t', '\n', 7},
	{'\r', '\r', 7},
	{' ', '~', 7},
	{0xa0, 0x52f, 4},    // Latin, Greek, Cyrillic
	{0x2000, 0x20ff, 4}, // punctuation
	{0x3000, 0x30ff, 1}, // kana
	{0x4e00, 0x9fff, 1}, // Chinese characters
	{0xac00, 0xd7a3, 1}, // Korean characters
	{0xff00, 0xffef, 1}, // wide forms
}

// likelyWide returns how much likelier data is in UTF-16 than by chance.
func likelyWide(data []byte, order binary.ByteOrder) (bits float64) {
	for ; len(data) > 1; data = data[2:] {
		r := rune(order.Uint16(data))
		if len(data) > 3 && utf16.DecodeRune(r, rune(order.Uint16(data[2:]))) != utf8.RuneError {
			data = data[2:] // a surrogate pair
			continue
		}
		one := 4.0 * impossible
		for _, w := range wideBits {
			if r >= w.from && r <= w.to {
				one = w.bits
			}
		}
		bits += one
	}
	return bits + float64(len(data))*4*impossible
}

// likeliest returns the most likely charset of a text that is not UTF-8, nil if none is likely enough.
func likeliest(data []byte) *charset {
	var best *charset
	most, second := 0.0, 0.0
	try := func(c *charset, bits float64) {
		switch {
		case bits > most:
			best, most, second = c, bits, most
		case bits > second:
			second = bits
		}
	}
	try(windows1252, likelyLatin(data))
	try(windows1251, likelyCyrillic(data, charmap.Windows1251))
	try(koi8R, likelyCyrillic(data, charmap.KOI8R))
	for _, t := range easterns() {
		try(t.charset, t.likely(data))
	}
	if most-second < confidence {
		return nil
	}
	return best
}

// likelyLatin returns how much likelier data is in Windows-1252 than by chance.
func likelyLatin(data []byte) float64 {
	s := sum{bits: 1.5} // the most frequent encoding
	for i, b := range data {
		if b < utf8.RuneSelf {
			continue
		}
		before, after := byte(' '), byte(' ')
		if i > 0 {
			before = data[i-1]
		}
		if i+1 < len(data) {
			after = data[i+1]
		}
		s.add(latinBits(charmap.Windows1252.DecodeByte(b), before, after))
	}
	return s.total(0)
}

// sum adds up bits of characters that are not ASCII.
type sum struct {
	bits   float64
	n, odd int // odd counts characters that hardly occur
}

func (s *sum) add(bits float64) {
	s.bits += bits
	s.n++
	if bits <= -4 {
		s.odd++
	}
}

// total returns the sum. It returns impossible if the text has too many odd characters, or too few bits per character,
// for a text in the encoding: the text is then in another encoding or language.
func (s *sum) total(mean float64) float64 {
	if s.odd > s.n/33 || s.n > 100 && s.bits < mean*float64(s.n) {
		return impossible
	}
	return s.bits
}

// latinBits rates a character for likelyLatin, given the bytes before and after it.
func latinBits(r rune, before, after byte) float64 {
	high := before >= utf8.RuneSelf && after >= utf8.RuneSelf
	switch {
	case r == utf8.RuneError || unicode.IsControl(r):
		return impossible
	case !unicode.IsLetter(r):
		return latinMark(r, before, after)
	case high:
		return -4
	case unicode.IsUpper(r) && before >= 'a' && before <= 'z':
		return -8
	case !isLetter(before) && !isLetter(after):
		return -1
	case unicode.IsUpper(r):
		return 1
	default:
		return 2
	}
}

// latinMark rates one character that is no letter for likelyLatin.
func latinMark(r rune, before, after byte) float64 {
	word := isLetter(before)
	opens := strings.ContainsRune("“‘„«¿¡", r) && !word && after > ' '
	closes := strings.ContainsRune("”’“»", r) && before > ' ' && !isLetter(after)
	alone := before < utf8.RuneSelf || after < utf8.RuneSelf
	inside := word && isLetter(after)
	switch {
	case r == '’' && inside:
		return 5
	case inside:
		return -4
	case opens, closes, alone && strings.ContainsRune("–—•…€£§©®°±µ·²³½\u00a0", r):
		return 2
	case alone:
		return 0
	default:
		return -4
	}
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// frequentCyrillic lists the letters of Russian, most frequent first.
var frequentCyrillic = []rune("оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё")

// cyrillicRanks maps each letter of Russian to how much likelier it is in a Russian text than by chance.
var cyrillicRanks = sync.OnceValue(func() map[rune]float64 {
	ranks := make(map[rune]float64, len(frequentCyrillic))
	for i, r := range frequentCyrillic {
		ranks[r] = 3.4 - float64(i)/7
	}
	return ranks
})

// likelyCyrillic returns how much likelier data is in an encoding of Russian than by chance.
func likelyCyrillic(data []byte, in *charmap.Charmap) float64 {
	var s sum
	before := ' '
	for i, b := range data {
		r, after := in.DecodeByte(b), ' '
		if i+1 < len(data) {
			after = in.DecodeByte(data[i+1])
		}
		if b >= utf8.RuneSelf {
			s.add(cyrillicBits(r, before, after))
		}
		before = r
	}
	return s.total(1.7)
}

// cyrillicBits rates a character, given the characters before and after it.
func cyrillicBits(r, before, after rune) float64 {
	rank, ours := cyrillicRanks()[unicode.ToLower(r)]
	upper := unicode.IsUpper(r)
	switch {
	case r == utf8.RuneError || unicode.IsControl(r):
		return impossible
	case strings.ContainsRune("«»—–„“”…№\u00a0", r):
		return 0
	case !unicode.IsLetter(r):
		return rare
	case before < utf8.RuneSelf && isLetter(byte(before)), after < utf8.RuneSelf && isLetter(byte(after)), upper && unicode.IsLower(before):
		return -8
	case !unicode.IsLetter(before) && !unicode.IsLetter(after): // any letter is possible
		return 0
	case !ours:
		return -1
	case upper:
		return rank - 2
	default:
		return rank
	}
}

// hasControls reports whether p has bytes that do not occur in text files.
func hasControls(p []byte) bool {
	return bytes.ContainsFunc(p, func(r rune) bool {
		return r < ' ' && r != '\t' && r != '\n' && r != '\r' && r != '\f' && r != '\x1b' || r == 0x7f
	})
}
