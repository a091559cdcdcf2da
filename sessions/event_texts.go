package sessions

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"buddy/agent/event"
)

// textless lists the fields without texts, by name, or as Type.Name if another type has texts in a field of that name.
var textless = strings.Fields(`
	ID CallID CallIDs Call Calls TurnID ToolCallID Pane Session
	Commit Definition Digest Sum FileSum LineSum After
	Name Tool Model Profile API Effort Target Server Servers
	Cwd Dir Copy KeptFile.Path Seen FullOutput
	By Code Date Event FinishReason Kinds MediaType Method Origin Scope Scopes State StopReason Version
	Extra`) // in this order: ids, hashes, names, paths, values of fixed sets, and data that a provider needs back unchanged

// eventTexts calls f for each text of an event that a person may have read or written, and returns the event with the
// results. It skips the textless fields, enumerations (strings with a type of their own), keys of maps, and raw data.
func eventTexts(e event.Event, f func(string) string) event.Event {
	v := reflect.New(reflect.TypeOf(e)).Elem()
	v.Set(reflect.ValueOf(e))
	editTexts(v, f)
	return v.Interface().(event.Event) //nolint:forcetypeassert // it has the type of e
}

// editTexts applies f to the texts in v, a value that can be set. It copies what v shares with other values.
func editTexts(v reflect.Value, f func(string) string) {
	switch v.Kind() { //nolint:exhaustive // holdsText rejects the others
	case reflect.String:
		if v.Len() > 0 {
			v.SetString(f(v.String()))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			c := reflect.New(v.Type().Elem())
			c.Elem().Set(v.Elem())
			editTexts(c.Elem(), f)
			v.Set(c)
		}
	case reflect.Slice:
		if !v.IsNil() {
			c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(c, v)
			for i := range c.Len() {
				editTexts(c.Index(i), f)
			}
			v.Set(c)
		}
	case reflect.Map:
		if !v.IsNil() {
			c := reflect.MakeMapWithSize(v.Type(), v.Len())
			for key, old := range v.Seq2() {
				text := reflect.New(old.Type()).Elem()
				text.Set(old)
				editTexts(text, f)
				c.SetMapIndex(key, text)
			}
			v.Set(c)
		}
	case reflect.Struct:
		for _, i := range textFields(v.Type()) {
			editTexts(v.Field(i), f)
		}
	}
}

// knownFields caches the results of textFields.
var knownFields sync.Map

// textFields returns the indexes of the fields of a struct that hold texts.
func textFields(t reflect.Type) (all []int) {
	if known, ok := knownFields.Load(t); ok {
		return known.([]int) //nolint:forcetypeassert // nothing else is stored
	}
	for i := range t.NumField() {
		field := t.Field(i)
		if !slices.Contains(textless, field.Name) && !slices.Contains(textless, t.Name()+"."+field.Name) && holdsText(field.Type) {
			all = append(all, i)
		}
	}
	knownFields.Store(t, all)
	return all
}

func holdsText(t reflect.Type) bool {
	switch t.Kind() { //nolint:exhaustive // others hold no texts
	case reflect.String:
		return t == reflect.TypeFor[string]()
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return holdsText(t.Elem())
	case reflect.Struct:
		return len(textFields(t)) > 0
	}
	return false
}
