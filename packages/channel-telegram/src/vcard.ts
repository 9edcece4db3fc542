/** The vCard fields besides name, number and picture, in display order. */
const SHOWN: ReadonlyMap<string, string> = new Map([
  ['TEL', 'phone'],
  ['EMAIL', 'email'],
  ['ORG', 'organization'],
  ['TITLE', 'title'],
  ['ADR', 'address'],
  ['URL', 'web'],
  ['BDAY', 'birthday'],
  ['NOTE', 'note'],
]);
const MAX_LINES = 100;
const MAX_VALUE = 500;

/** Lines such as `email: bo@example.org`, one for each value of the card that is not in `known`. */
export function listVcardDetails(vcard: string, known: readonly string[]): readonly string[] {
  // A line that begins with a space continues the previous one.
  const lines = vcard
    .replace(/\r?\n[ \t]/g, '')
    .split(/\r?\n/)
    .slice(0, MAX_LINES);
  const found = lines.flatMap((line) => {
    const colon = line.indexOf(':');
    const [name = ''] = line.slice(0, colon).split(';');
    const kind = SHOWN.get((name.split('.').at(-1) ?? '').toUpperCase());
    const value = decodeVcardValue(line.slice(colon + 1));
    return colon < 0 || kind === undefined || value === '' ? [] : [{ kind, value }];
  });
  const shown = [...SHOWN.values()].flatMap((kind) => found.filter((one) => one.kind === kind));
  return shown
    .filter(
      ({ value }) => !known.some((one) => normalizeVcardValue(one) === normalizeVcardValue(value)),
    )
    .map(({ kind, value }) => `${kind}: ${value}`);
}

/** The components of a value are separated by semicolons; a backslash escapes a character. */
function decodeVcardValue(raw: string): string {
  const parts = raw
    .slice(0, MAX_VALUE)
    .replace(/\\n/gi, ' ')
    .split(/(?<!\\);/)
    .map((part) => part.replace(/\\(.)/g, '$1').trim());
  return parts.filter((part) => part !== '').join(', ');
}

/** Phone numbers are compared by their digits, other values exactly. */
function normalizeVcardValue(text: string): string {
  return /^[+\d\s()./-]+$/.test(text) ? text.replace(/\D/g, '') : text;
}
