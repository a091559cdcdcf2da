package model

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// MaxImage is the largest picture that a message may carry, in bytes of its file.
// Providers set their own limits, some lower; adapters know those.
const MaxImage = 5 << 20

// imageNames are the ends of names of files that are sent as pictures.
var imageNames = []string{".png", ".jpg", ".jpeg", ".gif", ".webp"}

// IsImageName reports whether a file with this name is sent as a picture.
func IsImageName(name string) bool {
	return slices.Contains(imageNames, strings.ToLower(path.Ext(name)))
}

// Image is a picture that goes with what a person said. Make it with NewImage.
type Image struct {
	MediaType string `json:"media_type"` // "image/png", "image/jpeg", "image/gif" or "image/webp"
	Data      []byte `json:"data"`       // the file as it is, base64 in JSON; shared, so not to be changed
}

// NewImage returns the picture that a file holds. The kind is known from its first
// bytes, not from a name. Data is kept, not copied.
func NewImage(data []byte) (Image, error) {
	i := Image{MediaType: mediaType(data), Data: data}
	return i, i.Check()
}

// Check reports why no provider would take a picture: it is empty or larger than
// MaxImage, or its bytes are not what its media type says.
func (i Image) Check() error {
	kind := mediaType(i.Data)
	switch {
	case len(i.Data) == 0:
		return errors.New("the image is empty")
	case len(i.Data) > MaxImage:
		return fmt.Errorf("the image has %.1f MB (allowed: %d MB)", float64(len(i.Data))/(1<<20), MaxImage>>20)
	case kind == "":
		return errors.New("the file is not an image that models take (allowed: png, jpeg, gif, webp)")
	case kind != i.MediaType:
		return fmt.Errorf("the image is %q, not %q", kind, i.MediaType)
	}
	return nil
}

// mediaType tells what a file is by its first bytes; "" for what models do not take.
func mediaType(data []byte) string {
	head := string(data[:min(len(data), 12)])
	switch {
	case strings.HasPrefix(head, "\x89PNG\r\n\x1a\n"):
		return "image/png"
	case strings.HasPrefix(head, "\xff\xd8\xff"):
		return "image/jpeg"
	case strings.HasPrefix(head, "GIF87a"), strings.HasPrefix(head, "GIF89a"):
		return "image/gif"
	case strings.HasPrefix(head, "RIFF") && strings.HasSuffix(head, "WEBP") && len(head) == 12:
		return "image/webp"
	}
	return ""
}
