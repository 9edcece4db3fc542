import type { PrintedTarget } from '@parley/markup';
import type { Format, Formats } from './expected.ts';
import type { DialectManner } from './manner.ts';
import type { FormatRule } from './program.ts';

type Dialect = PrintedTarget['dialect'];

const MARKS: readonly Format[] = ['bold', 'italic', 'strike'];
/**
 * Spoilers and underline are not part of GFM, so only the words of generated documents verify them.
 */
const UNTOLD: readonly Format[] = ['underline', 'spoiler', 'link'];

/** The way in which a dialect shows a document in parts of this length. */
export function getManner({ dialect, maxLength, unit }: PrintedTarget): DialectManner {
  // Table borders and bullets take three bytes each.
  const roomy = maxLength >= ROOMY[dialect] * (unit === 'byte' ? 3 : 1);
  return {
    formats: (formats) => (roomy ? FORMATS[dialect](formats) : undefined),
    addresses: (url) => isLinkable(url, dialect),
    // The text of a link cannot escape special characters in this dialect, so these stay outside
    // the link.
    linksInPieces: ['discord', 'slack', 'google-chat'].includes(dialect),
    addressForm: ENCODED.includes(dialect) ? decodeUrl : (url) => url,
    bullets: ['•'],
    tables: NATIVE_TABLES.includes(dialect) ? 'native' : 'grid',
    roomy,
    keepsWhole: (length) => roomy && length * 4 < maxLength,
  };
}

/** The way in which the fallback of a dialect shows a document. */
export function getFallbackManner(target: PrintedTarget): DialectManner {
  const { cellSeparator, ...manner } = getManner(target);
  const separator = NATIVE_TABLES.includes(target.dialect) ? { cellSeparator: '|' } : {};
  return {
    ...manner,
    ...separator,
    formats: () => undefined,
    addresses: 'optional',
    linksInPieces: false,
  };
}

/** From this length on, nothing needs to be left out. */
const ROOMY: Readonly<Record<Dialect, number>> = {
  telegram: 300,
  discord: 300,
  whatsapp: 300,
  slack: 600,
  'google-chat': 300,
  teams: 500,
  gfm: 600,
  plain: 300,
  html: 1_500,
};

const FORMATS: Readonly<Record<Dialect, (formats: Formats) => FormatRule | undefined>> = {
  telegram: isolateCode,
  discord: isolateCode,
  whatsapp: allowOnlySafe,
  slack: allowOnlySafe,
  'google-chat': allowOnlySafe,
  teams: isolateCode,
  gfm: (formats) => ({ must: removeFormats(formats), may: new Set(UNTOLD) }),
  plain: () => undefined,
  html: (formats) => ({ must: removeFormats(formats), may: new Set(UNTOLD) }),
};

/** Marks that some client would not show are left out. */
function allowOnlySafe(formats: Formats): FormatRule {
  return { must: new Set(), may: new Set([...formats, ...UNTOLD]) };
}

/** Code cannot have other formatting, and a link drops the code font. */
function isolateCode(formats: Formats): FormatRule {
  if (!formats.has('code')) return { must: removeFormats(formats), may: new Set(UNTOLD) };
  const may = new Set<Format>([...MARKS, ...UNTOLD, 'code']);
  return { must: formats.has('link') ? new Set() : removeFormats(formats, MARKS), may };
}

function removeFormats(formats: Formats, less: readonly Format[] = []): Formats {
  return new Set(
    [...formats].filter((format) => !UNTOLD.includes(format) && !less.includes(format)),
  );
}

const NATIVE_TABLES: readonly Dialect[] = ['html', 'gfm'];

/** Dialects in whose links some characters must be percent-encoded. */
const ENCODED: readonly Dialect[] = ['discord', 'slack', 'google-chat', 'teams', 'gfm'];

function decodeUrl(url: string): string {
  return url.replaceAll('\\', '/').replaceAll(/(?:%[0-9a-f]{2})+/gi, (bytes) => {
    const text = Buffer.from(bytes.replaceAll('%', ''), 'hex').toString();
    return text.includes('\ufffd') ? bytes : text;
  });
}

function isLinkable(url: string, dialect: Dialect): boolean {
  if (dialect === 'plain' || dialect === 'whatsapp' || !URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  const isWeb = protocol === 'https:' || protocol === 'http:';
  if (protocol === 'mailto:') return dialect === 'html' || dialect === 'gfm' || dialect === 'slack';
  if (dialect === 'html' || dialect === 'gfm' || dialect === 'teams') return isWeb;
  return isWeb && (hostname.includes('.') || hostname.startsWith('['));
}
