package quickjson

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// Unmarshal does what json.Unmarshal does. It reads an object into a struct itself and leaves everything else to
// json.Unmarshal. The destination must be a zero value.
func Unmarshal(data []byte, to any) error {
	v := reflect.ValueOf(to).Elem()
	if v.Kind() == reflect.Struct {
		if readFields(v, data) {
			return nil
		}
		v.SetZero()
	}
	return json.Unmarshal(data, to)
}

// readFields reads an object into a struct. If it returns false, the struct may be partly filled.
func readFields(v reflect.Value, object []byte) bool {
	all := fieldsOf(v.Type())
	var seen uint64
	return all.byName != nil && Members(object, func(key, value []byte) bool {
		i, known := all.byName[string(key)]
		if !known {
			return all.unknown(key, value)
		}
		if seen&(1<<i) != 0 {
			return false
		}
		seen |= 1 << i
		field := v.Field(i)
		return readValue(field, value) || json.Unmarshal(value, field.Addr().Interface()) == nil
	})
}

// unknown reports whether a member is valid and matches none of the fields, whose names json.Unmarshal compares without
// regard to case.
func (f fields) unknown(key, value []byte) bool {
	for _, b := range key {
		if b >= 0x80 { // some of these letters equal an ASCII letter in another case
			return false
		}
	}
	if f.folded[strings.ToLower(string(key))] {
		return false
	}
	if value[0] == '"' {
		_, ok := String(value)
		return ok
	}
	return json.Valid(value)
}

var rawMessage = reflect.TypeFor[json.RawMessage]()

// readValue reads a string, a whole number or raw JSON into a field of that type.
func readValue(field reflect.Value, value []byte) bool {
	switch {
	case field.Type() == rawMessage:
		ok := json.Valid(value)
		if ok {
			field.SetBytes(bytes.Clone(value))
		}
		return ok
	case field.Kind() == reflect.String:
		text, ok := String(value)
		if ok {
			field.SetString(text)
		}
		return ok
	case field.CanInt():
		n, ok := digits(value)
		if ok = ok && !field.OverflowInt(n); ok {
			field.SetInt(n)
		}
		return ok
	case field.CanUint():
		n, ok := digits(value)
		if ok = ok && !field.OverflowUint(uint64(n)); ok { //nolint:gosec // it is not negative
			field.SetUint(uint64(n)) //nolint:gosec // as above
		}
		return ok
	}
	return false
}

// digits reads a non-negative number of at most 18 digits.
func digits(value []byte) (n int64, ok bool) {
	if len(value) == 0 || len(value) > 18 || value[0] == '0' && len(value) > 1 {
		return 0, false
	}
	for _, b := range value {
		if b < '0' || b > '9' {
			return 0, false
		}
		n = 10*n + int64(b-'0')
	}
	return n, true
}

// maxFields limits the fields of a struct that readFields reads, because it keeps one bit for each.
const maxFields = 64

// fields describes the fields of a struct.
type fields struct {
	byName map[string]int  // indexes by JSON name; nil: only json.Unmarshal can read the struct
	folded map[string]bool // the names in lower case
}

// fieldLists caches the results of fieldsOf, by type.
var fieldLists sync.Map

// fieldsOf returns the fields of a struct.
func fieldsOf(t reflect.Type) fields {
	if known, ok := fieldLists.Load(t); ok {
		return known.(fields)
	}
	all := fields{byName: make(map[string]int), folded: make(map[string]bool)}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if _, twice := all.byName[name]; twice || name == "" || i >= maxFields || f.Anonymous || options == "string" || readsItself(f.Type) {
			all = fields{}
			break
		}
		all.byName[name], all.folded[strings.ToLower(name)] = i, true
	}
	fieldLists.Store(t, all)
	return all
}

// readsItself reports whether a string or number type has its own decoding for json.Unmarshal.
func readsItself(t reflect.Type) bool {
	p, v := reflect.PointerTo(t), reflect.Zero(t)
	return (v.Kind() == reflect.String || v.CanInt() || v.CanUint()) && (p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()))
}
