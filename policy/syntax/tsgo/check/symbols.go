package check

import (
	"github.com/microsoft/typescript-go/internal/ast"
	"github.com/microsoft/typescript-go/internal/checker"
)

// What the flags of a symbol say.
const (
	FlagAlias     = ast.SymbolFlagsAlias
	FlagClass     = ast.SymbolFlagsClass
	FlagConstEnum = ast.SymbolFlagsConstEnum
	FlagEnum      = ast.SymbolFlagsRegularEnum
	FlagFunction  = ast.SymbolFlagsFunction
	FlagModule    = ast.SymbolFlagsValueModule
	FlagValue     = ast.SymbolFlagsValue
)

// IsInternal reports whether the name is one that the compiler made up.
func IsInternal(name string) bool {
	return len(name) > 0 && name[0] == ast.InternalSymbolNamePrefix[0] || name == ast.InternalSymbolNameExportEquals
}

// Specifiers returns the module specifiers of a file, in source order.
func Specifiers(file *SourceFile) []*Node { return file.Imports() }

// HasCall reports whether values of the type can be called.
func HasCall(c *Checker, t *Type) bool {
	return len(c.GetSignaturesOfType(t, checker.SignatureKindCall)) > 0
}

// HasConstruct reports whether values of the type can be called with new.
func HasConstruct(c *Checker, t *Type) bool {
	return len(c.GetSignaturesOfType(t, checker.SignatureKindConstruct)) > 0
}

// IsMember reports whether the symbol is a property of a type, not a declaration of
// a module.
func IsMember(s *Symbol) bool {
	return s.Flags&(ast.SymbolFlagsProperty|ast.SymbolFlagsMethod|ast.SymbolFlagsAccessor) != 0
}
