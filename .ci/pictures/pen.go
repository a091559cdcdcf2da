package main

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/width"
)

// Cells of the pictures, in pixels.
const (
	cellW, cellH = 9, 19
	fontSize     = 15
	baseline     = 15
)

var (
	ink   = color.RGBA{0xe5, 0xe5, 0xe5, 0xff}
	paper = color.RGBA{0x12, 0x12, 0x12, 0xff}
)

// pen draws terminals.
type pen struct{ regular, bold font.Face }

func newPen(folder string) (*pen, error) {
	regular, err := face(filepath.Join(folder, "DejaVuSansMono.ttf"))
	bold, err2 := face(filepath.Join(folder, "DejaVuSansMono-Bold.ttf"))
	if err := errors.Join(err, err2); err != nil {
		return nil, fmt.Errorf("%w; on Debian: apt-get install fonts-dejavu-core, elsewhere name its folder with -font", err)
	}
	return &pen{regular, bold}, nil
}

func face(path string) (font.Face, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := opentype.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return opentype.NewFace(f, &opentype.FaceOptions{Size: fontSize, DPI: 72, Hinting: font.HintingFull})
}

// style holds the colours and the weight of a cell.
type style struct {
	fg, bg                     color.RGBA
	bold, dim, under, reversed bool
}

// draw draws text captured by tmux, with the cursor unless its position is outside.
func (p *pen) draw(text string, w, h int, cursor image.Point) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, w*cellW, h*cellH))
	draw.Draw(img, img.Bounds(), image.NewUniform(paper), image.Point{}, draw.Src)
	st := style{fg: ink, bg: paper}
	for y, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		for x := 0; line != ""; {
			if rest, ok := strings.CutPrefix(line, "\x1b["); ok {
				end := strings.IndexFunc(rest, func(r rune) bool { return r >= '@' && r <= '~' })
				if end < 0 {
					break
				}
				if rest[end] == 'm' {
					st.sgr(rest[:end])
				}
				line = rest[end+1:]
				continue
			}
			r := []rune(line)[0]
			line = line[len(string(r)):]
			cells := 1
			if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
				cells = 2
			}
			p.cell(img, x, y, cells, r, st)
			x += cells
		}
	}
	if cursor.X >= 0 {
		at := image.Rect(cursor.X*cellW, cursor.Y*cellH, (cursor.X+1)*cellW, (cursor.Y+1)*cellH)
		draw.Draw(img, at, image.NewUniform(ink), image.Point{}, draw.Over)
	}
	return img
}

// cell draws a character.
func (p *pen) cell(img draw.Image, x, y, cells int, r rune, st style) {
	fg, bg := st.fg, st.bg
	if st.dim {
		fg = color.RGBA{fg.R / 5 * 3, fg.G / 5 * 3, fg.B / 5 * 3, 0xff}
	}
	if st.reversed {
		fg, bg = bg, fg
	}
	at := image.Rect(x*cellW, y*cellH, (x+cells)*cellW, (y+1)*cellH)
	draw.Draw(img, at, image.NewUniform(bg), image.Point{}, draw.Src)
	f := p.regular
	if st.bold {
		f = p.bold
	}
	d := font.Drawer{Dst: img, Src: image.NewUniform(fg), Face: f, Dot: fixed.P(at.Min.X, at.Min.Y+baseline)}
	d.DrawString(string(r))
	if st.under {
		draw.Draw(img, image.Rect(at.Min.X, at.Max.Y-2, at.Max.X, at.Max.Y-1), image.NewUniform(fg), image.Point{}, draw.Src)
	}
}

// sgr applies the parameters of an escape sequence to style.
func (st *style) sgr(params string) {
	n := numbers(params)
	for i := 0; i < len(n); i++ {
		switch v := n[i]; {
		case v == 0:
			*st = style{fg: ink, bg: paper}
		case v == 1:
			st.bold = true
		case v == 2:
			st.dim = true
		case v == 22:
			st.bold, st.dim = false, false
		case v == 4:
			st.under = true
		case v == 24:
			st.under = false
		case v == 7:
			st.reversed = true
		case v == 27:
			st.reversed = false
		case v == 39:
			st.fg = ink
		case v == 49:
			st.bg = paper
		case v >= 30 && v <= 37, v >= 90 && v <= 97:
			st.fg = palette256(v%10 + v/90*8)
		case v >= 40 && v <= 47, v >= 100 && v <= 107:
			st.bg = palette256(v%10 + v/100*8)
		case (v == 38 || v == 48) && i+2 < len(n):
			c := palette256(n[i+2])
			used := 2
			if n[i+1] == 2 && i+4 < len(n) {
				c, used = color.RGBA{uint8(n[i+2]), uint8(n[i+3]), uint8(n[i+4]), 0xff}, 4
			}
			if i += used; v == 38 {
				st.fg = c
			} else {
				st.bg = c
			}
		}
	}
}

// numbers splits parameters; a missing one is 0.
func numbers(params string) []int {
	var all []int
	for _, p := range strings.FieldsFunc(params+" ", func(r rune) bool { return r == ';' || r == ':' }) {
		n, _ := strconv.Atoi(strings.TrimSpace(p))
		all = append(all, n)
	}
	return all
}

// basic are the first 16 colours.
var basic = [16]uint32{
	0x000000, 0xcd3131, 0x0dbc79, 0xe5e510, 0x2472c8, 0xbc3fbc, 0x11a8cd, 0xe5e5e5,
	0x666666, 0xf14c4c, 0x23d18b, 0xf5f543, 0x3b8eea, 0xd670d6, 0x29b8db, 0xffffff,
}

// palette256 returns one of the 256 colours.
func palette256(n int) color.RGBA {
	switch {
	case n < 16:
		c := basic[max(n, 0)]
		return color.RGBA{uint8(c >> 16), uint8(c >> 8), uint8(c), 0xff}
	case n < 232:
		level := func(v int) uint8 {
			if v == 0 {
				return 0
			}
			return uint8(55 + 40*v)
		}
		n -= 16
		return color.RGBA{level(n / 36), level(n / 6 % 6), level(n % 6), 0xff}
	}
	grey := uint8(8 + 10*(min(n, 255)-232))
	return color.RGBA{grey, grey, grey, 0xff}
}

// below puts one picture below another, whose empty rows at the end are removed.
func (p *pen) below(above, under image.Image) image.Image {
	last := 0
	for y := range above.Bounds().Dy() {
		for x := range above.Bounds().Dx() {
			if above.At(x, y) != paper {
				last = y
				break
			}
		}
	}
	h := (last/cellH + 2) * cellH
	out := image.NewRGBA(image.Rect(0, 0, under.Bounds().Dx(), h+under.Bounds().Dy()))
	draw.Draw(out, out.Bounds(), image.NewUniform(paper), image.Point{}, draw.Src)
	draw.Draw(out, image.Rect(0, 0, out.Bounds().Dx(), h-cellH), above, image.Point{}, draw.Src)
	draw.Draw(out, image.Rect(0, h, out.Bounds().Dx(), out.Bounds().Dy()), under, image.Point{}, draw.Src)
	return out
}

func save(path string, p image.Image) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(f, p)
}
