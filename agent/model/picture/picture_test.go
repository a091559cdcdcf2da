package picture_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"buddy/agent/model/picture"
)

// noise is a picture that no format compresses well, with a red left half and a blue right half.
func noise(w, h int) image.Image {
	p, r := image.NewNRGBA(image.Rect(0, 0, w, h)), rand.New(rand.NewPCG(1, 2))
	for y := range h {
		for x := range w {
			c := color.NRGBA{uint8(128 + r.IntN(128)), uint8(r.IntN(32)), uint8(r.IntN(32)), 255}
			if x >= w/2 {
				c.R, c.B = c.B, c.R
			}
			p.SetNRGBA(x, y, c)
		}
	}
	return p
}

func encoded(t *testing.T, format string, p image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	var err error
	switch format {
	case "png":
		err = png.Encode(&out, p)
	case "jpeg":
		err = jpeg.Encode(&out, p, nil)
	case "gif":
		err = gif.Encode(&out, p, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestFit: the result is within the limits, has the input's shape, and is the input itself if that was within the
// limits.
func TestFit(t *testing.T) {
	for _, tt := range []struct {
		name          string
		format        string
		width, height int
		l             picture.Limits
		want          image.Point
		in            string // format of the result; "" is the same file
	}{
		{"fit", "png", 40, 20, picture.Limits{Side: 40, Pixels: 800, Bytes: 1 << 20}, image.Pt(40, 20), ""},
		{"no limit", "gif", 40, 20, picture.Limits{}, image.Pt(40, 20), ""},
		{"too wide", "png", 400, 200, picture.Limits{Side: 100}, image.Pt(100, 50), "png"},
		{"too high", "jpeg", 100, 300, picture.Limits{Side: 200}, image.Pt(66, 200), "jpeg"},
		{"a little too wide", "png", 101, 50, picture.Limits{Side: 100}, image.Pt(100, 49), "png"},
		{"one line", "png", 300, 1, picture.Limits{Side: 10}, image.Pt(10, 1), "png"},
		{"too many pixels", "png", 400, 100, picture.Limits{Pixels: 10_000}, image.Pt(200, 50), "png"},
		{"both", "png", 400, 100, picture.Limits{Side: 300, Pixels: 2_500}, image.Pt(100, 25), "png"},
		{"a format that is not taken", "gif", 40, 20, picture.Limits{Formats: []string{}}, image.Pt(40, 20), "png"},
		{"one that is", "gif", 40, 20, picture.Limits{Formats: []string{"gif"}}, image.Pt(40, 20), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := encoded(t, tt.format, noise(tt.width, tt.height))
			got, err := picture.Fit(file, tt.l)
			if err != nil {
				t.Fatal(err)
			}
			if (tt.in == "") != bytes.Equal(got, file) {
				t.Errorf("the same file: %v", bytes.Equal(got, file))
			}
			p, format, err := image.Decode(bytes.NewReader(got))
			if err != nil || p.Bounds().Size() != tt.want || tt.in != "" && format != tt.in {
				t.Errorf("%v %s, %v; want %v %s", p.Bounds(), format, err, tt.want, tt.in)
			}
			left, _, leftBlue, _ := p.At(0, 0).RGBA()
			right, _, rightBlue, _ := p.At(tt.want.X-1, tt.want.Y-1).RGBA()
			if left < 2*leftBlue || rightBlue < 2*right {
				t.Error("its halves have other colours")
			}
		})
	}
}

// TestFitBytes: a file that is too large becomes a JPEG, then a JPEG with fewer pixels.
func TestFitBytes(t *testing.T) {
	file := encoded(t, "png", noise(600, 400))
	for _, most := range []int{len(file), len(file) / 2, len(file) / 20, 2_000} {
		got, err := picture.Fit(file, picture.Limits{Bytes: most})
		if err != nil || len(got) > most {
			t.Fatalf("%d bytes of at most %d, %v", len(got), most, err)
		}
		c, format, err := image.DecodeConfig(bytes.NewReader(got))
		if err != nil || (format == "png") != (most == len(file)) || math.Abs(float64(c.Width)/float64(c.Height)-1.5) > 0.1 {
			t.Errorf("%d bytes: %+v %s, %v", most, c, format, err)
		}
	}
	if _, err := picture.Fit(file, picture.Limits{Bytes: 10}); err == nil || !strings.Contains(err.Error(), "can't be made small enough") {
		t.Errorf("10 bytes: %v", err)
	}
}

// TestTransparentBecomesWhite: black text on a transparent background stays legible in a JPEG.
func TestTransparentBecomesWhite(t *testing.T) {
	p := noise(64, 64).(*image.NRGBA)
	for i := range p.Pix {
		if i%4 == 3 {
			p.Pix[i] = 0
		}
	}
	file := encoded(t, "png", p)
	got, err := picture.Fit(file, picture.Limits{Bytes: len(file) - 1})
	if err != nil {
		t.Fatal(err)
	}
	back, format, err := image.Decode(bytes.NewReader(got))
	if err != nil || format != "jpeg" {
		t.Fatal(format, err)
	}
	if r, g, b, _ := back.At(5, 5).RGBA(); r>>8 < 250 || g>>8 < 250 || b>>8 < 250 {
		t.Errorf("it is %x %x %x", r>>8, g>>8, b>>8)
	}
}

// bomb is a PNG that declares this many pixels and has none.
func bomb(width, height uint32) []byte {
	head := binary.BigEndian.AppendUint32([]byte("IHDR"), width)
	head = append(binary.BigEndian.AppendUint32(head, height), 8, 6, 0, 0, 0)
	file := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), head...)
	return binary.BigEndian.AppendUint32(file, crc32.ChecksumIEEE(head))
}

// TestFilesThatCannotBeRead: broken files cause neither high memory use nor a panic; files within all limits are not
// refused.
func TestFilesThatCannotBeRead(t *testing.T) {
	half := encoded(t, "png", noise(40, 40))
	half = half[:len(half)/2]
	for _, tt := range []struct {
		name string
		file []byte
		l    picture.Limits
		err  string // "" means the same file
	}{
		{"a bomb", bomb(100_000, 100_000), picture.Limits{Side: 2000}, "100000 × 100000 pixels is too large to be made smaller"},
		{"one of more than there are numbers for", bomb(1<<31-1, 1<<31-1), picture.Limits{Side: 2000}, ""},
		{"cut off", half, picture.Limits{Side: 20}, "can't be read"},
		{"cut off, but fit", half, picture.Limits{Side: 40}, ""},
		{"of another format", []byte("RIFF\x00\x00\x00\x00WEBPVP8?"), picture.Limits{Side: 20, Bytes: 100}, ""},
		{"too large, of another format", []byte("RIFF\x00\x00\x00\x00WEBPVP8?"), picture.Limits{Bytes: 10}, "and can't be read"},
	} {
		got, err := picture.Fit(tt.file, tt.l)
		switch {
		case tt.err == "" && (err != nil || !bytes.Equal(got, tt.file)):
			t.Errorf("%s: %d bytes, %v", tt.name, len(got), err)
		case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
			t.Errorf("%s: %v, want %q", tt.name, err, tt.err)
		}
	}
}

func FuzzFit(f *testing.F) {
	f.Add(bomb(9000, 9000))
	f.Add([]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02L\x01\x00;"))
	f.Fuzz(func(t *testing.T, file []byte) {
		l := picture.Limits{Side: 8, Pixels: 32, Bytes: 400, Formats: []string{}}
		got, err := picture.Fit(file, l)
		if err == nil && len(got) > l.Bytes {
			t.Fatalf("%d bytes", len(got))
		}
	})
}
