package fullscreen

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"buddy/app/ui"
)

func TestShapeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b.json")
	if s := loadShape(path); !reflect.DeepEqual(s, ui.Shape{}) {
		t.Errorf("without a file: %+v", s)
	}
	want := ui.Shape{Left: 40, Upper: 70, Hidden: []string{"Tasks"}}
	if err := saveShape(path, want); err != nil {
		t.Fatal(err)
	}
	if s := loadShape(path); !reflect.DeepEqual(s, want) {
		t.Errorf("read %+v, want %+v", s, want)
	}
	for text, want := range map[string]ui.Shape{"{": {}, `{"left":-5,"upper":1000}`: {Left: 20, Upper: 80}} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if s := loadShape(path); !reflect.DeepEqual(s, want) {
			t.Errorf("%s: %+v, want %+v", text, s, want)
		}
	}
	if shapeFile("/a") == shapeFile("/b") {
		t.Error("two folders share a file")
	}
}
