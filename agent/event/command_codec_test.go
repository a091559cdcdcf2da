package event

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCommandsAreReadAsTheyWereWritten round-trips every field of every command.
func TestCommandsAreReadAsTheyWereWritten(t *testing.T) {
	for name, c := range commands {
		zero, full := reflect.New(reflect.TypeOf(c)), reflect.New(reflect.TypeOf(c))
		n := 0
		fill(t, full.Elem(), &n)
		for _, want := range []reflect.Value{zero, full} {
			got, payload, err := EncodeCommand(want.Elem().Interface().(Command))
			if err != nil || got != name {
				t.Fatalf("%s: %q, %v", name, got, err)
			}
			back, err := DecodeCommand(name, payload)
			if err != nil || !reflect.DeepEqual(back, want.Elem().Interface()) {
				t.Errorf("%s: %s was read as %+v, %v", name, payload, back, err)
			}
		}
	}
}

func TestEveryCommandHasAName(t *testing.T) {
	var named []string
	for _, c := range commands {
		named = append(named, reflect.TypeOf(c).Name())
	}
	slices.Sort(named)
	if d := cmp.Diff(declared(t, "command"), named); d != "" {
		t.Errorf("types with a method command (-) and with a name on the wire (+):\n%s", d)
	}
}

func TestBadCommandsAreRefused(t *testing.T) {
	for _, tt := range []struct{ name, payload string }{
		{"shutdown", "{}"}, {"", "{}"}, {"submit", `{"text":1}`}, {"submit", `[]`}, {"submit", ``}, {"cancel", `{"task":"x"}`},
	} {
		if c, err := DecodeCommand(tt.name, []byte(tt.payload)); err == nil {
			t.Errorf("%s %s became %+v", tt.name, tt.payload, c)
		}
	}
	if c, err := DecodeCommand("submit", []byte(`{"text":"hi","later":1}`)); err != nil || !reflect.DeepEqual(c, Submit{Text: "hi"}) {
		t.Errorf("%+v, %v", c, err)
	}
}
