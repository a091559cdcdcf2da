package wire_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"buddy/agent/model/wire"
)

// FuzzScan: what Scan accepts is JSON, and every member is what encoding/json finds.
func FuzzScan(f *testing.F) {
	for _, s := range []string{
		`{}`, ` { "a" : "b" , "c" : 12 }`, `{"a":{"b":"}\""},"l":[],"n":null}`, `{"a":"\\","b":"\"","c":"é\u00e9"}`,
		`{"a":1,}`, `{"a":01}`, `{"a":[1]}`, `{"a":tru}`, `{"a" "b"}`, `{"a":"b"}x`, `{"a":"b\"}`, `{`, `{"":""`, `{"a":{"b":[}}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := make(map[string]string)
		plain := true // no member but strings, no odd key
		if !wire.Scan([]byte(s), func(key, value []byte) bool {
			text, ok := wire.Unquote(value)
			plain = plain && ok && utf8.Valid(key) && !bytes.ContainsRune(key, '\\') && json.Valid([]byte(`"`+string(key)+`"`))
			got[string(key)] = text
			return true
		}) || !plain {
			return
		}
		var want map[string]string
		if err := json.Unmarshal([]byte(s), &want); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		for k, v := range want {
			if g, ok := got[k]; !ok || g != v {
				t.Fatalf("%q: %q is %q, want %q", s, k, g, v)
			}
		}
	})
}

// TestScanRefuses: what it does not know is left to encoding/json.
func TestScanRefuses(t *testing.T) {
	for _, s := range []string{``, `[]`, `{"a":[1]}`, `{"a":1.5}`, `{"a":-1}`, `{"a":1`, `{"a":"b}`, `{"a":"b" "c":1}`, `{"a":"b"}{`, `{,"a":1}`, `{"a":{}`} {
		if wire.Scan([]byte(s), func([]byte, []byte) bool { return true }) {
			t.Errorf("%s: accepted", s)
		}
	}
	if wire.Scan([]byte(`{"a":1}`), func([]byte, []byte) bool { return false }) {
		t.Error("member said no")
	}
}
