package redact

import (
	"reflect"
	"slices"
	"strings"
)

// Key is a secret with the name of what it belongs to: a profile or a variable.
type Key struct{ Name, Value string }

// markBegins starts the text that replaces a known key.
const markBegins = "[key of "

func (k Key) mark() string { return markBegins + k.Name + "]" }

// Keys replaces known keys in texts by the names of their owners. A nil Keys knows no keys. It is safe for
// concurrent use.
type Keys struct {
	forms []Key // encoded values, longest first
}

// NewKeys returns Keys for all keys that are long enough. If two keys have the same value, the name of the first is
// used.
func NewKeys(all ...Key) *Keys {
	k := &Keys{}
	for _, key := range all {
		if key.Value = strings.TrimSpace(key.Value); len(key.Value) < least {
			continue
		}
		once := escaped(key.Value) // JSON-escaped once for the arguments of a call, twice for a text inside them
		for _, form := range []string{key.Value, once, escaped(once)} {
			if !slices.ContainsFunc(k.forms, func(other Key) bool { return other.Value == form }) {
				k.forms = append(k.forms, Key{key.Name, form})
			}
		}
	}
	if len(k.forms) == 0 {
		return nil
	}
	slices.SortStableFunc(k.forms, func(a, b Key) int { return len(b.Value) - len(a.Value) })
	return k
}

// Text replaces the keys in a text.
func (k *Keys) Text(s string) string {
	if k == nil {
		return s
	}
	for _, f := range k.forms {
		if strings.Contains(s, f.Value) {
			s = strings.ReplaceAll(s, f.Value, f.mark())
		}
	}
	return s
}

// Restore puts keys back into a text that a user edited while they were hidden. Only keys in the original text are put
// back.
func (k *Keys) Restore(text, original string) string {
	if k == nil || !Masked(text) {
		return text
	}
	for _, f := range k.forms {
		if strings.Contains(original, f.Value) {
			text = strings.ReplaceAll(text, f.mark(), f.Value)
		}
	}
	return text
}

// Masked reports whether a known key was replaced in a text.
func Masked(text string) bool { return strings.Contains(text, markBegins) }

// Marks returns how many secrets were replaced in a text.
func Marks(text string) int { return strings.Count(text, Mark) + strings.Count(text, markBegins) }

// Hidden returns a copy of a value in whose strings known keys are replaced, or the value itself if it contains none.
// It leaves byte slices alone, because data that a provider signed must not change.
func (k *Keys) Hidden(v any) any {
	if k == nil || v == nil || !k.in(reflect.ValueOf(v)) {
		return v
	}
	return k.without(reflect.ValueOf(v)).Interface()
}

// in reports whether a string in a value contains a key.
func (k *Keys) in(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		s := v.String()
		return slices.ContainsFunc(k.forms, func(f Key) bool { return strings.Contains(s, f.Value) })
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanInterface() && k.in(f) {
				return true
			}
		}
	case reflect.Slice, reflect.Array:
		return k.inList(v)
	case reflect.Map:
		for at := v.MapRange(); at.Next(); {
			if k.in(at.Value()) {
				return true
			}
		}
	case reflect.Pointer, reflect.Interface:
		return !v.IsNil() && k.in(v.Elem())
	default: // no text
	}
	return false
}

func (k *Keys) inList(v reflect.Value) bool {
	for i := 0; i < v.Len() && v.Type().Elem().Kind() != reflect.Uint8; i++ {
		if k.in(v.Index(i)) {
			return true
		}
	}
	return false
}

// without returns a copy of a value with the keys in its strings replaced.
func (k *Keys) without(v reflect.Value) reflect.Value {
	if !k.in(v) {
		return v
	}
	c := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.String:
		c.SetString(k.Text(v.String()))
	case reflect.Struct:
		c.Set(v)
		for i := range v.NumField() {
			if v.Field(i).CanInterface() {
				c.Field(i).Set(k.without(v.Field(i)))
			}
		}
	case reflect.Slice:
		c.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			c.Index(i).Set(k.without(v.Index(i)))
		}
	case reflect.Array:
		for i := range v.Len() {
			c.Index(i).Set(k.without(v.Index(i)))
		}
	case reflect.Map:
		c.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for at := v.MapRange(); at.Next(); {
			c.SetMapIndex(at.Key(), k.without(at.Value()))
		}
	case reflect.Pointer:
		c.Set(reflect.New(v.Type().Elem()))
		c.Elem().Set(k.without(v.Elem()))
	case reflect.Interface:
		c.Set(k.without(v.Elem()))
	default: // no text
	}
	return c
}

// KeyStream replaces keys in a text that arrives in pieces, including keys split between pieces. Its whole output
// equals [Keys.Text] of the whole text. It holds back only text that may be the start of a key. It is not safe for
// concurrent use; the zero KeyStream replaces nothing.
type KeyStream struct {
	keys *Keys
	held string
}

// Stream returns a new KeyStream.
func (k *Keys) Stream() KeyStream { return KeyStream{keys: k} }

// Write adds a piece and returns the text that can be shown now.
func (s *KeyStream) Write(piece string) string {
	if s.keys == nil {
		return piece
	}
	text := s.keys.Text(s.held + piece)
	free := s.keys.free(text)
	s.held = text[free:]
	return text[:free]
}

// Flush returns the text that was held back.
func (s *KeyStream) Flush() string {
	held := s.held
	s.held = ""
	return held
}

// free returns the index up to which a text can be shown: where the longest possible start of a key at the text's end
// begins, or the text's length.
func (k *Keys) free(text string) int {
	at := len(text)
	for _, f := range k.forms {
		for i := max(0, len(text)-len(f.Value)+1); i < at; i++ {
			if text[i] == f.Value[0] && strings.HasPrefix(f.Value, text[i:]) {
				at = i
			}
		}
	}
	return at
}
