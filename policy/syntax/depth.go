package syntax

// A recursive parser spends stack on nesting, and a Go program whose stack
// reaches its limit cannot be saved by recover. The package reads texts that
// nobody vouches for, so nesting is estimated before parsing.

const (
	// maxBytes is more than any bundle that a browser would want to load.
	maxBytes = 64 << 20
	// maxDepth is ten times what generated code reaches and leaves a wide margin
	// below the depth at which nested brackets, the costliest form, fill the default
	// stack of 1 GB.
	maxDepth = 30_000
	// infixCost divides what infix operators count: they nest to the left, which
	// costs the parser nothing and walkers of the tree little. It also keeps
	// embedded base64, with its + and /, from looking like an endless sum.
	infixCost = 8
)

// openers are the words that start something nested without a bracket.
var openers = map[string]bool{
	"if": true, "else": true, "for": true, "while": true, "do": true, "with": true, "typeof": true, "void": true,
	"delete": true, "await": true, "yield": true, "new": true, "throw": true, "return": true, "case": true,
}

// TooDeep says why a text must not be given to a parser of JavaScript or
// TypeScript, or "" when it may be. Parse asks it itself.
//
// It does not tokenize. At each level of brackets it counts what may open a level
// of recursion without a bracket since the last ; or , and adds that up over the
// levels. Strings and comments count like code, which is harmless this far from
// real texts. An else nests in spite of the ; before it, so elses are never
// forgotten.
func TooDeep(content string) string {
	if len(content) > maxBytes {
		return "the file is larger than 64 MB and was not read"
	}
	if len(content) < maxDepth {
		return ""
	}
	const limit = maxDepth * infixCost // in eighths of a level
	var stack []int                    // counts of the enclosing levels
	base, count, elses := 0, 0, 0      // base is their sum
	wordStart, operand := -1, false    // operand: an infix operator may follow
	for i := 0; i < len(content); i++ {
		c := content[i]
		if c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80 {
			if wordStart < 0 {
				wordStart = i
			}
			continue
		}
		if wordStart >= 0 {
			word := content[wordStart:min(i, wordStart+8)]
			operand = !openers[word]
			switch {
			case word == "else":
				elses += infixCost
			case !operand:
				count += infixCost
			}
			wordStart = -1
		}
		switch c {
		case '(', '[', '{':
			stack = append(stack, count)
			base, count, operand = base+count+infixCost, 0, false
		case ')', ']', '}':
			if last := len(stack) - 1; last >= 0 {
				count, stack = stack[last], stack[:last]
				base -= count + infixCost
			}
			operand = true
		case ';', ',':
			count, operand = 0, false
		case '"', '\'', '`':
			operand = true
		case ' ', '\t', '\r', '\n':
		case '+', '-', '*', '/', '%', '&', '|', '^', '<', '>':
			if operand {
				count++
			} else {
				count += infixCost
			}
			operand = false
		default:
			count += infixCost
			operand = false
		}
		if base+count+elses > limit {
			return "the file is nested too deeply to be read"
		}
	}
	return ""
}
