package markup

import (
	"embed"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/chroma/v2"

	"buddy/themes"
)

// The definitions of the lexers were generated from chroma's package lexers. That package is not imported, because it
// reads all of its 279 files before main, which takes 4.2 to 5.4 ms in each process. The embedded files are read only
// when the first line of code is highlighted.
//
//go:generate go run lexers/generate.go
//go:embed lexers/*.xml
var lexerFiles embed.FS

const (
	maxTinted      = 300 << 10 // bytes and
	maxTintedLines = 5000      // lines of code; larger blocks stay plain
	maxLanguage    = 40        // bytes of a language's name
	passTime       = time.Second
)

// languages maps common names of languages to names that the lexers know.
var languages = map[string]string{
	"conf": "ini", "dotenv": "bash", "env": "bash", "ksh": "bash", "dash": "bash",
	"jsonc": "json", "json5": "json", "jsonl": "json", "ndjson": "json",
	"node": "javascript", "pycon": "python", "python3": "python", "rs": "rust",
	"shell-script": "bash", "shellscript": "bash", "terminal": "console", "svg": "xml", "unit": "systemd",
}

// lexerRegistry holds the lexers, which refer to each other through it. The rules of a lexer are compiled at its first
// use.
var lexerRegistry = sync.OnceValue(func() *chroma.LexerRegistry {
	registry := chroma.NewLexerRegistry()
	files, _ := lexerFiles.ReadDir("lexers") // the directory is embedded
	for _, f := range files {
		registry.Register(chroma.MustNewXMLLexer(lexerFiles, "lexers/"+f.Name()))
	}
	return registry
})

// lexerOf returns the lexer for the language of a fence, or nil.
func lexerOf(lang string) chroma.Lexer {
	lang = strings.ToLower(strings.Trim(lang, "{}."))
	if lang == "" || len(lang) > maxLanguage {
		return nil
	}
	if name, ok := languages[lang]; ok {
		lang = name
	}
	return found.lexer(lang)
}

// maxFound limits the languages whose lexers are cached.
const maxFound = 256

// foundLexers caches the lexers of languages. For an unknown name chroma tries all patterns of file names, which takes
// 3 ms each time.
type foundLexers struct {
	mu     sync.Mutex
	byName map[string]chroma.Lexer // nil: no lexer
}

var found foundLexers

func (f *foundLexers) lexer(lang string) chroma.Lexer {
	f.mu.Lock()
	defer f.mu.Unlock()
	if lexer, ok := f.byName[lang]; ok {
		return lexer
	}
	if f.byName == nil || len(f.byName) >= maxFound {
		f.byName = make(map[string]chroma.Lexer)
	}
	f.byName[lang] = lexerRegistry().Get(lang)
	return f.byName[lang]
}

// tint is the role of the code from the end of the previous tint up to end.
type tint struct {
	end  int32
	role themes.Role
}

// tints highlights code, which must end with a newline. It returns nil for code that stays plain. Code that is not
// reached in the time limit stays plain, too. Don't call it on the UI goroutine, because hostile code can cost a
// quarter of a second for each rule that a lexer tries.
func tints(lang, src string) (out []tint) {
	lexer := lexerOf(lang)
	if lexer == nil || len(src) > maxTinted || strings.Count(src, "\n") > maxTintedLines {
		return nil
	}
	defer func() {
		if recover() != nil { // lexers panic on errors
			out = nil
		}
	}()
	next, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, src)
	if err != nil {
		return nil
	}
	pos := 0
	for began := time.Now(); time.Since(began) < passTime; {
		token := next()
		if token == chroma.EOF {
			break
		}
		if !strings.HasPrefix(src[pos:], token.Value) {
			return nil // the tokens do not match the text
		}
		pos += len(token.Value)
		role := tokenRole(token.Type)
		if n := len(out); n > 0 && out[n-1].role == role {
			out[n-1].end = int32(pos)
		} else {
			out = append(out, tint{int32(pos), role})
		}
	}
	return out
}

// lineTints highlights each line of code separately. Don't call it on the UI goroutine.
func lineTints(lang, src string) (out []tint) {
	if lexerOf(lang) == nil {
		return nil
	}
	pos := int32(0)
	began := time.Now()
	for line := range strings.Lines(src) {
		if time.Since(began) > passTime {
			break
		}
		for _, t := range tints(lang, line) {
			out = append(out, tint{pos + t.end, t.role})
		}
		if pos += int32(len(line)); len(out) == 0 || out[len(out)-1].end < pos {
			out = append(out, tint{pos, themes.Code})
		}
	}
	return out
}

// tokenRole returns the role of a token.
func tokenRole(t chroma.TokenType) themes.Role {
	switch t {
	case chroma.KeywordType, chroma.NameFunction, chroma.NameFunctionMagic, chroma.NameClass, chroma.NameBuiltin,
		chroma.NameTag, chroma.NameAttribute, chroma.NameDecorator, chroma.NameException, chroma.NameVariable:
		return themes.SynName
	case chroma.OperatorWord, chroma.NameKeyword:
		return themes.SynKeyword
	case chroma.GenericInserted:
		return themes.DiffAdd
	case chroma.GenericDeleted:
		return themes.DiffDelete
	case chroma.GenericHeading, chroma.GenericSubheading:
		return themes.Heading
	case chroma.GenericStrong:
		return themes.Strong
	case chroma.GenericEmph:
		return themes.Emphasis
	case chroma.GenericPrompt:
		return themes.Muted
	}
	switch {
	case t.InCategory(chroma.Keyword):
		return themes.SynKeyword
	case t.InCategory(chroma.Comment):
		return themes.SynComment
	case t.InSubCategory(chroma.LiteralString):
		return themes.SynString
	case t.InSubCategory(chroma.LiteralNumber):
		return themes.SynNumber
	}
	return themes.Code
}
