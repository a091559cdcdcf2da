package host

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"golang.org/x/sys/unix"

	"buddy/sessions"
	"buddy/views/markup"
)

// The report of a host is the file that gets its errors, such as the trace of a panic.
const (
	keptReports = 20      // files that stay
	maxReport   = 1 << 20 // bytes of one; a longer one loses its middle
	endOfReport = 1 << 18 // bytes kept of its start, and of its end
)

func reports() string { return filepath.Join(xdg.StateHome, "buddy", "hosts") }

func reportFile(session string) string { return filepath.Join(reports(), session+".err") }

// newReport returns the file for the report of a new host, or the null device if it can't be made.
func newReport(session string) string {
	if err := os.MkdirAll(reports(), 0o700); err != nil || unix.Access(reports(), unix.W_OK) != nil {
		return os.DevNull
	}
	forgetReports()
	return reportFile(session)
}

// forgetReport removes an empty report.
func forgetReport(session string) {
	if info, err := os.Lstat(reportFile(session)); err == nil && info.Size() == 0 {
		_ = os.Remove(reportFile(session)) // an error does no harm
	}
}

// forgetReports makes room for one more report: it removes the oldest and shortens long ones, ignoring errors.
func forgetReports() {
	type report struct {
		path string
		time time.Time
	}
	paths, _ := filepath.Glob(filepath.Join(reports(), "*.err")) // the pattern is valid
	var all []report
	for _, path := range paths {
		if info, err := os.Lstat(path); err == nil {
			all = append(all, report{path, info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b report) int { return a.time.Compare(b.time) })
	gone := max(0, len(all)-keptReports+1)
	for _, r := range all[:gone] {
		_ = os.Remove(r.path)
	}
	for _, r := range all[gone:] {
		_ = shortenReport(r.path)
	}
}

// firstLine returns the first line of a report, which names the cause of a crash, "" if there is no report.
func firstLine(path string) string {
	f, err := sessions.OpenPlain(path, os.O_RDONLY)
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // only read
	line, _ := bufio.NewReader(io.LimitReader(f, 4<<10)).ReadString('\n')
	return strings.TrimSpace(markup.Plain(line))
}

// shortenReport removes the middle of a report that is too long. Another process may append to the report; only a line
// written at the same instant can be lost.
func shortenReport(path string) error {
	if info, err := os.Lstat(path); err != nil || info.Size() <= maxReport {
		return err
	}
	f, err := sessions.OpenPlain(path, os.O_RDWR)
	if err != nil {
		return err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err == nil {
		err = cutMiddle(f, size)
	}
	return errors.Join(err, f.Close())
}

func cutMiddle(f *os.File, size int64) error {
	end := make([]byte, endOfReport)
	if _, err := f.ReadAt(end, size-endOfReport); err != nil {
		return err
	}
	text := append(fmt.Appendf(nil, "\n… %d bytes omitted …\n", size-2*endOfReport), end...)
	if _, err := f.WriteAt(text, endOfReport); err != nil {
		return err
	}
	return f.Truncate(endOfReport + int64(len(text)))
}

// reporter writes to the report of this process and keeps it short.
type reporter struct{ path string }

// Write implements [io.Writer] for one goroutine at a time, as the standard logger calls it.
func (r reporter) Write(p []byte) (int, error) {
	n, err := os.Stderr.Write(p)
	_ = shortenReport(r.path) // on an error it keeps its length
	return n, err
}
