package resolve

import "strings"

// definitelyTyped are packages, by name without @types, whose declarations
// DefinitelyTyped publishes and which bring none of their own. That it has some can be
// said for certain only of names that somebody looked up: the tools ask no registry.
// What is listed was looked up in npm's index in December 2026; packages that ship
// their own declarations by now, such as uuid and marked, have only an empty stub there
// and are not listed.
var definitelyTyped = nameSet(`
	accepts babel__core babel__traverse backbone bcrypt bn.js body-parser bootstrap chai
	chroma-js clone codemirror color compression cookie-parser cors crypto-js d3 d3-array
	d3-scale d3-selection d3-shape d3-time dagre debug deep-equal deep-freeze ejs elliptic
	escape-html etag express express-session file-saver fresh fs-extra hammerjs he
	hoist-non-react-statics http-errors inquirer jquery js-cookie js-yaml jsdom
	jsonwebtoken leaflet linkify-it lodash lodash-es lodash.debounce lodash.get
	lodash.merge lodash.throttle luxon markdown-it mdurl mime-types minimist mocha morgan
	ms multer mustache mysql node-forge nodemailer nprogress numeral nunjucks
	object-assign papaparse passport pg picomatch pluralize prismjs prop-types pug qs
	quill ramda range-parser react react-beautiful-dnd react-dom react-redux
	react-transition-group regenerator-runtime request sanitize-html seedrandom select2
	semver send serve-static setimmediate sinon sortablejs sprintf-js statuses
	styled-components superagent supertest three tinycolor2 tough-cookie turndown
	underscore underscore.string unzipper url-parse validator vary vinyl ws xml2js yargs
`)

func nameSet(names string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		set[name] = true
	}
	return set
}

// TypesPackage returns the name under which DefinitelyTyped publishes the declarations
// of a library, if it has any: "@types/lodash" for lodash, "@types/scope__name" for
// @scope/name. known says that it has them.
func TypesPackage(library string) (types string, known bool) {
	name, _, ok := SplitRequest(library)
	if !ok {
		return "", false
	}
	if scope, rest, scoped := strings.Cut(name, "/"); scoped {
		name = strings.TrimPrefix(scope, "@") + "__" + rest
	}
	return "@types/" + name, definitelyTyped[name]
}
