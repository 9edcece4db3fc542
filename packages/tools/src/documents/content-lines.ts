import { decodeBytes } from '@parley/core/encoding';

/** One line of a calendar or contact: `DTSTART;TZID=Europe/Berlin:20261127T100000`. */
export interface ContentLine {
  /** In upper case, without the group prefix that contacts may have (`item1.TEL`). */
  readonly name: string;
  /** Keyed by names in upper case. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The value as written, except that quoted-printable is decoded. */
  readonly value: string;
}

/**
 * Parses the lines of iCalendar and vCard (RFC 5545, RFC 6350, and vCard 2.1 as exported by
 * phones). Lines that do not have this form are skipped.
 */
export function parseContentLines(text: string): readonly ContentLine[] {
  return unfoldLines(text).flatMap((line) => parseContentLine(line) ?? []);
}

/**
 * Unfolds lines: a continuation line begins with whitespace; in quoted-printable, the preceding
 * line ends with `=`.
 */
function unfoldLines(text: string): readonly string[] {
  const lines: string[] = [];
  for (const line of text.split(/\r\n|\r|\n/)) {
    const before = lines.at(-1);
    const isQuoted = before !== undefined && /;(?:ENCODING=)?QUOTED-PRINTABLE[;:]/i.test(before);
    if (before !== undefined && isQuoted && before.endsWith('=')) {
      lines[lines.length - 1] = `${before.slice(0, -1)}${line.trimStart()}`;
    } else if (before !== undefined && /^[ \t]/.test(line)) {
      lines[lines.length - 1] = `${before}${line.slice(1)}`;
    } else if (line !== '') lines.push(line);
  }
  return lines;
}

function parseContentLine(line: string): ContentLine | null {
  const head = /^((?:[\w-]+\.)?)([\w-]+)((?:;(?:"[^"]*"|[^":])*)?):/.exec(line);
  if (head === null) return null;
  const [whole, , name = '', tail = ''] = head;
  const parameters = parseParameters(tail);
  const raw = line.slice(whole.length);
  const value = isQuotedPrintable(parameters)
    ? decodeQuotedPrintable(raw, parameters.CHARSET)
    : raw;
  return { name: name.toUpperCase(), parameters, value };
}

function parseParameters(tail: string): Readonly<Record<string, string>> {
  const parameters: Record<string, string> = {};
  for (const [, key = '', quoted, plain = ''] of tail.matchAll(
    /;([\w-]+)(?:=(?:"([^"]*)"|([^;]*)))?/g,
  )) {
    const name = key.toUpperCase();
    const value = quoted ?? plain;
    parameters[name] = parameters[name] === undefined ? value : `${parameters[name]},${value}`;
  }
  return parameters;
}

/** In vCard 2.1, the encoding may appear without its parameter name. */
function isQuotedPrintable(parameters: Readonly<Record<string, string>>): boolean {
  return /^q/i.test(parameters.ENCODING ?? '') || 'QUOTED-PRINTABLE' in parameters;
}

function decodeQuotedPrintable(value: string, charset: string | undefined): string {
  const text = value.replace(/=([0-9A-F]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  // The text contains a character beyond one byte, so the value was not quoted-printable.
  if (/[^\0-\xff]/.test(text)) return text;
  return decodeBytes(Buffer.from(text, 'latin1'), { declared: charset }).text;
}

/** Unescapes the text of a value, in which line breaks and separators are escaped. */
export function unescapeValue(value: string): string {
  return value
    .replace(/\\([nN,;:\\])/g, (_, sign: string) => (/n/i.test(sign) ? '\n' : sign))
    .trim();
}
