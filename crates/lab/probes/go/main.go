// Command probe is a probe of hotset for Go: one job, one line of JSON. docs/probes.md has the contract.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// answer is what the contract asks for.
type answer struct {
	Probe         string           `json:"probe"`
	Version       string           `json:"version"`
	Job           string           `json:"job"`
	Bytes         int64            `json:"bytes"`
	Calls         map[string]int64 `json:"calls"`
	Operations    int64            `json:"operations"`
	RepetitionsNs []int64          `json:"repetitions_ns"`
	WriteCalls    *int64           `json:"write_calls,omitempty"`
	Notes         map[string]int64 `json:"notes,omitempty"`
	Executable    string           `json:"executable,omitempty"`
	Supports      []string         `json:"supports,omitempty"`
}

// words are the key=value words of the command line.
type words map[string]string

func (w words) need(key string) (string, error) {
	value, found := w[key]
	if !found {
		return "", fmt.Errorf("%s= is missing", key)
	}
	return value, nil
}

func (w words) number(key string) (int64, error) {
	value, err := w.need(key)
	if err != nil {
		return 0, err
	}
	number, err := strconv.ParseInt(value, 10, 64)
	if err != nil || number < 0 {
		return 0, fmt.Errorf("%s=%s is no whole number", key, value)
	}
	return number, nil
}

// paths are the files dir/prefix000suffix and so on.
func (w words) paths() ([]string, error) {
	dir, err := w.need("dir")
	if err != nil {
		return nil, err
	}
	return w.pathsIn(dir)
}

func (w words) pathsIn(dir string) ([]string, error) {
	count, err := w.number("count")
	if err != nil {
		return nil, err
	}
	paths := make([]string, count)
	for i := range paths {
		paths[i] = filepath.Join(dir, fmt.Sprintf("%s%03d%s", w["prefix"], i, w["suffix"]))
	}
	return paths, nil
}

// along are the paths of all names in each of the places where they are looked for, in order: before/d000 and so on, and at
// last dir.
func (w words) along() ([][]string, error) {
	along := [][]string{}
	if _, found := w["directories"]; found {
		before, err := w.need("before")
		if err != nil {
			return nil, err
		}
		directories, err := w.number("directories")
		if err != nil {
			return nil, err
		}
		for i := int64(0); i < directories; i++ {
			paths, err := w.pathsIn(filepath.Join(before, fmt.Sprintf("d%03d", i)))
			if err != nil {
				return nil, err
			}
			along = append(along, paths)
		}
	}
	paths, err := w.paths()
	return append(along, paths), err
}

// timed is the nanoseconds that work takes; time.Since reads the monotonic clock.
func timed(work func() error) (int64, error) {
	started := time.Now()
	err := work()
	return time.Since(started).Nanoseconds(), err
}

func repeated(count int64, work func() error) ([]int64, error) {
	times := make([]int64, 0, count)
	for i := int64(0); i < count; i++ {
		took, err := timed(work)
		if err != nil {
			return nil, err
		}
		times = append(times, took)
	}
	return times, nil
}

func about(words) (answer, error) {
	executable, err := os.Executable()
	supports := []string{"read:binary", "parse", "write", "readall:binary", "exists"}
	return answer{Executable: executable, Supports: supports}, err
}

// warmUps are reads of a file that is not timed.
const warmUps = 3

// warmUp does the same work with another file, so that the first timed part has none of the program's own first times.
func warmUp(w words, work func(path string) error) error {
	if w["prime"] == "" {
		return nil
	}
	for i := 0; i < warmUps; i++ {
		if err := work(w["prime"]); err != nil {
			return err
		}
	}
	return nil
}

func read(w words) (answer, error) {
	count, err := w.number("count")
	if err != nil {
		return answer{}, err
	}
	err = warmUp(w, func(path string) error { _, err := os.ReadFile(path); return err })
	if err != nil {
		return answer{}, err
	}
	var size int64
	times, err := repeated(count, func() error {
		data, err := os.ReadFile(w["file"])
		size = int64(len(data))
		return err
	})
	return answer{
		Bytes: size * count, Calls: map[string]int64{"open": count}, Operations: count, RepetitionsNs: times,
	}, err
}

func parse(w words) (answer, error) {
	count, err := w.number("count")
	if err != nil {
		return answer{}, err
	}
	size, err := os.Stat(w["file"])
	if err != nil {
		return answer{}, err
	}
	var document []byte
	opened := count
	if w["what"] == "parse" {
		opened = 0
		if document, err = os.ReadFile(w["file"]); err != nil {
			return answer{}, err
		}
	}
	var value any
	work := map[string]func(path string) error{
		"read": func(path string) error { _, err := os.ReadFile(path); return err },
		"read+parse": func(path string) error {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return json.Unmarshal(data, &value)
		},
		"parse": func(string) error { return json.Unmarshal(document, &value) },
	}[w["what"]]
	if work == nil {
		return answer{}, fmt.Errorf("what=%s is not one of read, read+parse, parse", w["what"])
	}
	if err := warmUp(w, work); err != nil {
		return answer{}, err
	}
	times, err := repeated(count, func() error { value = nil; return work(w["file"]) })
	return answer{
		Bytes: size.Size() * opened, Calls: map[string]int64{"open": opened}, Operations: count,
		RepetitionsNs: times,
	}, err
}

func write(w words) (answer, error) {
	var numbers [3]int64
	for i, key := range []string{"total", "piece", "buffer"} {
		number, err := w.number(key)
		if err != nil {
			return answer{}, err
		}
		numbers[i] = number
	}
	total, piece, buffer := numbers[0], numbers[1], numbers[2]
	if piece == 0 {
		return answer{}, errors.New("piece=0 would write nothing")
	}
	data := bytes.Repeat([]byte("x"), int(piece))
	before := writeCalls()
	took, err := timed(func() error { return writePieces(w, data, total, int(buffer)) })
	after := writeCalls()
	done := answer{
		Bytes: total, Calls: map[string]int64{"open": 1}, Operations: (total + piece - 1) / piece,
		RepetitionsNs: []int64{took},
	}
	if before != nil && after != nil {
		calls := *after - *before
		done.WriteCalls = &calls
	}
	return done, err
}

// writeCalls are those of this process so far, as the kernel counted them; nil where it doesn't tell.
func writeCalls() *int64 {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return nil
	}
	for _, line := range strings.Split(string(text), "\n") {
		if counted, found := strings.CutPrefix(line, "syscw: "); found {
			if number, err := strconv.ParseInt(counted, 10, 64); err == nil {
				return &number
			}
		}
	}
	return nil
}

func writePieces(w words, data []byte, total int64, buffer int) error {
	file, err := os.Create(w["file"])
	if err != nil {
		return err
	}
	put := file.Write
	flush := func() error { return nil }
	if buffer > 0 {
		buffered := bufio.NewWriterSize(file, buffer)
		put, flush = buffered.Write, buffered.Flush
	}
	for left := total; left > 0; left -= int64(len(data)) {
		if left < int64(len(data)) {
			data = data[:left]
		}
		if _, err := put(data); err != nil {
			return err
		}
	}
	if err := flush(); err != nil {
		return err
	}
	if w["sync"] == "fsync" {
		if err := file.Sync(); err != nil {
			return err
		}
	}
	return file.Close()
}

func readAll(w words) (answer, error) {
	paths, err := w.paths()
	if err != nil {
		return answer{}, err
	}
	var size int64
	took, err := timed(func() error {
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			size += int64(len(data))
		}
		return nil
	})
	count := int64(len(paths))
	return answer{
		Bytes: size, Calls: map[string]int64{"open": count}, Operations: count, RepetitionsNs: []int64{took},
	}, err
}

func exists(w words) (answer, error) {
	along, err := w.along()
	if err != nil {
		return answer{}, err
	}
	times, err := w.number("times")
	if err != nil {
		return answer{}, err
	}
	count := int64(len(along[0]))
	var found, asked int64
	took, err := timed(func() error {
		for i := int64(0); i < times; i++ {
			for name := range along[0] {
				missed, err := misses(along, name)
				if err != nil {
					return err
				}
				asked += int64(missed)
				if missed < len(along) {
					found++
					asked++
				}
			}
		}
		return nil
	})
	return answer{
		Calls: map[string]int64{"exists": asked}, Notes: map[string]int64{"found": found},
		Operations: count * times, RepetitionsNs: []int64{took},
	}, err
}

// misses are the places that don't have a name, before the first one that has it.
func misses(along [][]string, name int) (int, error) {
	for place, paths := range along {
		if _, err := os.Stat(paths[name]); err == nil {
			return place, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return place, err
		}
	}
	return len(along), nil
}

func run(arguments []string) error {
	jobs := map[string]func(words) (answer, error){
		"about": about, "read": read, "parse": parse, "write": write, "readall": readAll, "exists": exists,
	}
	if len(arguments) == 0 || jobs[arguments[0]] == nil {
		return fmt.Errorf("there is no such job: %q", arguments)
	}
	w := words{}
	for _, word := range arguments[1:] {
		key, value, _ := strings.Cut(word, "=")
		w[key] = value
	}
	if how := w["how"]; how != "" && how != "binary" {
		return fmt.Errorf("how=%s is not binary", how)
	}
	answer, err := jobs[arguments[0]](w)
	if err != nil {
		return err
	}
	answer.Probe, answer.Version, answer.Job = "go", strings.TrimPrefix(runtime.Version(), "go"), arguments[0]
	if answer.Calls == nil {
		answer.Calls = map[string]int64{}
	}
	if answer.RepetitionsNs == nil {
		answer.RepetitionsNs = []int64{}
	}
	return json.NewEncoder(os.Stdout).Encode(answer)
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, strings.ReplaceAll(err.Error(), "\n", " "))
		os.Exit(1)
	}
}
