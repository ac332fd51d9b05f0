package syntax

import "path"

// A recursive parser spends stack on nesting, and a Go program whose stack
// reaches its limit cannot be saved by recover. The package reads texts that
// nobody vouches for, so nesting is estimated before parsing.

const (
	// maxBytes is more than any bundle that a browser would want to load.
	maxBytes = 64 << 20
	// maxDepth is far above what generated code reaches, and below what makes the
	// binder slow (it walks a chain of members once for each member) or fills the
	// default stack of 1 GB (nested brackets at thirty times as much).
	maxDepth = 10_000
	// infixCost divides what an infix + or / counts. They nest to the left, which costs
	// the parser nothing and walkers of the tree little; and embedded base64 must not
	// look like an endless sum.
	infixCost = 16
	// angleCost is how many levels a < counts in TypeScript, where the parser tries
	// each as the start of type arguments and reads on to the end before it gives up.
	angleCost = 25
)

// openers are the words that start something nested without a bracket, or join two
// operands into something nested to the left.
var openers = map[string]bool{
	"if": true, "else": true, "for": true, "while": true, "do": true, "with": true, "typeof": true, "void": true,
	"delete": true, "await": true, "yield": true, "new": true, "throw": true, "return": true, "case": true,
	"in": true, "instanceof": true, "as": true, "satisfies": true, "extends": true, "keyof": true, "unique": true, "readonly": true, "infer": true, "asserts": true, "is": true, "abstract": true,
}

// level is what is counted at one level of brackets, in fractions of infixCost.
type level struct {
	// open counts what may still be open since the last ; or ,.
	open int
	// calls counts brackets behind operands, f()() and a[0][0], which nest to the left.
	calls int
	// commas counts the comma operators since the last ;, which do too.
	commas int
	list   bool // square brackets: commas in it are no operators
	hole   bool // ${ }: what follows it is no new statement
}

// TooDeep says why the text of a file must not be given to a parser of JavaScript or
// TypeScript, or "" when it may be. Parse asks it itself.
//
// It does not tokenize. At each level of brackets it counts what may open a level
// of recursion without a bracket, and adds that up over the levels. Strings and
// comments count like code, which is harmless this far from real texts. An else
// nests in spite of the ; before it, so elses are never forgotten.
func TooDeep(name, content string) string {
	if len(content) > maxBytes {
		return "the file is larger than 64 MB and was not read"
	}
	if len(content) < maxDepth/angleCost {
		return ""
	}
	angle := infixCost
	if isTypeScript(name) {
		angle *= angleCost
	}
	const limit = maxDepth * infixCost
	var (
		stack     []level // the enclosing levels
		now       level
		base      int // the sum of the enclosing levels
		elses     int
		wordStart = -1
		operand   bool // an infix operator may follow
		block     bool // the last token was the end of what may be a block
	)
	for i := 0; i < len(content); i++ {
		c := content[i]
		if isWordByte(c) {
			if wordStart < 0 {
				wordStart = i
			}
			continue
		}
		if wordStart >= 0 {
			word := content[wordStart:min(i, wordStart+16)]
			operand = !openers[word]
			switch {
			case word == "else":
				elses += infixCost
			case !operand:
				now.open += infixCost
			case block:
				now.calls = 0 // a new statement
			}
			wordStart, block = -1, false
		}
		space := c == ' ' || c == '\t' || c == '\r' || c == '\n'
		block = block && space
		switch c {
		case ' ', '\t', '\r', '\n':
		case '(', '[', '{':
			if operand && c != '{' {
				now.calls += infixCost
			}
			base += now.open + now.calls + now.commas + infixCost
			stack = append(stack, now)
			now = level{list: c == '[', hole: c == '{' && i > 0 && content[i-1] == '$'}
			operand = false
		case ')', ']', '}':
			block = c == '}' && !now.hole
			if last := len(stack) - 1; last >= 0 {
				now, stack = stack[last], stack[:last]
				base -= now.open + now.calls + now.commas + infixCost
			}
			operand = true
		case ';':
			now.open, now.calls, now.commas, operand = 0, 0, 0, false
		case ',':
			if !now.list {
				now.commas++
			}
			now.open, now.calls, operand = 0, 0, false
		case '"', '\'':
			operand = true
		case '`':
			if operand {
				now.calls += infixCost // a tag
			}
			operand = true
		case '+', '/':
			if operand {
				now.open++
			} else {
				now.open += infixCost
			}
			operand = false
		case '<':
			now.open += angle
			operand = false
		default:
			now.open += infixCost
			operand = false
		}
		if base+now.open+now.calls+now.commas+elses > limit {
			return "the file is nested too deeply to be read"
		}
	}
	return ""
}

func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func isTypeScript(name string) bool {
	switch path.Ext(name) {
	case ".ts", ".tsx", ".mts", ".cts":
		return true
	}
	return false
}
