package lsptest

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
)

// In the language of this server, a line like "def NAME" defines NAME in all .x files of its folder, and each other
// occurrence of the word is a reference.

// word is an occurrence of a word.
type word struct {
	uri, name      string
	line, from, to int // columns in UTF-16 units
	defines        bool
	version        *int // of an open file
}

var words = regexp.MustCompile(`[\pL\pN_]+`)

// words returns all words in the open and the stored files of the project, sorted by file.
func (s *Server) words() (all []word) {
	files := map[string]document{}
	names, _ := filepath.Glob(filepath.Join(s.root, "*.x"))
	for _, name := range names {
		if text, err := os.ReadFile(name); err == nil {
			files[(&url.URL{Scheme: "file", Path: name}).String()] = document{text: string(text)}
		}
	}
	var uris []string
	for uri, d := range s.docs {
		files[uri] = d
	}
	for uri := range files {
		uris = append(uris, uri)
	}
	slices.Sort(uris)
	for _, uri := range uris {
		d, n := files[uri], 0
		var version *int
		if d.version > 0 {
			version = &d.version
		}
		for line := range strings.Lines(d.text) {
			for _, at := range words.FindAllStringIndex(line, -1) {
				all = append(all, word{
					uri: uri, name: line[at[0]:at[1]], line: n, from: units(line[:at[0]]), to: units(line[:at[1]]),
					defines: strings.HasSuffix(line[:at[0]], "def "), version: version,
				})
			}
			n++
		}
	}
	return all
}

func units(text string) int { return len(utf16.Encode([]rune(text))) }

func (w word) span() map[string]any {
	return map[string]any{
		"start": map[string]any{"line": w.line, "character": w.from}, "end": map[string]any{"line": w.line, "character": w.to},
	}
}

func (w word) location() any { return map[string]any{"uri": w.uri, "range": w.span()} }

func (w word) symbol() any {
	return map[string]any{"name": w.name, "kind": 12, "range": w.span(), "selectionRange": w.span()}
}

func (w word) information() any {
	return map[string]any{"name": w.name, "kind": 12, "location": w.location()}
}

func (w word) edit(text string) any {
	return map[string]any{
		"textDocument": map[string]any{"uri": w.uri, "version": w.version},
		"edits":        []any{map[string]any{"range": w.span(), "newText": text}},
	}
}

// each converts the words that a condition selects.
func each(all []word, selects func(word) bool, convert func(word) any) []any {
	list := []any{}
	for _, w := range all {
		if selects(w) {
			list = append(list, convert(w))
		}
	}
	return list
}

// answer returns the result of a request about words; ok is false for other requests.
func (s *Server) answer(m message) (result any, ok bool) {
	var p struct {
		Document struct{ URI string } `json:"textDocument"`
		Position struct{ Line, Character int }
		NewName  string
		Query    string
	}
	_ = json.Unmarshal(m.Params, &p)
	all, name := s.words(), ""
	for _, w := range all {
		if w.uri == p.Document.URI && w.line == p.Position.Line && w.from <= p.Position.Character && p.Position.Character < w.to {
			name = w.name
		}
	}
	named := func(w word) bool { return w.name == name }
	switch m.Method {
	case "textDocument/definition":
		return each(all, func(w word) bool { return w.defines && named(w) }, word.location), true
	case "textDocument/references":
		return each(all, named, word.location), true
	case "textDocument/documentSymbol":
		return each(all, func(w word) bool { return w.defines && w.uri == p.Document.URI }, word.symbol), true
	case "workspace/symbol":
		return each(all, func(w word) bool { return w.defines && strings.Contains(w.name, p.Query) }, word.information), true
	case "textDocument/hover":
		return map[string]any{"contents": map[string]any{"kind": "plaintext", "value": "the word " + name}}, true
	case "textDocument/rename":
		return map[string]any{"documentChanges": each(all, named, func(w word) any { return w.edit(p.NewName) })}, true
	}
	return nil, false
}
