package input

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/adrg/xdg"

	"buddy/agent/model"
	"buddy/texts/searchpath"
)

// keepPictures limits the age of copies of pasted pictures, which are kept because a draft may name them.
const keepPictures = 7 * 24 * time.Hour

// maxPastedPath limits a text that may be a path, in bytes.
const maxPastedPath = 4096

// Picture returns the picture file whose path was pasted, in the forms that terminals use for dropped files: plain, in
// quotes, with backslashes before spaces, or as a file: URL. It returns "" for other texts and for files that models do
// not accept. A picture whose path a prompt can't name is copied.
func Picture(pasted string) (path string) {
	path = pastedPath(pasted)
	if path == "" || !model.IsImageName(path) {
		return ""
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	img, err := readImage(path)
	if err != nil {
		return ""
	}
	if strings.ContainsAny(path, " \t") {
		if path, err = keepPicture(img); err != nil {
			return ""
		}
	}
	return path
}

// pastedPath returns the path in a text, "" for other texts.
func pastedPath(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > maxPastedPath || strings.ContainsAny(text, "\n\r\x00") {
		return ""
	}
	if rest, ok := strings.CutPrefix(text, "file://"); ok {
		_, at, _ := strings.Cut(rest, "/")
		if at, err := url.PathUnescape("/" + at); err == nil {
			return at
		}
		return ""
	}
	if q := text[0]; len(text) > 2 && (q == '\'' || q == '"') && text[len(text)-1] == q {
		text = text[1 : len(text)-1]
	} else {
		text = unescaped(text)
	}
	if rest, ok := strings.CutPrefix(text, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if !filepath.IsAbs(text) {
		return "" // a word of a sentence may look like a file here
	}
	return text
}

// unescaped removes the backslashes that make a shell read the text as one word.
func unescaped(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// ClipboardPicture returns a file with the picture in the clipboard.
func ClipboardPicture(ctx context.Context) (path string, err error) {
	tool := pictureTool(os.Getenv, searchpath.Look)
	if tool == nil {
		return "", errors.New("no tool found that reads pictures from the clipboard: install wl-clipboard, xclip or pngpaste, or paste a file's path")
	}
	ctx, cancel := context.WithTimeout(ctx, clipboardTime)
	defer cancel()
	data, err := readTool(ctx, tool)
	if err != nil {
		return "", err
	}
	img, err := model.NewImage(data)
	if err != nil {
		return "", fmt.Errorf("the clipboard: %w", err)
	}
	return keepPicture(img)
}

// readTool runs a tool until it or ctx ends, and returns its output, which is a picture if the clipboard holds one.
func readTool(ctx context.Context, tool []string) ([]byte, error) {
	c := searchpath.Command(ctx, tool[0], tool[1:]...)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("with %s: %w", tool[0], err)
	}
	var data bytes.Buffer
	_, err = io.Copy(&data, io.LimitReader(out, model.MaxPicture+1))
	_ = out.Close() // so that a tool with too much output ends
	ended := c.Wait()
	switch {
	case data.Len() > model.MaxPicture:
		return nil, fmt.Errorf("the picture on the clipboard has more than %.1f MB", model.MaxPicture/1e6)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("%s did not answer in %v", tool[0], clipboardTime)
	case err == nil && (ended != nil || data.Len() == 0):
		return nil, errors.New("the clipboard has no picture")
	}
	return data.Bytes(), err
}

// pictureTool returns the command that prints the picture in the desktop's clipboard; nil if there is none.
func pictureTool(getenv func(string) string, look func(string) (string, error)) []string {
	var tools [][]string
	if runtime.GOOS == "darwin" {
		tools = append(tools, []string{"pngpaste", "-"})
	}
	if getenv("WAYLAND_DISPLAY") != "" {
		tools = append(tools, []string{"wl-paste", "--no-newline", "--type", "image/png"})
	}
	if getenv("DISPLAY") != "" {
		tools = append(tools, []string{"xclip", "-selection", "clipboard", "-target", "image/png", "-out"})
	}
	for _, t := range tools {
		if _, err := look(t[0]); err == nil {
			return t
		}
	}
	return nil
}

// keepPicture copies a picture to a file that only the user can read and that a prompt can name, and removes old
// copies.
func keepPicture(img model.Image) (path string, err error) {
	dir := filepath.Join(xdg.StateHome, "buddy", "pictures")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("can't save the pasted picture: %w", err)
	}
	if all, err := os.ReadDir(dir); err == nil {
		for _, f := range all {
			if info, err := f.Info(); err == nil && time.Since(info.ModTime()) > keepPictures {
				_ = os.Remove(filepath.Join(dir, f.Name())) // on an error the file stays until the next time
			}
		}
	}
	sum := sha256.Sum256(img.Data)
	path = filepath.Join(dir, hex.EncodeToString(sum[:6])+"."+strings.TrimPrefix(img.MediaType, "image/"))
	if strings.ContainsAny(path, " \t") {
		return "", fmt.Errorf("can't save the pasted picture: the path %q contains a space; save the picture as a file and attach it with @", path)
	}
	if err := os.WriteFile(path, img.Data, 0o600); err != nil {
		return "", fmt.Errorf("can't save the pasted picture: %w", err)
	}
	return path, nil
}
