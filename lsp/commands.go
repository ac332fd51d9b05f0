package lsp

import (
	"context"
	"errors"
	"slices"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// commandBuild builds the project of a document, or every project. Its one argument
// is optional: the URI of a document or folder, or an object with such a "uri".
const commandBuild = "sandbox-lsp.build"

// builtProject is what commandBuild answers for one project.
type builtProject struct {
	URI     uri.URI `json:"uri"` // of the project's root
	Summary string  `json:"summary"`
}

// executeCommand handles workspace/executeCommand.
func (s *server) executeCommand(p *protocol.ExecuteCommandParams) (reply, error) {
	if p.Command != commandBuild {
		return reply{}, invalidParams("the server has no command %q", p.Command)
	}
	roots, err := s.rootsOf(p.Arguments)
	if err != nil {
		return reply{}, err
	}
	projects := make([]*project, len(roots))
	for i, root := range roots {
		projects[i] = s.project(root)
	}
	v := s.docs.view()
	return reply{later: func(ctx context.Context) (any, error) {
		token := p.WorkDoneToken
		results := make([]builtProject, 0, len(roots))
		for i, pr := range projects {
			answer := make(chan buildReply, 1)
			pr.kick(v, &buildRequest{ctx: ctx, token: token, reply: answer})
			token = nil // a token shows one operation
			r := <-answer
			if r.err != nil {
				return nil, r.err
			}
			results = append(results, builtProject{uriOf(roots[i]), r.summary})
		}
		return results, nil
	}}, nil
}

// rootsOf returns the roots of the projects that a command's arguments mean.
func (s *server) rootsOf(arguments []protocol.LSPAny) ([]string, error) {
	if len(arguments) == 0 || string(arguments[0]) == "null" {
		roots := make([]string, 0, len(s.projects))
		for root := range s.projects {
			roots = append(roots, root)
		}
		slices.Sort(roots)
		if len(roots) == 0 {
			return nil, errors.New("the workspace has no project: no folder holds " + projectFile)
		}
		return roots, nil
	}
	u, err := argumentURI(arguments[0])
	if err != nil {
		return nil, err
	}
	path := pathOf(u)
	if path == "" {
		return nil, invalidParams("%s is not a file", u)
	}
	root, _ := s.core.Root(path)
	if root == "" {
		return nil, errors.New("no folder from " + path + " upwards holds " + projectFile)
	}
	return []string{root}, nil
}

// argumentURI reads the argument of a command.
func argumentURI(raw protocol.LSPAny) (uri.URI, error) {
	var object struct {
		URI string `json:"uri"`
	}
	if err := protocol.Unmarshal(raw, &object.URI); err != nil {
		if err := protocol.Unmarshal(raw, &object); err != nil {
			return "", invalidParams("the argument is neither a URI nor an object with one")
		}
	}
	u, err := uri.Parse(strings.TrimSpace(object.URI))
	if err != nil || object.URI == "" {
		return "", invalidParams("the argument %q is not a URI", object.URI)
	}
	return u, nil
}
