package quickjson

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
)

func FuzzString(f *testing.F) {
	for _, s := range []string{
		`"a"`, `""`, `"a\nb\t\"\\\/\u00e9\u2028"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\u00"`, `"\x"`, `"\"`, `"\\"`, `"a"b"`, "\"a\nb\"", "\"\xff\"", ` "a"`, `null`, `"é😀"`, `"\u0000"`, `"\u00G0"`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, ok := String(raw)
		if !ok {
			return
		}
		var want string
		if err := json.Unmarshal(raw, &want); err != nil || got != want {
			t.Errorf("%q is %q, want %q, %v", raw, got, want, err)
		}
	})
}

func FuzzMembers(f *testing.F) {
	for _, s := range []string{
		`{}`, ` { } `, `{"a":1}`, `{"a":"x\"}","b":[1,{"c":"]"}],"d":null , "e" : true}`, `{"a":,"b":1}`, `{"a":1,}`, `{,}`, `{"a":1}x`, `{"a":1 2}`, `{"a":}`, `{"a":[1}}`, `{"a\u0062":1}`, `{"a":1,"a":2}`, `[1]`, `{"a":{"b":1}`, `{"a":]`, `{"a" 1}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := make(map[string]string)
		valid := true
		if !Members(data, func(key, value []byte) bool {
			var v any
			valid = valid && json.Unmarshal(value, &v) == nil
			got[string(key)] = strings.TrimSpace(string(value))
			return true
		}) || !valid {
			return
		}
		var all map[string]json.RawMessage
		if err := json.Unmarshal(data, &all); err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		want := make(map[string]string)
		for key, raw := range all {
			want[key] = string(raw)
		}
		if !maps.Equal(got, want) {
			t.Errorf("%q has %q, want %q", data, got, want)
		}
	})
}

// TestUsualForm: what encoding/json writes is read here.
func TestUsualForm(t *testing.T) {
	texts := map[string]string{"text": "a \"line\"\n\ttab <b> & \u2028 é 😀 \x00\x1f\x7f \\ /", "empty": ""}
	data, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	if !Members(data, func(key, value []byte) bool {
		s, ok := String(value)
		got[string(key)] = s
		return ok
	}) || !maps.Equal(got, texts) {
		t.Errorf("%s is read as %q", data, got)
	}
	if Members(data, func(_, _ []byte) bool { return false }) {
		t.Error("ended early, and all was read")
	}
}

func BenchmarkString(b *testing.B) {
	raw, err := json.Marshal(strings.Repeat("a line of an output\n", 1000))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := String(raw); !ok {
			b.Fatal("not read")
		}
	}
}
