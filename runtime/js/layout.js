// How this build of the engine lays out values, objects and flags. What is a guess is
// checked by the engine's self-test when it starts.

// High words of values: JSValueTag of this build, NaN boxing.
export const INT = 0;
export const BOOL = 1;
export const NULL = 2;
export const UNDEFINED = 3;
export const UNINITIALIZED = 4;
export const EXCEPTION = 6;
export const SHORT_BIGINT = 7;
export const NAN = 0xfffffff6;
export const BIGINT = 0xfffffff7;
export const SYMBOL = 0xfffffff8;
export const STRING = 0xfffffff9;
export const ROPE = 0xfffffffa;
export const OBJECT = 0xffffffff;
export const FLOAT_BIAS = 0x7ff8000a; // moves a double's high word out of the way of the tags

export const HEADER = 0xffff00ff; // of an object's header word: the second byte is never written
export const INDEX_ATOM = 0x80000000; // an atom with this bit is an array index
export const MAX_ATOMS = 4096;
export const FRAME_BYTES = 1 << 18; // boxes of nested calls; longer lists are allocated
export const TEXT_UNITS = 1 << 12;
export const UNDEFINED_BITS = 3n << 32n;
export const ALL_KEYS = 3; // JS_GPN_STRING_MASK | JS_GPN_SYMBOL_MASK

// Flags of JS_DefineProperty and JS_GetOwnProperty.
export const CONFIGURABLE = 1;
export const WRITABLE = 2;
export const ENUMERABLE = 4;
export const ACCESSOR = 16;
export const HAS_CONFIGURABLE = 1 << 8;
export const HAS_WRITABLE = 1 << 9;
export const HAS_ENUMERABLE = 1 << 10;
export const HAS_GET = 1 << 11;
export const HAS_SET = 1 << 12;
export const HAS_VALUE = 1 << 13;
export const DATA = CONFIGURABLE | WRITABLE | ENUMERABLE;
