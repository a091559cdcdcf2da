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
	want := ui.Shape{Side: 40, Live: 70, Hidden: true}
	if err := saveShape(path, want); err != nil {
		t.Fatal(err)
	}
	if s := loadShape(path); !reflect.DeepEqual(s, want) {
		t.Errorf("read %+v, want %+v", s, want)
	}
	for text, want := range map[string]ui.Shape{"{": {}, `{"side":-5,"live":1000}`: {Side: 20, Live: 80}, `{"left":40,"hidden":["Tasks"]}`: {}} {
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
