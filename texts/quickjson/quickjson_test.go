package quickjson

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
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

// word is a string with its own decoding.
type word string

func (w *word) UnmarshalText(text []byte) error { *w = word("<" + string(text) + ">"); return nil }

// record has fields of all supported types, and some of others.
type record struct {
	Text   string          `json:"text"`
	Small  int8            `json:"small,omitempty"`
	Large  uint64          `json:"large"`
	Yes    bool            `json:"yes"`
	Parts  []string        `json:"parts"`
	Inner  struct{ A int } `json:"inner"`
	Any    any             `json:"any"`
	Hidden string          `json:"-"`
}

func FuzzUnmarshal(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"text":"a\n","small":3,"large":12345678901234567890,"yes":true,"parts":["x"],"inner":{"A":1},"any":[1,{"b":null}]}`,
		`{"small":300}`, `{"small":-3,"large":-1}`, `{"large":007}`, `{"large":1.5}`, `{"large":1e3}`, `{"text":null,"large":null}`, `{"TEXT":"folded"}`, `{"text":"a","text":"b"}`,
		`{"text":1}`, `{"small":"1"}`, `{"-":"x","Hidden":"y"}`, `{"unknown":{"a":]}}`, `{"any":tru}`, `{"large":+1}`, `{"large":1_0}`, `{"unknown":"\ud800","Raw":1}`, `{"raw":{"a" : [1, "x"]},"unknown":{"a":1}}`, `{"raw":null}`, `{"raw":]}`, `{"ſmall":1}`, `{"large":}`, `null`, `[]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var got, want record
		err, wantErr := Unmarshal(data, &got), json.Unmarshal(data, &want)
		if (err == nil) != (wantErr == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %+v, %v; want %+v, %v", data, got, err, want, wantErr)
		}
	})
}

// TestTypesThatReadThemselves: types with their own decoding are left to encoding/json.
func TestTypesThatReadThemselves(t *testing.T) {
	var got, want struct {
		Word word `json:"word"`
	}
	data := []byte(`{"word":"x"}`)
	if err := errors.Join(Unmarshal(data, &got), json.Unmarshal(data, &want)); err != nil || got != want || got.Word != "<x>" {
		t.Errorf("%+v, want %+v, %v", got, want, err)
	}
}

// TestUsualForm: the output of encoding/json is read without encoding/json.
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
