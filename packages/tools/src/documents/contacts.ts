import { type ContentLine, parseContentLines, unescapeValue } from './content-lines.ts';

/** Whether a text consists of one or more contacts (`.vcf`). */
export function isContacts(text: string): boolean {
  return /^\s*BEGIN:VCARD\s*$/im.test(text.slice(0, 1_024));
}

/** Renders the contacts as readable text; pictures and keys are only mentioned. */
export function formatContacts(text: string): string {
  const cards: ContentLine[][] = [];
  for (const line of parseContentLines(text)) {
    if (line.name === 'BEGIN') cards.push([]);
    else if (line.name !== 'END') cards.at(-1)?.push(line);
  }
  return cards.map(formatCard).join('\n\n');
}

const SHOWN: readonly (readonly [name: string, label: string])[] = [
  ['NICKNAME', 'Nickname'],
  ['ORG', 'Organization'],
  ['TITLE', 'Title'],
  ['ROLE', 'Role'],
  ['TEL', 'Phone'],
  ['EMAIL', 'Email'],
  ['IMPP', 'Messenger'],
  ['ADR', 'Address'],
  ['URL', 'Web'],
  ['BDAY', 'Birthday'],
  ['ANNIVERSARY', 'Anniversary'],
  ['CATEGORIES', 'Categories'],
  ['NOTE', 'Note'],
];
/** The values of these properties consist of several parts, such as street and town. */
const STRUCTURED: ReadonlySet<string> = new Set(['ADR', 'N', 'ORG']);

function formatCard(lines: readonly ContentLine[]): string {
  const named = (name: string) => lines.find((line) => line.name === name);
  const name = named('FN') ?? named('N') ?? named('ORG') ?? named('EMAIL');
  const facts = SHOWN.flatMap(([name, label]) =>
    lines
      .filter((line) => line.name === name)
      .map((line) => `${label}${formatContactKinds(line)}: ${formatContactValue(line)}`),
  );
  const media = ['PHOTO', 'LOGO', 'KEY'].filter((one) => named(one) !== undefined);
  return [
    `## ${name === undefined ? 'Without a name' : formatContactValue(name)}`,
    ...facts.filter((fact) => !fact.endsWith(': ')),
    ...media.map((one) => `(has a ${one.toLowerCase()}, which is not shown)`),
  ].join('\n');
}

function formatContactValue({ name, value }: ContentLine): string {
  if (!STRUCTURED.has(name)) return unescapeValue(value).replace(/^(?:tel|mailto|impp):/i, '');
  const parts = value.split(/(?<!\\);/).map(unescapeValue);
  const ordered = name === 'N' ? [parts[3], parts[1], parts[2], parts[0], parts[4]] : parts;
  return ordered
    .filter((part) => part !== undefined && part !== '')
    .join(name === 'N' ? ' ' : ', ');
}

/** For example, ` (work, cell)`; vCard 2.1 lists the kinds without `TYPE=`. */
function formatContactKinds({ parameters }: ContentLine): string {
  const bare = Object.entries(parameters).flatMap(([key, value]) =>
    value === '' && !KEYS.has(key) ? [key] : [],
  );
  const kinds = [...(parameters.TYPE ?? '').split(','), ...bare]
    .map((kind) => kind.trim().toLowerCase())
    .filter((kind) => kind !== '' && !UNSAID.has(kind));
  return kinds.length === 0 ? '' : ` (${[...new Set(kinds)].join(', ')})`;
}

const KEYS: ReadonlySet<string> = new Set(['QUOTED-PRINTABLE', 'BASE64', 'CHARSET', 'ENCODING']);
const UNSAID: ReadonlySet<string> = new Set(['pref', 'internet', 'voice']);
