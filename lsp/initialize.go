package lsp

import (
	"context"
	"slices"
	"time"

	"go.lsp.dev/protocol"

	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// client is what the client said about itself in initialize. It does not change
// afterwards, so that any goroutine may read it.
type client struct {
	encoding            text.Encoding
	snippets            bool
	hoverMarkdown       bool
	completionMarkdown  bool
	hierarchicalSymbols bool
	relatedInformation  bool
	codeDescription     bool
	documentChanges     bool
	createFiles         bool // as part of an edit
	progress            bool
	configuration       bool
	watchFiles          bool // by dynamic registration
	watchConfiguration  bool // by dynamic registration
}

// encodings maps the protocol's names of position encodings to ours.
var encodings = map[protocol.PositionEncodingKind]text.Encoding{
	protocol.PositionEncodingKindUTF8:  text.UTF8,
	protocol.PositionEncodingKindUTF16: text.UTF16,
	protocol.PositionEncodingKindUTF32: text.UTF32,
}

// triggerCharacters open the completion list: what starts a string, and what
// separates the parts of a package name.
var triggerCharacters = []string{`"`, `'`, "`", "/", "@"}

// initialize handles the first request (LSP 3.18, "Initialize Request"). It is
// answered on the dispatch loop, so that no other answer can come before it.
func (s *server) initialize(p *protocol.InitializeParams) (reply, error) {
	encoding := protocol.PositionEncodingKindUTF16
	if g := p.Capabilities.General; g != nil {
		// The client's list is in the order of its preference.
		for _, offered := range g.PositionEncodings {
			if _, ok := encodings[offered]; ok {
				encoding = offered
				break
			}
		}
	}
	s.client = readClient(&p.Capabilities)
	s.client.encoding = encodings[encoding]
	s.folders = initialFolders(p)
	s.settings.read(p.InitializationOptions)
	_ = s.setTrace(&protocol.SetTraceParams{Value: p.Trace})
	if p.ProcessID != nil {
		pid := int(*p.ProcessID)
		s.spawn("watching the client's process", func(ctx context.Context) { s.watchParent(ctx, pid) })
	}
	s.state = stateRunning

	result := protocol.InitializeResult{
		ServerInfo: protocol.ServerInfo{Name: "sandbox-lsp"},
		Capabilities: protocol.ServerCapabilities{
			PositionEncoding: encoding,
			TextDocumentSync: &protocol.TextDocumentSyncOptions{
				OpenClose: new(true),
				Change:    new(protocol.TextDocumentSyncKindIncremental),
				Save:      &protocol.SaveOptions{IncludeText: new(false)},
			},
			CompletionProvider:     &protocol.CompletionOptions{TriggerCharacters: triggerCharacters},
			HoverProvider:          protocol.Boolean(true),
			DocumentSymbolProvider: protocol.Boolean(true),
			CodeActionProvider:     protocol.Boolean(true),
			ExecuteCommandProvider: protocol.ExecuteCommandOptions{
				WorkDoneProgressOptions: protocol.WorkDoneProgressOptions{WorkDoneProgress: new(true)},
				Commands:                []string{commandBuild},
			},
			Workspace: &protocol.WorkspaceOptions{
				WorkspaceFolders: &protocol.WorkspaceFoldersServerCapabilities{
					Supported:           new(true),
					ChangeNotifications: protocol.Boolean(true),
				},
			},
			Experimental: protocol.LSPAny(`{"` + methodProxyPreview + `":true}`),
		},
	}
	if s.options.Version != "" {
		result.ServerInfo.Version = protocol.NewOptional(s.options.Version)
	}
	if t := p.Capabilities.TextDocument; t != nil && t.CodeAction != nil && len(t.CodeAction.CodeActionLiteralSupport.CodeActionKind.ValueSet) > 0 {
		result.Capabilities.CodeActionProvider = &protocol.CodeActionOptions{CodeActionKinds: []protocol.CodeActionKind{protocol.CodeActionKindQuickFix, kindFixAll}}
	}
	return reply{value: &result}, nil
}

// readClient flattens the capabilities of the client.
func readClient(c *protocol.ClientCapabilities) client {
	var k client
	if t := c.TextDocument; t != nil {
		if t.Completion != nil && t.Completion.CompletionItem != nil {
			k.snippets = yes(t.Completion.CompletionItem.SnippetSupport)
			k.completionMarkdown = slices.Contains(t.Completion.CompletionItem.DocumentationFormat, protocol.MarkupKindMarkdown)
		}
		if t.Hover != nil {
			k.hoverMarkdown = slices.Contains(t.Hover.ContentFormat, protocol.MarkupKindMarkdown)
		}
		if t.DocumentSymbol != nil {
			k.hierarchicalSymbols = yes(t.DocumentSymbol.HierarchicalDocumentSymbolSupport)
		}
		if t.PublishDiagnostics != nil {
			k.relatedInformation = yes(t.PublishDiagnostics.RelatedInformation)
			k.codeDescription = yes(t.PublishDiagnostics.CodeDescriptionSupport)
		}
	}
	if w := c.Workspace; w != nil {
		k.configuration = yes(w.Configuration)
		if e := w.WorkspaceEdit; e != nil {
			k.documentChanges = yes(e.DocumentChanges)
			k.createFiles = k.documentChanges && slices.Contains(e.ResourceOperations, protocol.ResourceOperationKindCreate)
		}
		k.watchFiles = w.DidChangeWatchedFiles != nil && yes(w.DidChangeWatchedFiles.DynamicRegistration)
		k.watchConfiguration = w.DidChangeConfiguration != nil && yes(w.DidChangeConfiguration.DynamicRegistration)
	}
	k.progress = c.Window != nil && yes(c.Window.WorkDoneProgress)
	return k
}

func yes(b *bool) bool { return b != nil && *b }

// initialized handles the notification after which the server may talk to the
// client (LSP 3.18, "Initialized Notification").
func (s *server) initialized([]byte) error {
	s.spawn("registering capabilities", s.register)
	if s.client.configuration {
		s.spawn("reading the configuration", s.pullConfiguration)
	}
	s.discover(s.folders)
	return nil
}

// watchedGlobs are the files whose changes on disk may call for another check.
var watchedGlobs = []string{
	"**/.sandbox/**",
	"**/{package.json,package-lock.json,npm-shrinkwrap.json,pnpm-lock.yaml,yarn.lock,bun.lock}",
	"**/*.{js,mjs,cjs,jsx,ts,mts,cts,tsx,vue,svelte,astro}",
	"**/.git/logs/HEAD",
}

// register asks the client for the notifications that it sends only on request.
func (s *server) register(ctx context.Context) {
	var registrations []protocol.Registration
	if s.client.watchFiles {
		var options protocol.DidChangeWatchedFilesRegistrationOptions
		for _, glob := range watchedGlobs {
			options.Watchers = append(options.Watchers, protocol.FileSystemWatcher{GlobPattern: protocol.Pattern(glob)})
		}
		raw, err := protocol.Marshal(&options)
		if err != nil {
			s.log.Error("the file watchers cannot be encoded", "error", err)
			return
		}
		registrations = append(registrations, protocol.Registration{ID: "watched-files", Method: protocol.MethodWorkspaceDidChangeWatchedFiles, RegisterOptions: raw})
	}
	if s.client.watchConfiguration {
		registrations = append(registrations, protocol.Registration{ID: "configuration", Method: protocol.MethodWorkspaceDidChangeConfiguration, RegisterOptions: protocol.LSPAny(`{"section":"sandbox"}`)})
	}
	if len(registrations) == 0 {
		return
	}
	err := s.conn.call(ctx, protocol.MethodClientRegisterCapability, &protocol.RegistrationParams{Registrations: registrations}, nil)
	if err != nil && ctx.Err() == nil {
		s.log.Warn("without news of files that change on disk", "error", err)
	}
}

// parentInterval is how often the client's process is looked for. A server without
// its client does no harm for some seconds.
const parentInterval = 5 * time.Second

// watchParent ends the server when the client's process has ended (LSP 3.18,
// "InitializeParams", processId).
func (s *server) watchParent(ctx context.Context, pid int) {
	ticker := time.NewTicker(parentInterval)
	defer ticker.Stop()
	for s.options.alive(pid) {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
	s.stop(ErrParentGone)
}
