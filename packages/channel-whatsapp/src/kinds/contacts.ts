import type { proto } from '@whiskeysockets/baileys';
import { formatHeading, type KindContent, shortenToLine } from './reading.ts';

export function readContact(contact: proto.Message.IContactMessage): KindContent {
  return { shown: formatContactLine(contact) };
}

export function readContacts({ contacts }: proto.Message.IContactsArrayMessage): KindContent {
  return { shown: (contacts ?? []).map(formatContactLine).join('\n') };
}

/**
 * Card properties that are shown to the reader. All other properties are pictures or internal data
 * of the app.
 */
const DETAILS: ReadonlySet<string> = new Set('TEL EMAIL ORG TITLE URL ADR BDAY NOTE'.split(' '));

function formatContactLine({ displayName, vcard }: proto.Message.IContactMessage): string {
  const card = parseProperties(vcard ?? '');
  const find = (wanted: string) => card.find(({ name }) => name === wanted)?.value;
  const name = displayName || find('FN') || find('N');
  const details = card.filter((one) => DETAILS.has(one.name)).map(({ value }) => value);
  return formatHeading(
    'Contact',
    [shortenToLine(name), ...details].filter((part) => part !== '').join(', '),
  );
}

interface VcardProperty {
  readonly name: string;
  readonly value: string;
}

/**
 * A property line such as `item1.TEL;type=CELL:+49 1`. The group and the parameters before the
 * colon are the app's internal data.
 */
const PROPERTY = /^(?:[\w-]+\.)?([\w-]+)((?:;[^:]*)?):(.*)$/;

/** Returns the properties of a card in any format from vCard 2.1 to 4.0. */
function parseProperties(vcard: string): VcardProperty[] {
  return unfoldLines(vcard).flatMap((line) => {
    const [, name = '', parameters = '', written = ''] = PROPERTY.exec(line) ?? [];
    if (name === '') return [];
    const isQuoted = /;(?:ENCODING=)?QUOTED-PRINTABLE/i.test(parameters);
    const value = formatVcardFields(isQuoted ? decodeQuotedPrintable(written) : written);
    return [{ name: name.toUpperCase(), value }];
  });
}

/**
 * Joins folded lines. A continuation line starts with a space or, in the old format, follows a line
 * that ends with `=`.
 */
function unfoldLines(vcard: string): string[] {
  const whole = vcard.replaceAll(/\r\n?/g, '\n').replaceAll(/\n[ \t]/g, '');
  const isOld = /;(?:ENCODING=)?QUOTED-PRINTABLE/i.test(whole);
  return (isOld ? whole.replaceAll('=\n', '') : whole).split('\n');
}

/** Decodes quoted-printable text: `J=C3=B6rg` is `Jörg`. */
function decodeQuotedPrintable(written: string): string {
  const percent = written.replaceAll('%', '=25').replaceAll(/=([\dA-F]{2})/gi, '%$1');
  try {
    return decodeURIComponent(percent);
  } catch {
    return written;
  }
}

/**
 * Splits an address or a company into its fields, some of which may be empty; `\,` is a comma, and
 * `\n` a line break.
 */
function formatVcardFields(value: string): string {
  const fields = value.split(/(?<!\\);/).map((field) => {
    const plain = field.replaceAll(/\\([nN,;:\\])/g, (_, sign: string) =>
      sign.toLowerCase() === 'n' ? ' ' : sign,
    );
    return shortenToLine(plain);
  });
  return fields.filter((field) => field !== '').join(', ');
}
