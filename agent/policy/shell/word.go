package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"buddy/texts"
)

// kind classifies how much is known about a value.
type kind int

const (
	literal kind = iota // text is the value
	pattern             // text is a glob; literal characters are escaped by \
	dynamic             // known only at run time
)

// val is one possible value of a word.
type val struct {
	text string // for computed values: the known start
	kind kind
}

// arg is a word of a command.
type arg struct {
	vals    []val  // one, or those of a loop or an assignment
	src     string // source, for display
	split   bool   // may become no word or several
	odd     bool   // other shells read it differently: not allowed in a deciding word
	expands bool   // contains the value of a variable
	fetches bool   // contains the output of a download
}

// lit returns the word's value if it is known and can be no other.
func (w arg) lit() (string, bool) {
	if len(w.vals) != 1 || w.vals[0].kind != literal || w.odd {
		return "", false
	}
	return w.vals[0].text, true
}

// dynamic reports whether a part of the word is computed.
func (w arg) dynamic() bool {
	return slices.ContainsFunc(w.vals, func(v val) bool { return v.kind == dynamic })
}

// dash reports whether the word may turn out to start with a dash.
func (w arg) dash() bool {
	for _, v := range w.vals {
		switch {
		case v.kind == dynamic && v.text == "":
			return true
		case v.text != "" && (v.text[0] == '-' || v.kind == pattern && strings.IndexByte("*?[", v.text[0]) >= 0):
			return true
		}
	}
	return false
}

func (w arg) public() Arg {
	if s, ok := w.lit(); ok {
		return Arg{Text: s}
	}
	if len(w.vals) == 1 && w.vals[0].kind == literal {
		return Arg{Text: w.vals[0].text, Odd: true}
	}
	globs := slices.ContainsFunc(w.vals, func(v val) bool { return v.kind == pattern })
	return Arg{Text: w.src, Dynamic: w.dynamic(), Pattern: globs && !w.dynamic(), Odd: w.odd || len(w.vals) > 1}
}

func literalArg(s string) arg { return arg{vals: []val{{text: s}}, src: s} }

// args evaluates the words of a command; braces may turn one into several.
func (a *analyser) args(words []*syntax.Word) []arg {
	var out []arg
	for _, w := range words {
		out = append(out, a.braces(w)...)
	}
	return out
}

// braces expands {a,b} and {1..3}. A POSIX shell leaves the word as it is, so none of the results may be a flag.
func (a *analyser) braces(w *syntax.Word) []arg {
	whole := a.word(w)
	split := *w
	if !syntax.SplitBraces(&split) {
		return []arg{whole}
	}
	var out []arg
	for word, err := range expand.BracesSeq(nil, &split) {
		if err != nil || len(out) >= maxValues {
			a.rep.other("its braces expand to too many words")
			return out
		}
		one := a.word(word)
		one.odd, one.src = true, whole.src
		out = append(out, one)
	}
	if len(out) == 1 { // {} and the like
		return []arg{whole}
	}
	return out
}

func (a *analyser) word(w *syntax.Word) arg {
	if w == nil {
		return literalArg("")
	}
	b := &builder{a: a, vals: []val{{}}}
	for i, p := range w.Parts {
		b.part(p, false, i == 0, i == len(w.Parts)-1)
	}
	b.arg.vals, b.arg.src = b.vals, source(w)
	for i := range b.arg.vals {
		v := &b.arg.vals[i]
		if b.bare && lookAlike(v.text) {
			a.rep.other("it has a character that looks like another: " + texts.ClipBytes(b.arg.src, 60))
		}
		if v.kind == literal && b.globs {
			v.kind = pattern
		} else if v.kind != pattern {
			v.text = unescape(v.text)
		}
	}
	return b.arg
}

func source(w *syntax.Word) string {
	if len(w.Parts) == 1 {
		if l, ok := w.Parts[0].(*syntax.Lit); ok {
			return l.Value
		}
	}
	var sb strings.Builder
	if err := syntax.NewPrinter(syntax.SingleLine(true)).Print(&sb, w); err != nil {
		return "?"
	}
	return strings.ReplaceAll(sb.String(), "\n", " ")
}

// builder joins the parts of a word. Until the word is complete, every text is a pattern, in which \ escapes literal
// characters.
type builder struct {
	a     *analyser
	arg   arg
	vals  []val
	globs bool // contains a glob character
	bare  bool // has unquoted characters outside ASCII
}

func (b *builder) part(p syntax.WordPart, quoted, first, last bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		b.lit(p.Value, quoted, first, last)
	case *syntax.SglQuoted:
		b.single(p)
	case *syntax.DblQuoted:
		if p.Dollar {
			b.unknown("it has a translated string $\"…\"")
		}
		for _, q := range p.Parts {
			b.part(q, true, false, false)
		}
	case *syntax.ParamExp:
		b.arg.expands = true
		b.param(p, quoted)
	case *syntax.CmdSubst:
		b.substitution(p, quoted)
	case *syntax.ArithmExp:
		b.a.words(p)
		b.text("1")
	case *syntax.ProcSubst:
		b.process(p)
	default:
		b.unknown("it has an extended pattern")
	}
}

func (b *builder) text(s string) { b.add(escape(s)) }

func (b *builder) add(s string) {
	for i := range b.vals {
		switch v := &b.vals[i]; v.kind {
		case literal, pattern:
			v.text += s
		}
	}
}

// lit appends an unquoted part or, if quoted, a part in double quotes, where \ escapes fewer characters.
func (b *builder) lit(s string, quoted, first, last bool) {
	if quoted {
		b.quoted(s)
		return
	}
	b.bare = b.bare || !ascii(s)
	if first {
		s = b.tilde(s)
	}
	var sb strings.Builder
	closed := strings.LastIndexByte(s, ']')
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			switch i++; {
			case i == len(s):
				sb.WriteString(`\\`)
			case s[i] != '\n':
				sb.WriteString(escape(s[i : i+1]))
			}
			continue
		case '[':
			if last && closed < i {
				sb.WriteString(`\[`)
				continue
			}
			b.globs = true
		case '*', '?':
			b.globs = true
		}
		sb.WriteByte(s[i])
	}
	b.add(sb.String())
}

func (b *builder) quoted(s string) {
	var sb strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			if i++; s[i] == '\n' {
				continue
			}
		}
		sb.WriteByte(s[i])
	}
	b.text(sb.String())
}

// tilde replaces a leading ~ by the home folder, if known.
func (b *builder) tilde(s string) string {
	if len(s) > 1 && s[0] == '=' {
		b.a.rep.other("a word that starts with = is the path of a command in other shells")
	}
	rest, ok := strings.CutPrefix(s, "~")
	if ok && (rest == "" || rest[0] == '/') && b.a.folders.env.Home != "" {
		b.text(b.a.folders.env.Home)
		return rest
	}
	return s
}

// sameEscapes matches text for $'…' that all shells with this form read alike. It excludes \', which ends the text in a
// POSIX shell.
var sameEscapes = texts.Regexp(`^([^\\]|\\[nt\\"])*$`)

func (b *builder) single(q *syntax.SglQuoted) {
	text := q.Value
	if q.Dollar {
		if !sameEscapes().MatchString(text) {
			b.unknown("it has an escape in $'…'")
			return
		}
		b.arg.odd = true
		text, _, _ = expand.Format(nil, text, nil)
	}
	b.text(text)
}

// unknown marks the word as unknown, so that the script is not read-only.
func (b *builder) unknown(why string) {
	b.a.rep.other(why)
	b.computed(val{kind: dynamic})
}

// computed appends a value that is known only at run time. The text before it is kept as the word's known start.
func (b *builder) computed(add val) {
	b.a.rep.Dynamic = true
	for i := range b.vals {
		v := &b.vals[i]
		switch {
		case v.kind == dynamic:
		case v.text == "" && v.kind == literal:
			*v = add
		default:
			v.kind = dynamic
		}
	}
}

func (b *builder) alternatives(values []val) {
	if len(b.vals)*len(values) > maxValues {
		b.computed(val{kind: dynamic})
		return
	}
	var out []val
	for _, v := range b.vals {
		for _, add := range values {
			out = append(out, join(v, add))
		}
	}
	b.vals = out
}

func join(v, add val) val {
	switch {
	case v.kind == dynamic:
		return v
	case add.kind == pattern:
		v.text += add.text
	default:
		v.text += escape(add.text)
	}
	v.kind = max(v.kind, add.kind)
	return v
}

func escape(s string) string {
	if !strings.ContainsAny(s, `*?[\`) {
		return s
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}

func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var sb strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		sb.WriteByte(s[i])
	}
	return sb.String()
}
