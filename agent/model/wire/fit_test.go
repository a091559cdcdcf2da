package wire

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"slices"
	"strings"
	"testing"

	"buddy/agent/model"
	"buddy/agent/model/picture"
)

// drawn is a picture in one colour, as a file in a format.
func drawn(t *testing.T, format string, width, height int) model.Image {
	t.Helper()
	var out bytes.Buffer
	p := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.White, color.Black})
	encode := func() error { return png.Encode(&out, p) }
	if format == "gif" {
		encode = func() error { return gif.Encode(&out, p, nil) }
	}
	if err := encode(); err != nil {
		t.Fatal(err)
	}
	i, err := model.NewImage(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// TestPicturesFitTheProvider: pictures are within the provider's limits for pixels and format. The history keeps the
// originals.
func TestPicturesFitTheProvider(t *testing.T) {
	large, small := drawn(t, "png", 3000, 1000), drawn(t, "gif", 30, 20)
	for base, want := range map[string]struct{ width, height int }{
		"https://api.anthropic.com":      {2000, 666},
		"https://api.openai.com/v1":      {2048, 682},
		"https://api.groq.com/openai/v1": {2000, 666},
		"http://localhost:8080/v1":       {2000, 666},
	} {
		f := &fitter{takes: takenAt(base)}
		history := []model.Message{{Role: model.User, Content: "look", Images: []model.Image{large, small}}}
		got := f.fit(model.Request{Messages: history}).Messages[0]
		if len(got.Images) != 2 || got.Content != "look" || &history[0].Images[0].Data[0] != &large.Data[0] || &history[0].Images[1].Data[0] != &small.Data[0] {
			t.Fatalf("%s: %d pictures, %q", base, len(got.Images), got.Content)
		}
		c, _, err := image.DecodeConfig(bytes.NewReader(got.Images[0].Data))
		if err != nil || c.Width != want.width || c.Height != want.height {
			t.Errorf("%s: %d × %d, %v; want %v", base, c.Width, c.Height, err, want)
		}
		portable := !strings.Contains(base, "anthropic") && !strings.Contains(base, "openai.com")
		if (got.Images[1].MediaType == "image/png") != portable {
			t.Errorf("%s: the GIF goes as %s", base, got.Images[1].MediaType)
		}
		again := f.fit(model.Request{Messages: history}).Messages[0]
		if &again.Images[0].Data[0] != &got.Images[0].Data[0] {
			t.Errorf("%s: it was made smaller a second time", base)
		}
	}
}

// TestPictureThatCannotFit: a text replaces it, and other pictures are sent.
func TestPictureThatCannotFit(t *testing.T) {
	good := drawn(t, "png", 3, 3)
	cut := drawn(t, "png", 4000, 4000)
	cut.Data = cut.Data[:len(cut.Data)/2]
	f := &fitter{takes: takenAt("")}
	got := f.fit(model.Request{Messages: []model.Message{{Role: model.User, Images: []model.Image{cut, good}}}}).Messages[0]
	if len(got.Images) != 1 || !strings.HasPrefix(got.Content, "[picture left out: the picture can't be read: ") {
		t.Errorf("%d pictures, %q", len(got.Images), got.Content)
	}
}

// TestTooManyPictures: the oldest are left out, several at once, so that a request usually starts like the one before.
func TestTooManyPictures(t *testing.T) {
	for _, tt := range []struct {
		name  string
		takes pictures
		sizes []int
		want  int
	}{
		{"no limit", pictures{}, make([]int, 900), 0},
		{"as many as are taken", pictures{number: 8}, make([]int, 8), 0},
		{"one more", pictures{number: 8}, make([]int, 9), 4},
		{"the next ones", pictures{number: 8}, make([]int, 12), 4},
		{"more again", pictures{number: 8}, make([]int, 13), 8},
		{"of which one is taken", pictures{number: 1}, make([]int, 3), 2},
		{"bytes", pictures{total: 100}, []int{30, 30, 30}, 0},
		{"too many bytes", pictures{total: 100}, []int{30, 30, 30, 30}, 3},
		{"one that is too large alone", pictures{total: 100}, []int{130}, 1},
		{"both", pictures{number: 2, total: 100}, []int{1, 1, 90, 90}, 4},
	} {
		if got := tt.takes.tooMany(tt.sizes); got != tt.want {
			t.Errorf("%s: %d go, want %d", tt.name, got, tt.want)
		}
	}
	one := drawn(t, "png", 3, 3)
	f := &fitter{takes: pictures{each: picture.Limits{}, number: 3}}
	var msgs []model.Message
	var before []model.Message
	same := 0
	for n := range 12 {
		msgs = append(msgs, model.Message{Role: model.User, Content: strings.Repeat("x", n), Images: []model.Image{one}})
		now := f.fit(model.Request{Messages: msgs}).Messages
		left := 0
		for _, m := range now {
			left += len(m.Images)
		}
		if left == 0 || left > 3 || len(now[n].Images) != 1 {
			t.Errorf("%d of %d pictures are sent", left, n+1)
		}
		if slices.EqualFunc(before, now[:n], func(a, b model.Message) bool { return a.Content == b.Content && len(a.Images) == len(b.Images) }) {
			same++
		}
		before = now
	}
	if same < 3 {
		t.Errorf("%d of 12 requests begin as the one before", same)
	}
}
