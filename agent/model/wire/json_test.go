package wire_test

import (
	"encoding/json"
	"testing"

	"buddy/agent/model/wire"
)

// A string is read as encoding/json reads it.
func FuzzString(f *testing.F) {
	for _, s := range []string{`"a"`, `""`, `"`, `"a\nb"`, `"a"b"`, `"日本"`, "\"\xff\"", "\"\ufffd\"", "\"a\nb\"", `null`, ` null `, `1`, `{"value":"a"}`, ` "a" `, `"\ud83d\ude00"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var want any
		_ = json.Unmarshal(raw, &want)
		text, isString := want.(string)
		if got, ok := wire.String(raw); got != text || ok != isString {
			t.Errorf("%q gives %q, %v, want %q, %v", raw, got, ok, text, isString)
		}
	})
}
