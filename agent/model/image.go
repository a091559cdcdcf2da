package model

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"buddy/agent/model/picture"
)

// MaxPicture limits the size in bytes of the files that NewImage accepts.
const MaxPicture = 50 << 20

// MaxImage limits the size in bytes of an image in a message. It becomes 5 MiB of base64, the most that Anthropic takes
// ("image exceeds 5 MB maximum: 6275800 bytes > 5242880 bytes", github.com/lobehub/lobehub/pull/14711). The limit is
// the same for all providers, so that a session can continue with any of them.
const MaxImage = 5 << 20 / 4 * 3

// imageNames are the extensions of files that are sent as images.
var imageNames = []string{".png", ".jpg", ".jpeg", ".gif", ".webp"}

// IsImageName reports whether a file with this name is sent as an image.
func IsImageName(name string) bool {
	return slices.Contains(imageNames, strings.ToLower(path.Ext(name)))
}

// Image is a picture attached to a user's message. Create it with NewImage.
type Image struct {
	MediaType string `json:"media_type"` // "image/png", "image/jpeg", "image/gif" or "image/webp"
	Data      []byte `json:"data"`       // the unchanged file, base64 in JSON; shared, so do not modify it
}

// NewImage returns the image in a file. The media type comes from the first bytes. Data is kept, not copied, unless it
// is larger than MaxImage: then the image is scaled down.
func NewImage(data []byte) (Image, error) {
	i := Image{MediaType: mediaType(data), Data: data}
	if len(data) > MaxImage && i.MediaType != "" {
		return i.Fit(picture.Limits{Bytes: MaxImage})
	}
	return i, i.Check()
}

// Fit returns the image scaled down to the limits, or the image itself if it is within them.
func (i Image) Fit(l picture.Limits) (Image, error) {
	data, err := picture.Fit(i.Data, l)
	if err != nil {
		return Image{}, err
	}
	if len(data) == len(i.Data) && (len(data) == 0 || &data[0] == &i.Data[0]) {
		return i, nil
	}
	i = Image{MediaType: mediaType(data), Data: data}
	return i, i.Check()
}

// Check returns an error if no provider would take the image: it is empty, larger than MaxImage, or not of its media
// type.
func (i Image) Check() error {
	kind := mediaType(i.Data)
	switch {
	case len(i.Data) == 0:
		return errors.New("the image is empty")
	case len(i.Data) > MaxImage:
		return TooLarge(int64(len(i.Data)), MaxImage)
	case kind == "":
		return errors.New("the file is not an image that models take (allowed: png, jpeg, gif, webp)")
	case kind != i.MediaType:
		return fmt.Errorf("the image is %q, not %q", kind, i.MediaType)
	}
	return nil
}

// TooLarge returns the error for a file of size bytes if only allowed bytes are permitted.
func TooLarge(size, allowed int64) error {
	return fmt.Errorf("the image has %.1f MB (allowed: %.1f MB)", float64(size)/1e6, float64(allowed)/1e6)
}

// mediaType returns the media type of a file from its first bytes, or "" if models don't accept the type.
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
