package redact

import "strings"

// secret reports whether the value after a name is a secret, rather than a placeholder, a variable, code or a word.
func (p *notation) secret(is class, v string) bool {
	if len(v) < 6 || refers(v) || p.quote == 0 && !p.markup && strings.ContainsAny(v, "([{") {
		return false
	}
	f := look(v)
	if p.inside && (len(v) < 16 || f.digits == 0 || !random(v)) {
		return false // code or a sentence
	}
	if is == ofPassword {
		return p.password(v, f)
	}
	return p.token(v, f)
}

// password reports whether a value looks like a password, given that a name such as "password" precedes it: it has
// letters and digits, or signs.
func (p *notation) password(v string, f features) bool {
	switch {
	case f.blanks > 0:
		return f.digits > 0 && f.letters > 0 && f.signs > 0
	case p.quote == 0 && f.dots > 0 && f.signs == 0 && !p.tight:
		return false // a field of a variable
	case f.slashes > 0 && !random(v):
		return false // a path
	case f.digits > 0:
		return f.letters > 0 || f.signs > 0 || f.digits == len(v)
	}
	return f.signs > 0 && f.letters > 2
}

// token reports whether a value looks like a key or token, given that a name such as "token" precedes it.
func (p *notation) token(v string, f features) bool {
	switch {
	case len(v) < 8 || f.blanks > 0 || f.slashes > 0 && !random(v) || strings.Contains(v, "://"):
		return false
	case p.tight && p.quote == 0:
		return f.digits > 0 && f.letters > 0
	case random(v):
		return true
	}
	return len(v) >= 10 && f.digits > 0 && f.letters > 0 && f.separators+f.dots+f.slashes == 0
}

// features counts the characters of a value.
type features struct{ letters, digits, signs, separators, dots, slashes, blanks int }

func look(v string) features {
	var f features
	for i := range len(v) {
		switch c := v[i]; {
		case digits[c]:
			f.digits++
		case alnum[c]:
			f.letters++
		case c == ' ' || c == '\t':
			f.blanks++
		case c == '/':
			f.slashes++
		case c == '.':
			f.dots++
		case c == '-' || c == '_' || c == ':':
			f.separators++
		case c > ' ' && c < 0x7f:
			f.signs++
		}
	}
	return f
}

// mixed reports whether a value has letters, and digits or signs.
func mixed(v string) bool {
	f := look(v)
	return f.letters > 0 && f.digits+f.signs > 0
}

// random reports whether digits, capitals and small letters alternate more often than in a name. A capital at the start
// of a word does not count.
func random(v string) bool {
	changes, last := 0, other
	for i := range len(v) {
		c := kindOf(v[i])
		if c == other {
			continue
		}
		if last != other && c != last && (last != capital || c != small) {
			changes++
		}
		last = c
	}
	return len(v) >= 12 && changes >= max(3, len(v)/5)
}

var placeholders = []string{
	Mark, "${", "$(", "{{", "#{", "<%", "%(", "...", "xxxx", "****", "your_", "your-", "yoursecret", "yourtoken", "yourpass", "_here", "-here",
	"changeme", "placeholder", "getenv", "environ", "env.", "secrets.", "var.",
}

// refers reports whether a value is a placeholder or the name of a variable.
func refers(v string) bool {
	if v[0] == '$' && (word[v[1]] && !digits[v[1]]) || v[0] == '<' && v[len(v)-1] == '>' || v[0] == '%' && v[len(v)-1] == '%' ||
		strings.Trim(v, v[:1]) == "" {
		return true
	}
	lower := strings.ToLower(v)
	return containsAny(lower, placeholders)
}
