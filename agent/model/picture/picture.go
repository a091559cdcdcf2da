// Package picture scales pictures down to the largest size that a provider accepts.
//
//	smaller, err := picture.Fit(file, picture.Limits{Side: 2000, Bytes: 3 << 20})
package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // registers the format
	"image/jpeg"
	"image/png"
	"math"
	"slices"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // registers the format
)

// Limits describes the pictures that a provider accepts. A zero field means no limit.
type Limits struct {
	Side    int      // longest side, in pixels
	Pixels  int      // width times height
	Bytes   int      // of the file
	Formats []string // nil: all; otherwise "png" and "jpeg", and those of "gif" and "webp" that are listed
}

// maxDecoded limits the memory for decoding a picture, in bytes, because a file of a few bytes can contain thousands of
// megapixels.
const maxDecoded = 256 << 20

// shrink is the factor by which the sides are scaled while the file has too many bytes.
const shrink = 0.7

// quality is the quality of JPEG files, at which text in a picture stays legible.
const quality = 85

// errLarge means that the file is too large even after the picture was scaled down.
var errLarge = errors.New("the picture can't be made small enough")

// Fit returns a file whose picture is within the limits. If the picture already is, this is the same file; otherwise
// the picture has fewer pixels or another format, and only the first frame of an animation. A file in an unknown format
// is returned unchanged if it is not too large.
func Fit(file []byte, l Limits) ([]byte, error) {
	config, format, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		if l.Bytes > 0 && len(file) > l.Bytes {
			return nil, fmt.Errorf("the picture has %.1f MB (allowed: %.1f MB) and can't be read: %w", float64(len(file))/1e6, float64(l.Bytes)/1e6, err)
		}
		return file, nil
	}
	scale := l.scale(config.Width, config.Height)
	if scale == 1 && l.takes(len(file)) && (l.Formats == nil || format == "png" || format == "jpeg" || slices.Contains(l.Formats, format)) {
		return file, nil
	}
	if bytesOf(config) > maxDecoded {
		return nil, fmt.Errorf("the picture of %d × %d pixels is too large to be made smaller", config.Width, config.Height)
	}
	whole, _, err := image.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, fmt.Errorf("the picture can't be read: %w", err)
	}
	for ; scale*float64(max(config.Width, config.Height)) >= 1; scale *= shrink {
		smaller, err := encode(scaled(whole, scale), format, l)
		if err != nil || smaller != nil {
			return smaller, err
		}
	}
	return nil, errLarge
}

// scale returns the factor, at most 1, that brings the sides and the number of pixels within the limits.
func (l Limits) scale(width, height int) float64 {
	factor := 1.0
	if long := max(width, height); l.Side > 0 && long > l.Side {
		factor = float64(l.Side) / float64(long)
	}
	if all := float64(width) * float64(height) * factor * factor; l.Pixels > 0 && all > float64(l.Pixels) {
		factor *= math.Sqrt(float64(l.Pixels) / all)
	}
	return factor
}

func (l Limits) takes(size int) bool { return l.Bytes <= 0 || size <= l.Bytes }

// bytesOf estimates how much memory a decoded picture needs.
func bytesOf(c image.Config) int {
	each := 4
	switch c.ColorModel {
	case color.GrayModel:
		each = 1
	case color.YCbCrModel:
		each = 3
	case color.RGBA64Model, color.NRGBA64Model:
		each = 8
	default:
		if _, ok := c.ColorModel.(color.Palette); ok {
			each = 1
		}
	}
	if c.Height > 0 && c.Width > math.MaxInt/8/c.Height {
		return math.MaxInt
	}
	return c.Width * c.Height * each
}

// scaled returns a picture with its sides multiplied by factor. It first halves the sides as often as it can. Each new
// pixel is then the mean of four, so that no pixel is skipped, and the scaler needs no memory except for the new
// picture.
func scaled(p image.Image, factor float64) image.Image {
	if factor == 1 {
		return p
	}
	size := p.Bounds().Size()
	to := func(side int) int { return max(1, int(float64(side)*factor)) }
	width, height := to(size.X), to(size.Y)
	for {
		w, h := max(width, size.X/2), max(height, size.Y/2)
		next := image.NewRGBA(image.Rect(0, 0, w, h)) // the fastest to scale to
		draw.ApproxBiLinear.Scale(next, next.Bounds(), p, p.Bounds(), draw.Src, nil)
		if p, size = next, next.Bounds().Size(); w == width && h == height {
			return p
		}
	}
}

// encode returns a picture as a file, or nil if the file is too large. Unless it was a JPEG, the picture becomes a PNG,
// which stays sharp, if that is small enough.
func encode(p image.Image, format string, l Limits) ([]byte, error) {
	var out bytes.Buffer
	if format != "jpeg" {
		if err := png.Encode(&out, p); err != nil {
			return nil, err
		}
		if l.takes(out.Len()) {
			return out.Bytes(), nil
		}
		out.Reset()
	}
	white := image.NewRGBA(p.Bounds()) // a JPEG is opaque
	draw.Draw(white, white.Bounds(), image.White, image.Point{}, draw.Src)
	draw.Draw(white, white.Bounds(), p, p.Bounds().Min, draw.Over)
	if err := jpeg.Encode(&out, white, &jpeg.Options{Quality: quality}); err != nil {
		return nil, err
	}
	if !l.takes(out.Len()) {
		return nil, nil
	}
	return out.Bytes(), nil
}
