// SHA-256 for pages that came over plain HTTP, which have no crypto.subtle. It is our own
// because the runtime has to work in pages that no bundler has resolved packages for.

const INITIAL = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];

/** The first 32 bits of the fractions of the cube roots of the first 64 primes. */
const ROUND = new Uint32Array(64);
for (let number = 2, found = 0; found < 64; number++) {
  let isPrime = true;
  for (let divisor = 2; divisor * divisor <= number && isPrime; divisor++) isPrime = number % divisor !== 0;
  if (isPrime) ROUND[found++] = (Math.cbrt(number) % 1) * 2 ** 32;
}

const BLOCK_BYTES = 64;
const turned = (word, by) => (word >>> by) | (word << (32 - by));

/** The hash of some bytes, as bytes. */
export function sha256(bytes) {
  const padded = new Uint8Array((((bytes.length + 8) >> 6) + 1) << 6);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(bytes.length) * 8n);
  const state = Uint32Array.from(INITIAL);
  const words = new Uint32Array(64);
  for (let at = 0; at < padded.length; at += BLOCK_BYTES) {
    for (let i = 0; i < 16; i++) words[i] = view.getUint32(at + 4 * i);
    for (let i = 16; i < 64; i++) {
      const [early, late] = [words[i - 15], words[i - 2]];
      words[i] = words[i - 16] + (turned(early, 7) ^ turned(early, 18) ^ (early >>> 3)) + words[i - 7] + (turned(late, 17) ^ turned(late, 19) ^ (late >>> 10));
    }
    mix(state, words);
  }
  const sum = new DataView(new ArrayBuffer(32));
  for (let i = 0; i < 8; i++) sum.setUint32(4 * i, state[i]);
  return new Uint8Array(sum.buffer);
}

function mix(state, words) {
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; i++) {
    const first = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + ROUND[i] + words[i]) | 0;
    const second = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) state[i] += word;
}
