package event

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"testing"
)

// TestCommandsAreReadAsTheyWereWritten: every field of every command.
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

// TestEveryCommandHasAName reads the source for types that are commands.
func TestEveryCommandHasAName(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "command.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool)
	for _, c := range commands {
		names[reflect.TypeOf(c).Name()] = true
	}
	count := 0
	for _, d := range f.Decls {
		m, ok := d.(*ast.FuncDecl)
		if !ok || m.Name.Name != "command" {
			continue
		}
		count++
		if name := m.Recv.List[0].Type.(*ast.Ident).Name; !names[name] {
			t.Errorf("command %s has no name on the wire", name)
		}
	}
	if count != len(commands) || count == 0 {
		t.Errorf("%d commands, %d names", count, len(commands))
	}
}

// TestBadCommandsAreRefused: nothing that is not a command becomes one.
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
