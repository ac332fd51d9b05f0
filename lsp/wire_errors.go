package lsp

import (
	"context"
	"errors"
	"fmt"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// wireError is an error with a code of the protocol (LSP 3.18, "ErrorCodes").
type wireError struct {
	code    jsonrpc2.Code
	message string
}

func (e *wireError) Error() string { return e.message }

// Codes that jsonrpc2 does not define.
const (
	codeRequestFailed   jsonrpc2.Code = -32803
	codeServerCancelled jsonrpc2.Code = -32802
)

func invalidParams(format string, args ...any) error {
	return &wireError{jsonrpc2.InvalidParams, fmt.Sprintf(format, args...)}
}

func invalidRequest(format string, args ...any) error {
	return &wireError{jsonrpc2.InvalidRequest, fmt.Sprintf(format, args...)}
}

func notInitialized() error {
	return &wireError{jsonrpc2.ServerNotInitialized, "the first request has to be initialize"}
}

func methodNotFound(method string) error {
	return &wireError{jsonrpc2.MethodNotFound, fmt.Sprintf("the server has no method %q", method)}
}

func internalError(format string, args ...any) error {
	return &wireError{jsonrpc2.InternalError, fmt.Sprintf(format, args...)}
}

// errSuperseded is the answer to a build that a newer one made pointless.
var errSuperseded error = &wireError{codeServerCancelled, "a newer build took the place of this one"}

// toWire gives any error a code: cancellation has its own, and an error of the core
// means that a valid request failed.
func toWire(err error) *jsonrpc2.Error {
	var coded *wireError
	switch {
	case errors.As(err, &coded):
		return jsonrpc2.NewError(coded.code, coded.message)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return jsonrpc2.NewError(protocol.CodeRequestCancelled, "the request was cancelled")
	default:
		return jsonrpc2.NewError(codeRequestFailed, err.Error())
	}
}
