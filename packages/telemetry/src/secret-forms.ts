/** Shorter values would blot out ordinary words. */
const SHORTEST_SECRET = 6;
/** Shorter base64 could be anything. */
const SHORTEST_BASE64 = 8;
/** A password that is one word of letters would take that word out of every answer. */
const WORD = /^[a-z]{1,8}$/i;

/**
 * All spellings in which a secret may turn up in text: as it is, inside JSON (also JSON within JSON),
 * in a URL, in HTML, in hexadecimal digits, and inside base64 of a longer text. Values shorter than 6
 * characters, and single words of at most 8 letters (`postgres`), are nobody's secret.
 */
export function secretForms(secrets: Iterable<string>): string[] {
  const forms = new Set<string>();
  for (const secret of secrets) {
    if (secret.length < SHORTEST_SECRET || WORD.test(secret)) continue;
    const inJson = jsonEscaped(secret);
    const inUrl = encodeURIComponent(secret.toWellFormed());
    const escaped = [inJson, jsonEscaped(inJson), htmlEscaped(secret)];
    const encoded = [inUrl, lowerCaseEscapes(inUrl), ...hexForms(secret), ...base64Forms(secret)];
    for (const form of [secret, ...escaped, ...encoded]) forms.add(form);
  }
  return [...forms];
}

function jsonEscaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function htmlEscaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** `%3a` is as good as `%3A`. */
function lowerCaseEscapes(inUrl: string): string {
  return inUrl.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
}

function hexForms(secret: string): string[] {
  const hex = Buffer.from(secret, 'utf8').toString('hex');
  return [hex, hex.toUpperCase()];
}

/**
 * Base64 turns three bytes into four characters, so a secret within a longer text (`user:password`)
 * has three spellings. Characters at the edges that also hold bits of neighbours are left out.
 */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret, 'utf8');
  const forms = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    const first = Math.ceil((shift * 8) / 6);
    const last = Math.floor(((shift + bytes.length) * 8) / 6);
    return text.slice(first, last);
  });
  const long = forms.filter((form) => form.length >= SHORTEST_BASE64);
  return [...long, ...long.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))];
}
