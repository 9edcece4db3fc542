import type { PrintedTarget } from '@parley/markup';
import type { Format, Formats } from './expected.ts';
import type { Manner } from './manner.ts';
import type { FormatRule } from './program.ts';

type Dialect = PrintedTarget['dialect'];

const MARKS: readonly Format[] = ['bold', 'italic', 'strike'];
/**
 * Formats that only the words of generated documents verify, since spoilers and underline are not
 * part of GFM.
 */
const UNTOLD: readonly Format[] = ['underline', 'spoiler', 'link'];

/** How a dialect shows a document in parts of this length. */
export function mannerOf({ dialect, maxLength, unit }: PrintedTarget): Manner {
  // Table borders and bullets take three bytes each.
  const roomy = maxLength >= ROOMY[dialect] * (unit === 'byte' ? 3 : 1);
  return {
    formats: (formats) => (roomy ? FORMATS[dialect](formats) : undefined),
    addresses: (url) => isLinkable(url, dialect),
    // A link's text cannot escape special characters there, so those stay outside the link.
    linksInPieces: dialect === 'discord',
    addressForm: dialect === 'discord' ? decoded : (url) => url,
    bullets: ['•'],
    tables: dialect === 'html' ? 'native' : 'grid',
    roomy,
    keepsWhole: (length) => roomy && length * 4 < maxLength,
  };
}

/** How the fallback of that dialect shows a document. */
export function fallbackMannerOf(target: PrintedTarget): Manner {
  const { cellSeparator, ...manner } = mannerOf(target);
  const separator = target.dialect === 'html' ? { cellSeparator: '|' } : {};
  return {
    ...manner,
    ...separator,
    formats: () => undefined,
    addresses: 'optional',
    linksInPieces: false,
  };
}

/** From this length on nothing needs to be left out. */
const ROOMY: Readonly<Record<Dialect, number>> = {
  telegram: 300,
  discord: 300,
  whatsapp: 300,
  plain: 300,
  html: 1_500,
};

const FORMATS: Readonly<Record<Dialect, (formats: Formats) => FormatRule | undefined>> = {
  telegram: codeStandsAlone,
  discord: codeStandsAlone,
  whatsapp: (formats) => ({ must: new Set(), may: new Set([...formats, ...UNTOLD]) }),
  plain: () => undefined,
  html: (formats) => ({ must: told(formats), may: new Set(UNTOLD) }),
};

/** Code carries no other format, and in a link the code font is dropped. */
function codeStandsAlone(formats: Formats): FormatRule {
  if (!formats.has('code')) return { must: told(formats), may: new Set(UNTOLD) };
  const may = new Set<Format>([...MARKS, ...UNTOLD, 'code']);
  return { must: formats.has('link') ? new Set() : told(formats, MARKS), may };
}

function told(formats: Formats, less: readonly Format[] = []): Formats {
  return new Set(
    [...formats].filter((format) => !UNTOLD.includes(format) && !less.includes(format)),
  );
}

/** Some characters must be percent-encoded in Discord's links. */
function decoded(url: string): string {
  return url.replaceAll('\\', '/').replaceAll(/(?:%[0-9a-f]{2})+/gi, (bytes) => {
    const text = Buffer.from(bytes.replaceAll('%', ''), 'hex').toString();
    return text.includes('\ufffd') ? bytes : text;
  });
}

function isLinkable(url: string, dialect: Dialect): boolean {
  if (dialect === 'plain' || dialect === 'whatsapp' || !URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  const isWeb = protocol === 'https:' || protocol === 'http:';
  if (dialect === 'html') return isWeb || protocol === 'mailto:';
  return isWeb && (hostname.includes('.') || hostname.startsWith('['));
}
