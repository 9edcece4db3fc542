/** Shorter values would blot out ordinary words. */
const SHORTEST_SECRET = 6;
/** Shorter base64 could be anything. */
const SHORTEST_BASE64 = 8;

/**
 * All spellings in which a secret may turn up in text: as it is, inside JSON (also JSON within JSON),
 * in a URL, and inside base64 of a longer text.
 */
export function secretForms(secrets: Iterable<string>): string[] {
  const forms = new Set<string>();
  for (const secret of secrets) {
    if (secret.length < SHORTEST_SECRET) continue;
    const inJson = jsonEscaped(secret);
    const inUrl = encodeURIComponent(secret.toWellFormed());
    for (const form of [secret, inJson, jsonEscaped(inJson), inUrl, ...base64Forms(secret)]) {
      forms.add(form);
    }
  }
  return [...forms];
}

function jsonEscaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
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
