package file

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	_ "image/gif" // formats that DecodeConfig knows
	_ "image/jpeg"
	_ "image/png"
	"slices"

	"buddy/agent/model"
	"buddy/tools"
	"buddy/tools/fs"
)

// imageSize describes a picture for a model.
type imageSize struct {
	kind          string // image/png
	width, height int
}

// imageOf reads the header of a picture. ok is false if the data is in no known picture format.
func imageOf(start []byte) (size imageSize, ok bool) {
	if w, h, ok := webpSize(start); ok {
		return imageSize{"image/webp", w, h}, true
	}
	config, format, err := image.DecodeConfig(bytes.NewReader(start))
	if err != nil || !slices.Contains([]string{"png", "jpeg", "gif"}, format) {
		return imageSize{}, false
	}
	return imageSize{"image/" + format, config.Width, config.Height}, true
}

// webpSize reads the header of a WebP file in any of its three forms.
func webpSize(p []byte) (width, height int, ok bool) {
	if len(p) < 30 || string(p[:4]) != "RIFF" || string(p[8:12]) != "WEBP" {
		return 0, 0, false
	}
	body := p[20:]
	switch string(p[12:16]) {
	case "VP8 ":
		return int(binary.LittleEndian.Uint16(body[6:])) & 0x3fff, int(binary.LittleEndian.Uint16(body[8:])) & 0x3fff, string(body[3:6]) == "\x9d\x01\x2a"
	case "VP8L":
		bits := binary.LittleEndian.Uint32(body[1:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1, body[0] == 0x2f
	case "VP8X":
		three := func(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
		return three(body[4:]) + 1, three(body[7:]) + 1, true
	}
	return 0, 0, false
}

// imageResult returns the result of reading a picture, followed by remark.
func imageResult(size imageSize, s snapshot, remark string) tools.Result {
	note := "the picture itself is shown if the model takes pictures"
	var images []model.Image
	if !s.whole() {
		note = fmt.Sprintf("the picture is larger than the %d bytes that can be shown", fs.MaxText)
	} else if shown, err := model.NewImage(s.data); err != nil {
		note = "the picture can't be shown: " + err.Error()
	} else {
		images = []model.Image{shown}
	}
	res := tools.Success(fmt.Sprintf("%s, %d × %d, %d bytes", size.kind, size.width, size.height, s.size), note, remark)
	res.Images, res.Outcome = images, "a picture"
	return res
}
