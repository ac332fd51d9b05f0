// Package stack reads the call stacks that QuickJS prints and maps their frames
// through a source map to the files that a person wrote.
package stack

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-sourcemap/sourcemap"
)

// Frame is one call on a stack. Line and Column count from 1 and are 0 when the
// engine gave none. Column counts what the engine counts, which for text outside
// of ASCII is not defined.
type Frame struct {
	Function string
	File     string
	Line     int
	Column   int
}

// String prints the frame as engines do.
func (f Frame) String() string {
	place := f.File
	if f.Line > 0 {
		place = fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
	}
	if f.Function == "" {
		return "at " + place
	}
	return "at " + f.Function + " (" + place + ")"
}

// QuickJS prints "    at name (file:line:column)", with the parenthesis missing
// for frames without a name and "native" in the place of a file.
var framePattern = regexp.MustCompile(`^\s*at (?:(.*?) \()?(.*?)(?::(\d+))?(?::(\d+))?\)?$`)

// Parse reads the frames of a stack, innermost first. Lines that are not frames
// are passed over.
func Parse(stack string) []Frame {
	var frames []Frame
	for line := range strings.Lines(stack) {
		m := framePattern.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil {
			continue
		}
		f := Frame{Function: m[1], File: m[2]}
		f.Line, _ = strconv.Atoi(m[3])
		f.Column, _ = strconv.Atoi(m[4])
		frames = append(frames, f)
	}
	return frames
}

// Map holds a source map ready for look-ups. The zero Map leaves frames as they
// are.
type Map struct {
	consumer *sourcemap.Consumer
	script   string // the file name under which the script was evaluated
	dir      string // what the map's sources are relative to
}

// NewMap reads a version 3 source map. script is the file name that the frames of
// the mapped script carry; dir is the absolute folder that its sources are
// relative to.
func NewMap(raw []byte, script, dir string) (Map, error) {
	m := Map{script: script, dir: dir}
	var header struct {
		Mappings *string `json:"mappings"`
	}
	if err := json.Unmarshal(raw, &header); err == nil && header.Mappings != nil && *header.Mappings == "" {
		return m, nil // of a script in which no code is anybody's
	}
	consumer, err := sourcemap.Parse("", raw)
	if err != nil {
		return Map{}, fmt.Errorf("read the source map of %s: %w", script, err)
	}
	m.consumer = consumer
	return m, nil
}

// Frame maps one frame to the source that it comes from: an absolute path, with
// line and column counted from 1. It reports false, and gives the frame back, for
// one that belongs to another script or that the map does not cover.
func (m Map) Frame(f Frame) (Frame, bool) {
	if m.consumer == nil || f.File != m.script || f.Line == 0 {
		return f, false
	}
	source, name, line, column, ok := m.consumer.Source(f.Line, max(f.Column-1, 0))
	if !ok || source == "" {
		return f, false
	}
	if !filepath.IsAbs(source) && !strings.Contains(source, ":") {
		source = filepath.Join(m.dir, filepath.FromSlash(source))
	}
	if name != "" && f.Function == "" {
		f.Function = name
	}
	return Frame{Function: f.Function, File: source, Line: line, Column: column + 1}, true
}

// Frames maps every frame that the map covers and drops the engine's own.
func (m Map) Frames(frames []Frame) []Frame {
	var out []Frame
	for _, f := range frames {
		if f.File == "native" || f.File == "" {
			continue
		}
		mapped, _ := m.Frame(f)
		out = append(out, mapped)
	}
	return out
}

// Blur forgets where in its function the innermost frame was. A time limit stops a
// loop at whatever place it has come to, and a report must not differ from run to run
// for that.
func Blur(frames []Frame) []Frame {
	if len(frames) > 0 {
		frames[0].Line, frames[0].Column = 0, 0
	}
	return frames
}

// Format prints frames one a line, as they stand in error messages.
func Format(frames []Frame) string {
	var b strings.Builder
	for _, f := range frames {
		fmt.Fprintf(&b, "    %s\n", f)
	}
	return strings.TrimRight(b.String(), "\n")
}
