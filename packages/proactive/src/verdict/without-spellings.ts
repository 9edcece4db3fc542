import { quietSpellings, type SpellingPlace } from './quiet-spelling.ts';

/** What a person could read: letters, digits and pictures, but not the mark of the system. */
const VISIBLE =
  /[[\p{L}\p{N}\p{RI}\p{Extended_Pictographic}]--[⚙\p{Default_Ignorable_Code_Point}]]/v;
const PAIRS: readonly string[] = ['()', '[]', '{}', '<>', '“”', '„“', '«»', '「」', '‘’', '（）'];
const SAME: ReadonlySet<string> = new Set(['*', '_', '~', '`', '"', "'"]);

/** Whether a person could read anything of it. */
export function saysSomething(text: string): boolean {
  return VISIBLE.test(text);
}

/** A text without any spelling of the quiet token, and without the lines and marks that held it alone. */
export function withoutSpellings(written: string): string {
  let text = written;
  for (let places = quietSpellings(text); places.length > 0; places = quietSpellings(text)) {
    // A space stays, so that what stood on both sides becomes no new token.
    text = tidied(
      cut(
        text,
        places.map((place) => widened(text, place)),
      ),
    );
  }
  return text;
}

/** Takes the pairs of marks round a token along. */
function widened(text: string, { start, end }: SpellingPlace): SpellingPlace {
  const [before = '', after = ''] = [text[start - 1], text[end]];
  const isPair =
    (before !== '' && SAME.has(before) && before === after) || PAIRS.includes(before + after);
  if (isPair) return widened(text, { start: start - 1, end: end + 1 });
  const tags = tagsRound(text, { start, end });
  if (tags === null) return { start, end };
  return widened(text, { start: start - tags.open, end: end + tags.close });
}

/** The width of `<b>` before and of `</b>` behind a token; null where there are none. */
function tagsRound(text: string, { start, end }: SpellingPlace) {
  const [open = '', name = ''] =
    /<([a-z]{1,10})>$/i.exec(text.slice(Math.max(0, start - 12), start)) ?? [];
  const close = `</${name}>`;
  const isPair = open !== '' && text.startsWith(close, end);
  return isPair ? { open: open.length, close: close.length } : null;
}

/** `\0` stands where something was taken out: models write none, and it is gone in the end. */
function cut(text: string, places: readonly SpellingPlace[]): string {
  let kept = '';
  let from = 0;
  for (const { start, end } of places) {
    if (start > from) kept += text.slice(from, start);
    kept += '\0';
    from = Math.max(from, end);
  }
  return kept + text.slice(from);
}

/** Lines that held nothing else go; in the others a space stays, and no stop at their beginning. */
function tidied(text: string): string {
  const lines = text.split('\n').flatMap((line) => {
    if (!line.includes('\0')) return [line];
    if (!saysSomething(line)) return [];
    return [
      line
        .replace(/^([\s>#*+-]*)\0[\s\0.,;:!?…。–—-]*/u, '$1')
        .replace(/\s*\0[\s\0]*([.,;:!?…。])/gu, '$1')
        .replace(/\s*\0[\s\0]*$/u, '')
        .replace(/\s*\0[\s\0]*/gu, ' '),
    ];
  });
  return withoutEmptyFences(lines.join('\n'))
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

function withoutEmptyFences(text: string): string {
  return text.replace(/(^|\n)[ \t]*(`{3,}|~{3,})[\w-]*[ \t]*\n\s*\2[ \t]*(?=\n|$)/g, '$1');
}
