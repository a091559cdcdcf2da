package quickjson

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// Unmarshal does what json.Unmarshal does, which it leaves to that for all but an object that a struct takes. to points to a
// zero value.
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

// readFields reads an object into a struct. If it reports false the struct may be half filled.
func readFields(v reflect.Value, object []byte) bool {
	fields := fieldsOf(v.Type())
	var seen uint64
	return fields != nil && Members(object, func(key, value []byte) bool {
		i, known := fields[string(key)]
		if !known || seen&(1<<i) != 0 {
			return false
		}
		seen |= 1 << i
		field := v.Field(i)
		return readValue(field, value) || json.Unmarshal(value, field.Addr().Interface()) == nil
	})
}

// readValue reads a string or a whole number into a field of that kind.
func readValue(field reflect.Value, value []byte) bool {
	switch {
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

// digits reads a number that is not negative and has no more than 18 digits.
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

// maxFields is how many fields a struct may have that readFields reads.
const maxFields = 64

// fieldLists holds what fieldsOf has found, by type.
var fieldLists sync.Map

// fieldsOf returns the fields of a struct by their names in JSON, nil for one that json.Unmarshal has to read.
func fieldsOf(t reflect.Type) map[string]int {
	if known, ok := fieldLists.Load(t); ok {
		return known.(map[string]int)
	}
	fields := make(map[string]int)
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if _, twice := fields[name]; twice || name == "" || i >= maxFields || f.Anonymous || options == "string" || readsItself(f.Type) {
			fields = nil
			break
		}
		fields[name] = i
	}
	fieldLists.Store(t, fields)
	return fields
}

// readsItself reports whether a string or a number is more than that for json.Unmarshal.
func readsItself(t reflect.Type) bool {
	p, v := reflect.PointerTo(t), reflect.Zero(t)
	return (v.Kind() == reflect.String || v.CanInt() || v.CanUint()) && (p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()))
}
