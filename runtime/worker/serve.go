package worker

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/sandbox-lsp/sandbox-lsp/runtime/quickjs"
)

// Service is one kind of work that workers do.
type Service struct {
	Name string
	// New makes what does the work of one process, one task after the other.
	New func(engine *quickjs.Engine) Handler
}

// Handler does the work of a service: it decodes a request with Decode, may tell what
// happens meanwhile, and returns the result, which is encoded. An error is the tool's
// own.
type Handler func(ctx context.Context, request []byte, tell func([]byte) error) (any, error)

// ServeIfWorker turns this process into a worker when a pool started it as one, and
// then does not return. Programs and test binaries that use a Pool call it first of
// all.
func ServeIfWorker(services ...Service) {
	cacheDir, started := os.LookupEnv(variable)
	if !started {
		return
	}
	if err := serve(context.Background(), os.Stdin, os.Stdout, cacheDir, services); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serve answers requests until its input ends.
func serve(ctx context.Context, in io.Reader, out io.Writer, cacheDir string, services []Service) error {
	dec, enc := gob.NewDecoder(in), gob.NewEncoder(out)
	engine, fault := quickjs.New(ctx, quickjs.Options{CacheDir: cacheDir})
	handlers := map[string]Handler{}
	for _, s := range services {
		handlers[s.Name] = s.New(engine)
	}
	send := func(a answer) error {
		if err := enc.Encode(a); err != nil {
			return fmt.Errorf("answer a request: %w", err)
		}
		return nil
	}
	for {
		var asked call
		if err := dec.Decode(&asked); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return fmt.Errorf("read a request: %w", err)
		}
		handle, known := handlers[asked.Service]
		var a answer
		switch {
		case fault != nil:
			a.Fault = fault.Error()
		case !known:
			a.Fault = fmt.Sprintf("this program has no service %q for workers", asked.Service)
		default:
			if err := send(answer{Started: true}); err != nil {
				return err
			}
			result, err := handle(ctx, asked.Request, func(told []byte) error { return send(answer{Told: told}) })
			if err == nil {
				a.Result, err = encode(result)
			}
			if err != nil {
				a.Fault = err.Error()
			}
		}
		if err := send(a); err != nil {
			return err
		}
	}
}

func encode(value any) ([]byte, error) {
	var out bytes.Buffer
	if err := gob.NewEncoder(&out).Encode(value); err != nil {
		return nil, fmt.Errorf("encode %T for another process: %w", value, err)
	}
	return out.Bytes(), nil
}

func decode(from []byte, into any) error {
	if err := gob.NewDecoder(bytes.NewReader(from)).Decode(into); err != nil {
		return fmt.Errorf("decode %T of another process: %w", into, err)
	}
	return nil
}

// Decode reads a request as the task that carried it has it.
func Decode[Request any](from []byte) (Request, error) {
	var request Request
	err := decode(from, &request)
	return request, err
}
