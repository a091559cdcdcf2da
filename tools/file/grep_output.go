package file

import (
	"bytes"
	"io"
	"slices"

	"buddy/tools/fs"
)

// inPieces searches a large output of a command piece by piece; each piece ends with a whole line. The context lines of
// a match come only from the match's piece. inPieces reads into buf and returns buf for reuse.
func (s *search) inPieces(j job, buf []byte) []byte {
	found := fileHits{index: j.index, path: s.ws.show(j.file.Path)}
	buf = slices.Grow(buf[:0], fs.MaxText)[:fs.MaxText]
	for lines, kept := 0, 0; found.count <= s.most; {
		n, err := io.ReadFull(j.file, buf[kept:])
		piece := buf[:kept+n]
		if err == nil {
			if i := bytes.LastIndexByte(piece, '\n'); i >= 0 {
				piece = piece[:i+1]
			}
		}
		hits, count := s.find(piece)
		for _, h := range hits {
			h.number += lines
			found.lines = append(found.lines, h)
		}
		found.count += count
		lines += bytes.Count(piece, []byte("\n"))
		if err != nil {
			if err != io.EOF && err != io.ErrUnexpectedEOF {
				s.leave(leftUnreadable, "")
			}
			break
		}
		kept = copy(buf, buf[len(piece):])
	}
	if found.count > 0 {
		s.mu.Lock()
		if s.count++; s.byLine() {
			s.count += found.count - 1
		} else {
			found.lines = nil
		}
		s.hits = append(s.hits, found)
		s.mu.Unlock()
	}
	return buf
}
