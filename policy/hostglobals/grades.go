package hostglobals

import (
	"regexp"
	"strings"
	"sync"
)

// A global is graded by what a library can reach from it, following properties and
// results as far as they go, since whatever a granted object leads to is granted
// with it. That is why `open` and `Text` stand beside `document`: a window that was
// opened knows its opener, and a text node its document.

// rule grades the globals of a list of names or, for whole families of them, those
// that a pattern matches.
type rule struct {
	names    string // separated by white space
	pattern  *regexp.Regexp
	shape    Shape // "" for any
	grade    Grade
	reason   string // one sentence
	narrower string
}

// rules are asked in order: names first, then patterns. The last ones match
// everything.
var rules = []rule{
	// Realm.
	{
		names: "parent top opener frameElement", grade: Realm,
		reason:   "It may be another window, and through that window's document and global object it leads to everything that the page has.",
		narrower: "Pass what the library needs from there as an argument.",
	},
	{
		names: "document", grade: Realm,
		reason:   "A script element, a frame or a handler that is put into the page runs outside of the sandbox.",
		narrower: "Let the application touch the page, and pass the library the data or the one function that it needs.",
	},
	{
		names: "Function eval", grade: Realm,
		reason:   "It makes code out of text in the host realm, which then runs outside of the sandbox.",
		narrower: "Grant nothing: the guest has its own, which makes code inside the sandbox.",
	},
	{
		names: "importScripts", grade: Realm,
		reason:   "It loads scripts that run in the worker itself, outside of the sandbox.",
		narrower: "Bundle the script into the library or a workload.",
	},
	{
		names: "require module", grade: Realm,
		reason:   "It loads any module of the application or of Node, the file system and child processes included.",
		narrower: "Bundle the module that is needed, or let the application call it in a function that it passes.",
	},
	{
		names: "process", grade: Realm,
		reason:   "process.getBuiltinModule and process.mainModule load the file system and child processes, and process.env holds the secrets of the server.",
		narrower: "Give the library an object with the values that it reads, such as `{ env: { NODE_ENV: \"production\" } }`, through `capabilities`.",
	},
	{
		names: "open", grade: Realm,
		reason:   "The window that it returns runs any text as code outside of the sandbox, and has the page as its opener.",
		narrower: "Pass a function that opens one fixed address and returns nothing.",
	},
	{
		names: "location", grade: Realm,
		reason:   "It navigates the page, and an address that begins with javascript: runs as code outside of the sandbox.",
		narrower: "Pass the address as a string, or a function that navigates to known places.",
	},
	{
		names: "event addEventListener removeEventListener dispatchEvent captureEvents releaseEvents getSelection", grade: Realm,
		reason:   "It leads to events or selections of the page, which carry their elements, and an element leads to its document, through which code runs outside of the sandbox.",
		narrower: "Let the application listen, and pass the library the values that it needs.",
	},
	{
		names: "Image Audio Option Text Comment DocumentFragment Range customElements Window", grade: Realm,
		reason:   "What it makes or knows are nodes of the page, and a node leads to its document, through which code runs outside of the sandbox.",
		narrower: "Let the application make the nodes from data that the library returns.",
	},
	{
		names: "navigation", grade: Realm,
		reason:   "It navigates the page, and its events carry the element that the navigation started from, which leads to the document.",
		narrower: "Pass a function that navigates to known places.",
	},
	{
		names: "chrome browser", grade: Realm,
		reason:   "The API of extensions reaches every tab and site that the extension may reach.",
		narrower: "Pass the one function of it that the library needs.",
	},
	{
		names: "documentPictureInPicture", grade: Realm,
		reason:   "It hands over a window with a document of its own, through which code runs outside of the sandbox.",
		narrower: "Let the application open the window, and pass the library the data it needs.",
	},

	// Powerful.
	{
		names: "fetch XMLHttpRequest", grade: Powerful,
		reason:   "It sends requests anywhere with the credentials of the page's user, and so can carry away whatever the library sees.",
		narrower: "Narrow fetch to the addresses that the library needs: `{ name: \"fetch\", allow: [\"https://api.example.com/*\"] }`.",
	},
	{
		names: "WebSocket", grade: Powerful,
		reason:   "It keeps a connection open to any server, over which data can leave.",
		narrower: "Narrow it to the addresses that the library needs with `allow`.",
	},
	{
		names: "EventSource", grade: Powerful,
		reason:   "It keeps a connection open to any server, over which data can leave, and follows redirects to others unseen.",
		narrower: "Narrow fetch instead, and read the stream of its response.",
	},
	{
		names: "WebTransport RTCPeerConnection webkitRTCPeerConnection RTCDataChannel", grade: Powerful,
		reason: "It connects to any server or peer, past what request filters see.",
	},
	{
		names: "localStorage sessionStorage", grade: Powerful,
		reason:   "It holds what every part of the application keeps there, session tokens included, and what is written outlives the page.",
		narrower: "Narrow it to the library's own keys: `{ name: \"localStorage\", allow: [\"mylib:*\"] }`.",
	},
	{
		names: "indexedDB caches cookieStore sharedStorage webkitRequestFileSystem", grade: Powerful,
		reason:   "It reads and writes what the whole application keeps in the browser, and what is written outlives the page.",
		narrower: "Pass the library an object that reads and writes its own entries only.",
	},
	{
		names: "Worker SharedWorker", grade: Powerful,
		reason:   "It starts a script in a thread of its own, outside of the sandbox and of its limits, with the network and the storage of the page.",
		narrower: "Run the library itself in a worker, or move the work into a workload.",
	},
	{
		names: "BroadcastChannel postMessage", grade: Powerful,
		reason:   "It sends messages to other parts of the application, which trust what comes from their own origin.",
		narrower: "Pass a function that sends the messages that the library is meant to send.",
	},
	{
		names: "navigator clientInformation Navigator WorkerNavigator", grade: Powerful,
		reason:   "It leads to the clipboard, the location, service workers, files and devices, and tells one user from another.",
		narrower: "Give the library an object with the values that it reads, such as `{ language: \"en\" }`, through `capabilities`.",
	},
	{
		names: "history", grade: Powerful,
		reason:   "It changes the address of the page and moves the user through it.",
		narrower: "Pass a function that navigates to known places.",
	},
	{
		names: "alert confirm prompt print find focus blur close stop moveBy moveTo resizeBy resizeTo scroll scrollBy scrollTo", grade: Powerful,
		reason:   "It acts on the user's window: it interrupts, moves or closes what the user sees.",
		narrower: "Return what should be shown, and let the application show it.",
	},
	{
		names: "Notification PaymentRequest PresentationRequest speechSynthesis EyeDropper showDirectoryPicker showOpenFilePicker showSaveFilePicker launchQueue", grade: Powerful,
		reason:   "It speaks to the user in the name of the page, and may get files or payments in return.",
		narrower: "Let the application ask the user, and pass the answer on.",
	},
	{
		names: "AudioContext webkitAudioContext MediaRecorder ImageCapture SpeechRecognition webkitSpeechRecognition NDEFReader IdleDetector Accelerometer AmbientLightSensor Gyroscope Magnetometer PressureObserver queryLocalFonts getScreenDetails MediaStreamTrackProcessor", grade: Powerful,
		reason: "It uses or observes devices: loudspeakers, microphones, cameras, sensors.",
	},
	{
		names: "PublicKeyCredential PasswordCredential FederatedCredential IdentityCredential DigitalCredential", grade: Powerful,
		reason: "It handles what the user signs in with.",
	},
	{
		names: "LanguageModel Summarizer Translator LanguageDetector", grade: Powerful,
		reason: "It runs the browser's language models, at the user's cost and with what the library sees.",
	},
	{
		names: "FontFace fonts CSS CSSStyleSheet getComputedStyle Animation Highlight", grade: Powerful,
		reason:   "It changes or reads how the page looks, and style sheets and fonts load from addresses that can carry data away.",
		narrower: "Give the library the one function that it calls, such as `{ escape: CSS.escape }` for CSS, through `capabilities`.",
	},
	{
		names: "trustedTypes", grade: Powerful,
		reason: "It makes the policies that declare text safe to run, on which the page's protection against injected scripts rests.",
	},
	{
		names: "Buffer", grade: Powerful,
		reason:   "Small buffers share one block of memory with the rest of the process, so that buffer.buffer shows data of other code.",
		narrower: "Use Uint8Array, which the guest has, and TextEncoder.",
	},
	{
		names: "Request Response", grade: Pure,
		reason: "It describes a request or an answer; nothing is sent before fetch gets it.",
	},
	{
		names: "reportError", grade: Powerful,
		reason: "It raises an error in the page, whose error handlers get what the library puts into it and may send it on.",
	},

	// Ambient.
	{
		names: "setTimeout setInterval setImmediate clearTimeout clearInterval clearImmediate requestAnimationFrame cancelAnimationFrame requestIdleCallback cancelIdleCallback scheduler Scheduler", grade: Ambient,
		reason: "It runs the library's functions later, and so goes on after the call that started it.",
	},
	{
		names: "queueMicrotask", grade: Ambient,
		reason: "It runs the library's functions after the call that started it.",
	},
	{
		names: "console", grade: Ambient,
		reason: "It writes to the log of the page or the server; what reads the logs sees what the library writes.",
	},
	{
		names: "performance Performance Date Temporal", grade: Ambient,
		reason: "It reads the clock, precisely enough to measure what other code does.",
	},
	{
		names: "PerformanceObserver ReportingObserver", grade: Ambient,
		reason: "It sees what the page loads and how long it takes, addresses included.",
	},
	{
		names: "crypto Math", grade: Ambient,
		reason: "It gives random numbers; a library with it may behave differently in every run.",
	},
	{
		names: "Crypto SubtleCrypto", grade: Ambient,
		reason: "It is the class behind crypto and does nothing without an object of it.",
	},
	{
		names: "screen devicePixelRatio innerHeight innerWidth outerHeight outerWidth screenLeft screenTop screenX screenY scrollX scrollY pageXOffset pageYOffset visualViewport orientation matchMedia locationbar menubar personalbar scrollbars statusbar toolbar", grade: Ambient,
		reason: "It reads the size and the state of the user's window and screen.",
	},
	{
		names: "isSecureContext crossOriginIsolated origin originAgentCluster closed length external name status", grade: Ambient,
		reason: "It is a fact about the page that the library runs in.",
	},
	{
		names: "__dirname __filename", grade: Ambient,
		reason: "It tells where the application lies on the server's disk.",
	},
	{
		names: "exports", grade: Ambient,
		reason: "It is what the application's module exports, and the library could change it.",
	},
	{
		names: "WebAssembly SharedArrayBuffer Atomics", grade: Ambient,
		reason: "It computes outside of the guest's memory and time limits, and shared memory makes a precise clock.",
	},
	{
		names: "OffscreenCanvas CanvasRenderingContext2D OffscreenCanvasRenderingContext2D createImageBitmap OfflineAudioContext ImageDecoder VideoDecoder VideoEncoder AudioDecoder AudioEncoder GPU WebGLRenderingContext WebGL2RenderingContext BarcodeDetector", grade: Ambient,
		reason: "It computes on the user's hardware, whose results tell one machine from another.",
	},
	{
		names: "WeakRef FinalizationRegistry", grade: Ambient,
		reason: "It observes when the host frees memory.",
	},

	// Pure.
	{
		// The host's global object crosses as the guest's, whatever name it was reached by.
		names: "window self globalThis global frames", grade: Pure,
		reason: "It is the sandbox's own global object under that name: nothing of the host comes with it, and each member of the host still needs a grant of its own.",
	},
	{
		names: "Intl", grade: Pure,
		reason: "It computes from its arguments; all that it tells about the host is the language, the time zone and the data that it has.",
	},
	{
		names: "undefined NaN Infinity isNaN isFinite parseInt parseFloat encodeURI encodeURIComponent decodeURI decodeURIComponent escape unescape JSON Reflect Proxy Object Array String Number Boolean Symbol BigInt RegExp Map Set WeakMap WeakSet Promise Iterator ArrayBuffer DataView Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError SuppressedError DisposableStack AsyncDisposableStack", grade: Pure,
		reason: "It belongs to the language and reaches nothing outside of it.",
	},
	{
		pattern: regexp.MustCompile(`^(Big)?(Uint|Int|Float)\d+(Clamped)?Array$`), grade: Pure,
		reason: "It belongs to the language and reaches nothing outside of it.",
	},
	{
		names: "URL URLSearchParams URLPattern webkitURL TextEncoder TextDecoder TextEncoderStream TextDecoderStream structuredClone atob btoa toString", grade: Pure,
		reason: "It computes from its arguments and reaches nothing.",
	},
	{
		names: "AbortController AbortSignal EventTarget MessageChannel MessagePort DOMException QuotaExceededError", grade: Pure,
		reason: "It connects parts of a program that already know each other and reaches nothing by itself.",
	},
	{
		names: "Blob File FileReader FileReaderSync FormData Headers Storage", grade: Pure,
		reason: "It holds data that the library made or was given.",
	},
	{
		names: "DOMMatrix DOMMatrixReadOnly DOMPoint DOMPointReadOnly DOMQuad DOMRect DOMRectReadOnly SVGMatrix SVGPoint SVGRect WebKitCSSMatrix ImageData Path2D IDBKeyRange NodeFilter", grade: Pure,
		reason: "It computes with numbers and reaches nothing.",
	},
	{
		names: "CompressionStream DecompressionStream ByteLengthQueuingStrategy CountQueuingStrategy", grade: Pure,
		reason: "It transforms the data that it is given.",
	},
	{
		pattern: regexp.MustCompile(`^(Readable|Writable|Transform)(ByteStream|Stream)`), grade: Pure,
		reason: "It transforms the data that it is given.",
	},

	// Families.
	{
		pattern: regexp.MustCompile(`Event$`), shape: Class, grade: Pure,
		reason: "It is a kind of event: data that the library makes, or is given.",
	},
	{
		pattern: regexp.MustCompile(`^on[a-z]`), grade: Ambient,
		reason: "It is the handler that the page has set for an event; granting it gives the library that function and no events.",
	},
	{
		pattern: regexp.MustCompile(`^(HTML|SVG|MathML).*|^(Element|Node|NodeList|Document|XMLDocument|ShadowRoot|CharacterData|Attr|CDATASection|DocumentType|ProcessingInstruction|DOMParser|XMLSerializer|XSLTProcessor|XPathEvaluator|Selection|StaticRange|MutationObserver|IntersectionObserver|ResizeObserver)$`), grade: Ambient,
		reason: "It is a class of the page's content: the library recognises with it the elements that it is given, and gets none.",
	},
	{
		shape: Class, grade: Ambient,
		reason: "It is a class of objects that the host makes: the library recognises with it those that it is given, and gets none that is in use.",
	},
	{
		grade:  Powerful,
		reason: "It acts on the page, or reads it, in a way that has not been looked at more closely.",
	},
}

// byName holds the rules of names; the first one that names a global counts.
var byName = sync.OnceValue(func() map[string]*rule {
	named := make(map[string]*rule, 400)
	for i := range rules {
		for name := range strings.FieldsSeq(rules[i].names) {
			if named[name] == nil {
				named[name] = &rules[i]
			}
		}
	}
	return named
})

// gradeOf finds the rule that grades a global.
func gradeOf(name string, shape Shape) *rule {
	if r := byName()[name]; r != nil {
		return r
	}
	for i := range rules {
		r := &rules[i]
		if r.names == "" && (r.pattern == nil || r.pattern.MatchString(name)) && (r.shape == "" || r.shape == shape) {
			return r
		}
	}
	return nil // the last rule matches everything
}
