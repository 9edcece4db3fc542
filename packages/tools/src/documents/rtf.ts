import { decodeBytes } from '@parley/core/encoding';

/**
 * Groups whose text is not part of the document: font and style tables, pictures, program
 * annotations.
 */
const NO_TEXT: ReadonlySet<string> = new Set(
  'fonttbl colortbl stylesheet listtable listoverridetable info pict object themedata colorschememapping datastore latentstyles rsidtbl generator xmlnstbl header headerl headerr headerf footer footerl footerr footerf ftnsep fldinst nonshppict bkmkstart bkmkend filetbl revtbl mmathPr'.split(
    ' ',
  ),
);

/** The text that a control word stands for. */
const SIGNS: Readonly<Record<string, string>> = {
  par: '\n',
  line: '\n',
  sect: '\n\n',
  page: '\n\n',
  row: '\n',
  cell: '\t',
  tab: '\t',
  emdash: '—',
  endash: '–',
  bullet: '•',
  lquote: '‘',
  rquote: '’',
  ldblquote: '“',
  rdblquote: '”',
  emspace: ' ',
  enspace: ' ',
};

/** The code pages of the character sets declared by fonts. */
const CHARSETS: Readonly<Record<string, string>> = {
  0: 'windows-1252',
  77: 'macintosh',
  128: 'shift_jis',
  129: 'euc-kr',
  134: 'gb18030',
  136: 'big5',
  161: 'windows-1253',
  162: 'windows-1254',
  163: 'windows-1258',
  177: 'windows-1255',
  178: 'windows-1256',
  186: 'windows-1257',
  204: 'windows-1251',
  222: 'windows-874',
  238: 'windows-1250',
};
const PAGES: Readonly<Record<string, string>> = {
  932: 'shift_jis',
  936: 'gb18030',
  949: 'euc-kr',
  950: 'big5',
  65001: 'utf-8',
  10000: 'macintosh',
};

/** A group in the document; its settings end where the group ends. */
interface RtfGroup {
  readonly isText: boolean;
  readonly font: string;
  /** The number of fallback characters after `\u`, for programs that do not support it. */
  readonly fallback: number;
}

const TOKEN = /\\(?:'([0-9a-f]{2})|([a-z]+)(-?\d+)? ?|([^a-z]))|([{}])|([^\\{}\r\n]+)|[\r\n]+/gi;

/** Extracts the text of an RTF document. Damaged parts are omitted. */
export function extractRtfText(source: string): string {
  const page = /\\ansicpg(\d+)/.exec(source.slice(0, 1_024))?.[1] ?? '1252';
  const fonts = readFontCharsets(source);
  const groups: RtfGroup[] = [];
  let group: RtfGroup = { isText: true, font: '', fallback: 1 };
  const pieces: string[] = [];
  let bytes: number[] = [];
  let skip = 0;
  const flush = (): void => {
    if (bytes.length === 0) return;
    const declared = CHARSETS[fonts.get(group.font) ?? ''] ?? PAGES[page] ?? `windows-${page}`;
    pieces.push(decodeBytes(Uint8Array.from(bytes), { declared }).text);
    bytes = [];
  };
  const put = (text: string): void => {
    const shown = text.slice(skip);
    skip = Math.max(0, skip - text.length);
    if (!group.isText || shown === '') return;
    flush();
    pieces.push(shown);
  };
  for (const [, hex, word, number, sign, brace, text] of source.matchAll(TOKEN)) {
    if (hex !== undefined) {
      if (skip > 0) skip -= 1;
      else if (group.isText) bytes.push(Number.parseInt(hex, 16));
    } else if (brace !== undefined) {
      flush();
      skip = 0;
      if (brace === '{') groups.push(group);
      else group = groups.pop() ?? group;
    } else if (text !== undefined) put(text);
    else if (word === 'u' && number !== undefined) {
      skip = 0;
      put(String.fromCharCode((Number(number) + 0x10000) % 0x10000));
      skip = group.fallback;
    } else if (word !== undefined) {
      flush();
      group = applyControlWord(group, word, number);
      put(SIGNS[word] ?? '');
    } else if (sign === '*') group = { ...group, isText: false };
    else if (sign !== undefined)
      put(sign === '~' ? '\u00a0' : sign === '_' ? '-' : /[\\{}]/.test(sign) ? sign : '');
  }
  flush();
  return pieces.join('').toWellFormed();
}

function applyControlWord(group: RtfGroup, word: string, number: string | undefined): RtfGroup {
  if (NO_TEXT.has(word)) return { ...group, isText: false };
  if (word === 'f' && number !== undefined) return { ...group, font: number };
  if (word === 'uc') return { ...group, fallback: Number(number ?? 1) };
  return group;
}

/** The character set of each font, by font number. */
function readFontCharsets(source: string): ReadonlyMap<string, string> {
  const found = source.matchAll(/\\f(\d+)(?:\\[a-z]+-?\d*\s?)*?\\fcharset(\d+)/g);
  return new Map([...found].map(([, font = '', charset = '']) => [font, charset]));
}
