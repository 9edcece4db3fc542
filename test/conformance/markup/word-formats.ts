import type { PrintedTarget } from '@parley/markup';
import { getManner } from './dialect-manner.ts';
import type { Format, Formats } from './expected.ts';
import type { WrittenFormat } from './sample-words.ts';
import type { TextStretch } from './seen.ts';

const MARKS: readonly Format[] = ['bold', 'italic', 'strike'];
const RICH: readonly Format[] = [...MARKS, 'underline', 'spoiler', 'code', 'link'];

/** The formats that each dialect can show on a word. */
const KNOWN: Readonly<Record<PrintedTarget['dialect'], readonly Format[]>> = {
  telegram: RICH,
  discord: RICH,
  whatsapp: [...MARKS, 'code'],
  slack: [...MARKS, 'code', 'link'],
  'google-chat': [...MARKS, 'code', 'link'],
  teams: [...MARKS, 'code', 'link'],
  gfm: [...MARKS, 'code', 'link'],
  plain: [],
  html: RICH,
};

const WITHOUT_ESCAPES: readonly PrintedTarget['dialect'][] = ['whatsapp', 'slack', 'google-chat'];

/** The formats and the line of a visible generated word. */
export interface SeenWord {
  /** The formats shared by all characters of the word. */
  readonly formats: readonly Format[];
  /** The line that contains the word, without formatting. */
  readonly line: string;
}

/** The formats in which a word must be shown, given its formats in the source. */
export function getRequiredFormats(
  formats: readonly WrittenFormat[],
  word: SeenWord | undefined,
  target: PrintedTarget,
): Format[] {
  const { dialect } = target;
  if (!getManner(target).roomy) return [];
  // These dialects do not have escapes, so a mark beside a literal special character may have to be
  // dropped.
  const isAmongSigns = formats.includes('hard') || /[*_~`]/.test(word?.line ?? '');
  if (WITHOUT_ESCAPES.includes(dialect) && isAmongSigns) return [];
  const known = KNOWN[dialect].filter((format) => formats.includes(format));
  // The text of a link has no marks in this dialect.
  if (WITHOUT_ESCAPES.includes(dialect) && known.includes('link')) return ['link'];
  if (dialect === 'html' || dialect === 'gfm' || !known.includes('code')) return known;
  // Code cannot have other formatting; in a link, the code font is dropped.
  return known.includes('link') ? ['link'] : ['code'];
}

/** Every visible generated word with its formats and its line. */
export function collectSeenWords(
  parts: readonly (readonly TextStretch[])[],
): ReadonlyMap<string, SeenWord> {
  const units: (Formats | undefined)[] = [];
  let text = '';
  for (const { text: piece, formats } of [...parts].flatMap((part) => [...part, LINE_END])) {
    text += piece;
    for (let unit = 0; unit < piece.length; unit += 1) units.push(formats);
  }
  const found = new Map<string, SeenWord>();
  for (const { 0: word, index } of text.matchAll(/w\d+w/g)) {
    const [first, ...others] = units.slice(index, index + word.length);
    const formats = [...(first ?? [])].filter((one) => others.every((each) => each?.has(one)));
    const start = text.lastIndexOf('\n', index) + 1;
    found.set(word, { formats, line: text.slice(start, text.indexOf('\n', index)) });
  }
  return found;
}

const LINE_END: TextStretch = { text: '\n', formats: undefined };
