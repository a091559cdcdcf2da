package endpoint

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"strings"

	"buddy/agent/model"
)

// unpacked decompresses an answer that a server has compressed without being asked to. body is read under the watch, so
// that compressed bytes count.
func unpacked(body io.Reader, encoding string) (io.Reader, error) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
		return body, nil
	case "gzip", "x-gzip":
		return &lazily{open: func() (io.Reader, error) { return gzip.NewReader(body) }}, nil
	case "deflate": // with a zlib header as in RFC 9110, or without, as some servers send it
		return &lazily{open: func() (io.Reader, error) {
			in := bufio.NewReader(body)
			head, err := in.Peek(2)
			if err == nil && head[0]&0x0f == 8 && (int(head[0])<<8+int(head[1]))%31 == 0 {
				return zlib.NewReader(in)
			}
			return flate.NewReader(in), nil
		}}, nil
	}
	return nil, &model.Error{Kind: model.FormatError, What: fmt.Sprintf("the answer is compressed with %q, which was not asked for", model.Excerpt([]byte(encoding)))}
}

// lazily opens its reader at the first Read, because opening reads from the connection.
type lazily struct {
	open func() (io.Reader, error)
	in   io.Reader
}

func (l *lazily) Read(p []byte) (int, error) {
	if l.in == nil {
		in, err := l.open()
		if err != nil {
			return 0, err
		}
		l.in = in
	}
	return l.in.Read(p)
}

// body reads the decompressed bytes and closes the connection's body.
type body struct {
	io.Reader
	io.Closer
}
