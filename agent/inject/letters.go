package inject

import (
	"strings"
	"unicode"
)

// folded maps letters to the ASCII letters that they resemble or replace. The rules' phrases are folded as well as the
// text, so a Cyrillic о can become o everywhere: the look-alike in "ignоre" is recognized, and Russian phrases still
// match Russian text.
var folded = foldTable(map[string]string{
	// Latin with accents.
	"a": "àáâãäåāăąæǎȧạảấầ", "c": "çćĉċč", "d": "ďđð", "e": "èéêëēĕėęěẹẻẽế", "g": "ĝğġģ", "h": "ĥħ", "i": "ìíîïĩīĭįıǐị", "j": "ĵ", "k": "ķ", "l": "ĺļľŀł",
	"n": "ñńņňŋ", "o": "òóôõöøōŏőœơǒọ", "r": "ŕŗř", "s": "śŝşšßſș", "t": "ţťŧț", "u": "ùúûüũūŭůűųưǔụ", "w": "ŵ", "y": "ýÿŷ", "z": "źżž",
}, map[string]string{
	// Cyrillic.
	"a": "а", "b": "бвьъ", "c": "сц", "d": "дԁ", "e": "еёэє", "f": "ф", "g": "ґ", "h": "нһ", "i": "іїы", "j": "ј", "k": "к", "l": "лӏ", "m": "м", "n": "п", "o": "о", "p": "р", "q": "ԛ",
	"r": "гя", "s": "ѕ", "t": "т", "u": "ийю", "v": "ѵ", "w": "шщԝ", "x": "хж", "y": "уч", "z": "з",
}, map[string]string{
	// Greek.
	"a": "αά", "b": "β", "e": "εέ", "h": "ή", "i": "ιίϊ", "k": "κ", "l": "λ", "m": "μ", "n": "ηπ", "o": "οόσ", "p": "ρ", "r": "γ", "s": "ς", "t": "τ", "u": "υύ", "v": "ν", "w": "ωώ", "x": "χ", "z": "ζ",
}, map[string]string{
	// Small capitals and superscript letters.
	"a": "ᴀᵃɑ", "b": "ʙᵇ", "c": "ᴄᶜ", "d": "ᴅᵈ", "e": "ᴇᵉ", "f": "ꜰᶠ", "g": "ɢᵍɡ", "h": "ʜʰ", "i": "ɪⁱɩ", "j": "ᴊʲ", "k": "ᴋᵏ", "l": "ʟˡ", "m": "ᴍᵐ", "n": "ɴⁿ", "o": "ᴏᵒ", "p": "ᴘᵖ",
	"r": "ʀʳ", "s": "ꜱˢ", "t": "ᴛᵗ", "u": "ᴜᵘ", "v": "ᴠᵛ", "w": "ᴡʷ", "x": "ˣ", "y": "ʏʸ", "z": "ᴢᶻ",
})

// foldTable inverts tables of lower-case letters, and adds the upper-case ones.
func foldTable(all ...map[string]string) map[rune]rune {
	table := make(map[rune]rune)
	for _, letters := range all {
		for ascii, likes := range letters {
			for _, c := range likes {
				table[c] = rune(ascii[0])
				if up := unicode.ToUpper(c); up >= 0x80 {
					table[up] = rune(ascii[0])
				}
			}
		}
	}
	return table
}

// alphabets lists ranges of styled letters. In each range, the letters are in the order of A to Z.
var alphabets = []struct {
	from, to rune
	modulo   rune // 52: A to Z, then a to z
}{
	{0x1d400, 0x1d6a3, 52},                                                                         // mathematical
	{0x24b6, 0x24e9, 26},                                                                           // circled
	{0x1f110, 0x1f129, 26}, {0x1f130, 0x1f149, 26}, {0x1f150, 0x1f169, 26}, {0x1f170, 0x1f189, 26}, // in brackets, squares and circles
	{0x1f1e6, 0x1f1ff, 26}, // flags
}

// fold returns the ASCII letter, plain quote or space that a non-ASCII character stands for, or the character itself.
func fold(c rune) rune {
	if f, ok := folded[c]; ok {
		return f
	}
	switch {
	case c == '’' || c == 'ʼ':
		return '\''
	case c >= 0x2000 && c <= 0x200a, c == 0x202f, c == 0x205f, c == 0x3000:
		return ' '
	case c >= 0xff01 && c <= 0xff5e: // full width
		return c - 0xff01 + '!'
	case c >= 0x2460:
		for _, a := range alphabets {
			if c >= a.from && c <= a.to {
				return 'a' + (c-a.from)%a.modulo%26
			}
		}
	}
	return c
}

func foldAll(s string) string {
	return strings.Map(func(c rune) rune {
		if c < 0x80 {
			return c
		}
		return fold(c)
	}, s)
}

// han reports whether a character is Chinese. Each Chinese character counts as a word.
func han(c rune) bool { return c >= 0x4e00 && c <= 0x9fff }

// combines reports whether a character is an accent on the previous one.
func combines(c rune) bool { return c >= 0x300 && c <= 0x36f }
