package lsp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"buddy/texts"
)

const (
	// maxPlaces limits the places that a call lists.
	maxPlaces = 100
	// maxSource limits the shown part of a source line, in bytes.
	maxSource = 200
)

// sourceLine is a line of a file, as a server named it.
type sourceLine struct {
	uri  string
	line int // from 0; -1: unknown
}

// isNull reports whether an answer is empty.
func isNull(raw json.RawMessage) bool {
	text := bytes.TrimSpace(raw)
	return len(text) == 0 || string(text) == "null"
}

// placesIn decodes the places in an answer: one, or a list. path is the file of symbols that name none.
func placesIn(raw json.RawMessage, path string) ([]sourceLine, error) {
	if isNull(raw) {
		return nil, nil
	}
	var all []location
	if bytes.TrimSpace(raw)[0] == '{' {
		all = make([]location, 1)
		if err := json.Unmarshal(raw, &all[0]); err != nil {
			return nil, err
		}
	} else if err := json.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	uri := ""
	if path != "" {
		uri = uriOf(path)
	}
	var places []sourceLine
	seen := make(map[sourceLine]bool)
	for _, one := range all {
		one.walk(uri, func(p sourceLine) {
			if !seen[p] {
				places = append(places, p)
			}
			seen[p] = true
		})
	}
	return places, nil
}

// walk visits the places of a location and its children. uri is the file of symbols that name none.
func (l location) walk(uri string, visit func(sourceLine)) {
	at := l
	if l.Location != nil {
		at = *l.Location
	}
	line := -1
	for _, span := range []*span{at.TargetRange, at.Selection, at.Range} {
		if span != nil {
			line = max(-1, span.Start.Line)
			break
		}
	}
	for _, named := range []string{at.TargetURI, at.URI} {
		if named != "" {
			uri = named
		}
	}
	visit(sourceLine{uri, line})
	for _, child := range l.Children {
		child.walk(uri, visit)
	}
}

// lines returns places as lines like path:line: source, at most most bytes. note says how many are left out.
func (t *codeTool) lines(places []sourceLine, most int) (text, note string) {
	var b strings.Builder
	files := make(map[string]string)
	for i, p := range places {
		line := t.line(p, files)
		if i == maxPlaces || b.Len()+len(line) > most {
			note = fmt.Sprintf("%d more", len(places)-i)
			break
		}
		b.WriteString(line + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n"), note
}

// line returns a place as a line. It reads no file that is outside of the workspace or may hold secrets. files caches
// texts by path.
func (t *codeTool) line(p sourceLine, files map[string]string) string {
	path := pathOf(p.uri)
	if path == "" {
		return oneLine(p.uri) + " (not a file)"
	}
	name := t.all.show(path)
	if p.line >= 0 {
		name = fmt.Sprintf("%s:%d", name, p.line+1)
	}
	real, why := t.inWorkspace(path)
	if why != "" {
		return name + ": (" + why + ")"
	}
	text, known := files[real]
	if !known {
		text, _ = readText(real)
		files[real] = text
	}
	source, ok := lineOf(text, p.line)
	if !ok {
		return name + ": (no such line)"
	}
	return name + ": " + texts.ClipBytes(strings.TrimSpace(plain(source)), maxSource)
}

// inWorkspace returns the real path of a file that a server named, or why the file is not read.
func (t *codeTool) inWorkspace(path string) (real, why string) {
	if t.all.inside(path) { // other paths are not even looked up
		real = texts.RealPath(path)
	}
	switch {
	case real == "" || !t.all.inside(real):
		return "", "outside the workspace"
	case t.files.Secret(real) != "":
		return "", "may hold secrets"
	}
	return real, ""
}

// hoverText decodes the answer to a hover request, at most most bytes.
func hoverText(raw json.RawMessage, most int) (string, error) {
	if isNull(raw) {
		return "", nil
	}
	var answer struct {
		Contents json.RawMessage `json:"contents"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil || isNull(answer.Contents) {
		return "", err
	}
	var parts []json.RawMessage
	if json.Unmarshal(answer.Contents, &parts) != nil {
		parts = []json.RawMessage{answer.Contents}
	}
	var lines []string
	for _, part := range parts {
		var text string
		if json.Unmarshal(part, &text) != nil {
			var marked struct {
				Value string `json:"value"`
			}
			if err := json.Unmarshal(part, &marked); err != nil {
				return "", err
			}
			text = marked.Value
		}
		for line := range strings.SplitSeq(text, "\n") {
			lines = append(lines, strings.TrimRight(plain(line), " "))
		}
	}
	return texts.ClipBytes(strings.TrimSpace(strings.Join(lines, "\n")), most), nil
}

// symbolAt returns the position of a symbol in a line, counted from 1: the start of its last word, so that
// "shop.Tax" means Tax. note tells the model if the line has the symbol several times.
func symbolAt(text string, number int, symbol string) (at position, note string, err error) {
	line, ok := lineOf(text, number-1)
	if !ok {
		return at, "", fmt.Errorf("line %d does not exist: the file has %s", number, texts.Plural(strings.Count(text, "\n"), "line end"))
	}
	found := wordsAt(line, symbol)
	if len(found) == 0 {
		return at, "", missingAt(text, number, symbol)
	}
	if len(found) > 1 {
		note = fmt.Sprintf("line %d has %q %d times, and the first one was used; give more of the line for another", number, texts.ClipBytes(symbol, 100), len(found))
	}
	word, start := strings.TrimRightFunc(symbol, notWord), 0
	if i := strings.LastIndexFunc(word, notWord); i >= 0 {
		_, size := utf8.DecodeRuneInString(word[i:])
		start = i + size
	}
	return position{Line: number - 1, Character: units(line[:found[0]+start])}, note, nil
}

// missingAt returns the error for a line without the symbol, with the lines that have it.
func missingAt(text string, number int, symbol string) error {
	var have []string
	n := 0
	for line := range strings.Lines(text) {
		if n++; len(wordsAt(line, symbol)) > 0 {
			have = append(have, fmt.Sprint(n))
		}
		if len(have) == 10 {
			break
		}
	}
	where := "no line of the file has it"
	switch {
	case len(have) == 1:
		where = "it is in line " + have[0]
	case len(have) > 1:
		where = "it is in lines " + strings.Join(have, ", ")
	}
	return fmt.Errorf("line %d does not have %q: %s", number, texts.ClipBytes(symbol, 100), where)
}

// wordsAt returns the offsets of a symbol in a line. A symbol that starts or ends with a letter is not a part of a word.
func wordsAt(line, symbol string) (found []int) {
	first, _ := utf8.DecodeRuneInString(symbol)
	final, _ := utf8.DecodeLastRuneInString(symbol)
	for from := 0; symbol != ""; {
		i := strings.Index(line[from:], symbol)
		if i < 0 {
			break
		}
		i += from
		before, b := utf8.DecodeLastRuneInString(line[:i])
		after, a := utf8.DecodeRuneInString(line[i+len(symbol):])
		if (notWord(first) || b == 0 || notWord(before)) && (notWord(final) || a == 0 || notWord(after)) {
			found = append(found, i)
		}
		from = i + len(symbol)
	}
	return found
}

func notWord(r rune) bool {
	return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
}

// units returns the length of a text in UTF-16 units.
func units(text string) int {
	n := 0
	for _, r := range text {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}
