package parse

import "github.com/microsoft/typescript-go/internal/ast"

// The node kinds that the facade tells apart.
const (
	KindArrayBindingPattern         = ast.KindArrayBindingPattern
	KindArrayLiteralExpression      = ast.KindArrayLiteralExpression
	KindArrowFunction               = ast.KindArrowFunction
	KindAsExpression                = ast.KindAsExpression
	KindBigIntLiteral               = ast.KindBigIntLiteral
	KindBinaryExpression            = ast.KindBinaryExpression
	KindBindingElement              = ast.KindBindingElement
	KindBreakStatement              = ast.KindBreakStatement
	KindCallExpression              = ast.KindCallExpression
	KindClassDeclaration            = ast.KindClassDeclaration
	KindClassExpression             = ast.KindClassExpression
	KindComputedPropertyName        = ast.KindComputedPropertyName
	KindConditionalExpression       = ast.KindConditionalExpression
	KindConstructor                 = ast.KindConstructor
	KindContinueStatement           = ast.KindContinueStatement
	KindDeleteExpression            = ast.KindDeleteExpression
	KindElementAccessExpression     = ast.KindElementAccessExpression
	KindEnumDeclaration             = ast.KindEnumDeclaration
	KindExportAssignment            = ast.KindExportAssignment
	KindExportDeclaration           = ast.KindExportDeclaration
	KindExportSpecifier             = ast.KindExportSpecifier
	KindExpressionStatement         = ast.KindExpressionStatement
	KindExternalModuleReference     = ast.KindExternalModuleReference
	KindFalseKeyword                = ast.KindFalseKeyword
	KindFunctionDeclaration         = ast.KindFunctionDeclaration
	KindFunctionExpression          = ast.KindFunctionExpression
	KindGetAccessor                 = ast.KindGetAccessor
	KindHeritageClause              = ast.KindHeritageClause
	KindIdentifier                  = ast.KindIdentifier
	KindIfStatement                 = ast.KindIfStatement
	KindImportClause                = ast.KindImportClause
	KindImportDeclaration           = ast.KindImportDeclaration
	KindImportEqualsDeclaration     = ast.KindImportEqualsDeclaration
	KindImportKeyword               = ast.KindImportKeyword
	KindImportSpecifier             = ast.KindImportSpecifier
	KindImportType                  = ast.KindImportType
	KindInterfaceDeclaration        = ast.KindInterfaceDeclaration
	KindJsxClosingElement           = ast.KindJsxClosingElement
	KindJsxOpeningElement           = ast.KindJsxOpeningElement
	KindJsxSelfClosingElement       = ast.KindJsxSelfClosingElement
	KindLabeledStatement            = ast.KindLabeledStatement
	KindLiteralType                 = ast.KindLiteralType
	KindMethodDeclaration           = ast.KindMethodDeclaration
	KindModuleDeclaration           = ast.KindModuleDeclaration
	KindNamedExports                = ast.KindNamedExports
	KindNamedImports                = ast.KindNamedImports
	KindNamespaceExport             = ast.KindNamespaceExport
	KindNamespaceImport             = ast.KindNamespaceImport
	KindNewExpression               = ast.KindNewExpression
	KindNoSubstitutionTemplate      = ast.KindNoSubstitutionTemplateLiteral
	KindNonNullExpression           = ast.KindNonNullExpression
	KindNullKeyword                 = ast.KindNullKeyword
	KindNumericLiteral              = ast.KindNumericLiteral
	KindObjectBindingPattern        = ast.KindObjectBindingPattern
	KindObjectLiteralExpression     = ast.KindObjectLiteralExpression
	KindOmittedExpression           = ast.KindOmittedExpression
	KindParenthesizedExpression     = ast.KindParenthesizedExpression
	KindPrefixUnaryExpression       = ast.KindPrefixUnaryExpression
	KindPropertyAccessExpression    = ast.KindPropertyAccessExpression
	KindPropertyAssignment          = ast.KindPropertyAssignment
	KindQualifiedName               = ast.KindQualifiedName
	KindRegularExpressionLiteral    = ast.KindRegularExpressionLiteral
	KindSatisfiesExpression         = ast.KindSatisfiesExpression
	KindSetAccessor                 = ast.KindSetAccessor
	KindSourceFile                  = ast.KindSourceFile
	KindShorthandPropertyAssignment = ast.KindShorthandPropertyAssignment
	KindSpreadAssignment            = ast.KindSpreadAssignment
	KindSpreadElement               = ast.KindSpreadElement
	KindStringLiteral               = ast.KindStringLiteral
	KindTemplateExpression          = ast.KindTemplateExpression
	KindTrueKeyword                 = ast.KindTrueKeyword
	KindTypeAliasDeclaration        = ast.KindTypeAliasDeclaration
	KindTypeAssertionExpression     = ast.KindTypeAssertionExpression
	KindTypeKeyword                 = ast.KindTypeKeyword
	KindTypeOfExpression            = ast.KindTypeOfExpression
	KindTypeParameter               = ast.KindTypeParameter
	KindVariableDeclaration         = ast.KindVariableDeclaration
	KindVariableDeclarationList     = ast.KindVariableDeclarationList
	KindVariableStatement           = ast.KindVariableStatement
	KindVoidExpression              = ast.KindVoidExpression
)

// The operators and keywords that the facade tells apart.
const (
	TokenAmpersandAmpersand = ast.KindAmpersandAmpersandToken
	TokenBarBar             = ast.KindBarBarToken
	TokenComma              = ast.KindCommaToken
	TokenEquals             = ast.KindEqualsToken
	TokenEqualsEquals       = ast.KindEqualsEqualsToken
	TokenEqualsEqualsEquals = ast.KindEqualsEqualsEqualsToken
	TokenExclamation        = ast.KindExclamationToken
	TokenExclamationEquals  = ast.KindExclamationEqualsToken
	TokenExclamationEquals2 = ast.KindExclamationEqualsEqualsToken
	TokenExtends            = ast.KindExtendsKeyword
	TokenGreaterThan        = ast.KindGreaterThanToken
	TokenLessThan           = ast.KindLessThanToken
	TokenMinus              = ast.KindMinusToken
	TokenPlus               = ast.KindPlusToken
)
