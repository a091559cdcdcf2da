package inject

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"
)

// plainText is a text as a model understands it: in lower case, with letters folded and one space between words,
// without escapes, emphasis or invisible characters.
type plainText struct {
	source   string // the original text
	text     []byte
	words    []wordAt
	quotes   [][2]int // ranges between quotes on one line, in order
	comments [][2]int // ranges of HTML comments, in order
	hidden   []Finding
	tried    map[*rule]int // where wide phrases were last tried
}

func (p *plainText) quoted(at int) bool { return within(p.quotes, at) }

// within reports whether an offset is in one of the sorted ranges.
func within(ranges [][2]int, at int) bool {
	_, ok := slices.BinarySearchFunc(ranges, at, func(q [2]int, at int) int {
		switch {
		case q[1] <= at:
			return -1
		case q[0] > at:
			return 1
		}
		return 0
	})
	return ok
}

type wordAt struct {
	from, to int
	source   int  // its start in the source
	begins   bool // at the start of a sentence, a line or an item
}

func (p *plainText) at(w wordAt) string { return string(p.text[w.from:w.to]) }

// reader converts a text to a plainText.
type reader struct {
	p       *plainText
	at      int    // offset of the next character in the source
	word    int    // start of the word; -1: none
	from    int    // start of the word in the source
	digits  bool   // the word contains digits
	comment int    // start of the HTML comment; -1: none
	spelled []byte // consecutive one-letter words
	begins  bool   // the next word starts a sentence, line or item
	quote   int    // offset of the open quote; -1: none
	by      rune   // the open quote character
	unseen  int    // invisible characters in the current run
	tags    int    // how many of them spell ASCII
	strange int    // invisible characters in total
	last    rune   // the character before the run
}

func plain(s string) *plainText {
	p := &plainText{source: s, text: make([]byte, 0, len(s)+len(s)/8+8), words: make([]wordAt, 0, len(s)/5), tried: make(map[*rule]int)}
	r := &reader{p: p, word: -1, quote: -1, comment: -1, begins: true}
	for i := 0; i < len(s); {
		r.at = i
		if s[i] == '\\' {
			c, n := escape(s[i:])
			r.rune(c)
			i += n
			continue
		}
		if s[i] < utf8.RuneSelf {
			r.rune(rune(s[i]))
			i++
			continue
		}
		c, n := utf8.DecodeRuneInString(s[i:])
		r.rune(c)
		i += n
	}
	r.newline()
	r.spell()
	if r.comment >= 0 {
		p.comments = append(p.comments, [2]int{r.comment, len(p.text)})
	}
	return p
}

// escape decodes the backslash escapes of JSON and most languages.
func escape(s string) (rune, int) {
	if len(s) < 2 {
		return '\\', 1
	}
	switch s[1] {
	case 'n', 'r':
		return '\n', 2
	case 't':
		return ' ', 2
	case '\\':
		if len(s) > 2 && s[2] == 'n' { // JSON inside JSON
			return '\n', 3
		}
		return '\\', 2
	case '"', '\'', '/', '`':
		return rune(s[1]), 2
	case 'u':
		if len(s) >= 6 {
			if c, err := strconv.ParseUint(s[2:6], 16, 32); err == nil {
				return rune(c), 6
			}
		}
	}
	return '\\', 1
}

func (r *reader) rune(c rune) {
	if c >= utf8.RuneSelf {
		if unseen(c) {
			r.hide(c)
			return
		}
		if combines(c) {
			return
		}
		if !han(c) {
			c = fold(c)
		}
	}
	if r.unseen > 0 {
		r.shown()
	}
	r.last = c
	switch c {
	case '\n':
		r.newline()
	case ' ', '\t', '\r', 0xa0:
		r.space()
	case '*', 0x1b:
		// emphasis
	case '"', '`', '\'', '“', '”', '„', '«', '»', '「', '」', '『', '』':
		r.quoteMark(c)
	default:
		if l := letter(c); l != 0 {
			r.letter(l)
		} else if han(c) {
			r.han(c)
		} else {
			r.punctuation(c)
		}
	}
}

// letter returns a letter in lower case, or a digit; 0 for other characters.
func letter(c rune) byte {
	switch {
	case c >= 'A' && c <= 'Z':
		return byte(c) + 'a' - 'A'
	case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
		return byte(c)
	}
	return 0
}

func (r *reader) letter(c byte) {
	if r.word < 0 {
		r.word, r.from = len(r.p.text), r.at
	}
	if c <= '9' {
		r.digits = true
	}
	r.put(c)
}

// digitLetters maps digits to the letters that they resemble, as in 1gn0re.
var digitLetters = map[byte]byte{'0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't'}

// spellDigits replaces a single digit before a letter by the letter that it resembles. Longer runs are real numbers:
// base64, ed25519.
func spellDigits(word []byte) {
	for i := 0; i+1 < len(word); i++ {
		l := digitLetters[word[i]]
		if l != 0 && word[i+1] > '9' && (i == 0 || word[i-1] > '9') {
			word[i] = l
		}
	}
}

// han adds a Chinese character. Since Chinese has no spaces between words, the character starts a new word only if some
// rule's phrase starts with it.
func (r *reader) han(c rune) {
	r.endWord()
	if n := len(r.p.text); n > 1 && r.p.text[n-1] == ' ' && r.p.text[n-2] >= utf8.RuneSelf && r.last != '\n' {
		r.p.text = r.p.text[:n-1] // spaces between the characters
	}
	from := len(r.p.text)
	r.p.text = utf8.AppendRune(r.p.text, c)
	if _, ok := rules()[string(r.p.text[from:])]; ok {
		r.p.words = append(r.p.words, wordAt{from, len(r.p.text), r.at, r.begins})
	}
	switch c { // please, must, at once, you, first
	case '请', '請', '须', '須', '即', '你', '您', '们', '先':
		r.begins = true
	default:
		r.begins = false
	}
}

func (r *reader) put(c byte) {
	r.p.text = append(r.p.text, c)
}

func (r *reader) endWord() {
	if r.word < 0 {
		return
	}
	if r.digits {
		spellDigits(r.p.text[r.word:])
		r.digits = false
	}
	r.p.words = append(r.p.words, wordAt{r.word, len(r.p.text), r.from, r.begins})
	if len(r.p.text)-r.word == 1 && len(r.spelled) < reach {
		r.spelled = append(r.spelled, r.p.text[r.word])
	} else if len(r.spelled) > 0 {
		r.spell()
	}
	r.word, r.begins = -1, false
}

// spell ends a run of one-letter words and reports the order that they spell, such as "i g n o r e".
func (r *reader) spell() {
	if loc := spelledOut().FindIndex(r.spelled); loc != nil {
		r.p.hidden = append(r.p.hidden, Finding{
			Kind: Override, Severity: High, at: len(r.p.text), Excerpt: excerpt(string(r.spelled[loc[0]:])), Reason: "tells the agent, letter by letter, to ignore instructions",
		})
	}
	r.spelled = r.spelled[:0]
}

func (r *reader) space() {
	r.endWord()
	if n := len(r.p.text); n > 0 && r.p.text[n-1] != ' ' {
		r.put(' ')
	}
}

func (r *reader) newline() {
	if r.unseen > 0 {
		r.shown()
	}
	r.space()
	r.begins, r.quote = true, -1
}

// quoteMark opens or closes a quote, unless c is an apostrophe inside a word.
func (r *reader) quoteMark(c rune) {
	if c == '\'' && r.word >= 0 && r.quote < 0 {
		return // don't becomes dont
	}
	r.endWord()
	switch {
	case r.quote >= 0 && closes(r.by, c):
		r.p.quotes = append(r.p.quotes, [2]int{r.quote, len(r.p.text)})
		r.quote = -1
	case r.quote < 0 && c != '”' && c != '»' && c != '」' && c != '』':
		r.quote, r.by = len(r.p.text), c
		r.begins = true
	}
}

func closes(open, c rune) bool {
	switch open {
	case '“':
		return c == '”'
	case '„':
		return c == '“' || c == '”'
	case '«':
		return c == '»'
	case '「':
		return c == '」'
	case '『':
		return c == '』'
	}
	return open == c
}

// comments records where HTML comments start and end. It is called before c is added to the text.
func (r *reader) comments(c rune) {
	text := r.p.text
	switch {
	case c == '-' && r.comment < 0 && bytes.HasSuffix(text, []byte("<!-")):
		r.comment = len(text)
	case c == '>' && r.comment >= 0 && bytes.HasSuffix(text, []byte("--")):
		r.p.comments = append(r.p.comments, [2]int{r.comment, len(text)})
		r.comment = -1
	}
}

func (r *reader) punctuation(c rune) {
	r.endWord()
	switch c {
	case '.', '!', '?', ':', ';', '#', '>', '-', '—', '–', '•', ']', ')', '(', '[', '|', '=', '…', '/', '。', '、', '¡', '¿':
		r.begins = true
	case ',':
		if n := len(r.p.text); n > 0 && r.p.text[n-1] >= utf8.RuneSelf { // between Chinese clauses
			r.begins = true
		}
	}
	r.comments(c)
	if c < utf8.RuneSelf {
		r.put(byte(c))
		return
	}
	for _, b := range []byte(string(c)) {
		r.put(b)
	}
}

// unseen reports whether a character is invisible or changes the direction of text.
func unseen(c rune) bool {
	switch {
	case c == 0xad, c == 0x34f, c == 0x61c, c == 0x180e, c == 0x3164, c == 0xffa0, c == 0xfeff,
		c >= 0x115f && c <= 0x1160, c >= 0x200b && c <= 0x200f, c >= 0x202a && c <= 0x202e,
		c >= 0x2060 && c <= 0x206f, c >= 0xfe00 && c <= 0xfe0f, c >= 0xe0000 && c <= 0xe0fff:
		return true
	}
	return false
}

// hide counts an invisible character.
func (r *reader) hide(c rune) {
	r.unseen++
	if c > 0xe0000 && c < 0xe0080 && r.last != 0x1f3f4 { // otherwise part of a flag emoji
		r.tags++
	}
	if c != 0x200d && c < 0xfe00 && c != 0x200c && c != 0xad {
		r.strange++ // emoji and many scripts need the others
	}
}

// Numbers of invisible characters that are no accident: in a row, spelling ASCII, and in the whole text.
const (
	hiddenRun  = 8
	hiddenTags = 4
	hiddenAll  = 12
)

// shown ends a run of invisible characters and reports it if it is too long.
func (r *reader) shown() {
	f := Finding{Kind: Hidden, Severity: High, at: len(r.p.text), Excerpt: strconv.Itoa(r.unseen) + " invisible characters"}
	switch {
	case r.tags >= hiddenTags:
		f.Reason = "text in invisible characters"
	case r.unseen >= hiddenRun:
		f.Reason = "a long run of invisible characters"
	case r.strange == hiddenAll:
		f.Severity, f.Reason = Low, "many characters that are invisible or change the direction of text"
	}
	if f.Reason != "" {
		r.p.hidden = append(r.p.hidden, f)
		r.strange++ // reported once
	}
	r.unseen, r.tags = 0, 0
}
