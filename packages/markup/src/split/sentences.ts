/** Ends of sentences that a space follows: Latin, Arabic, Urdu, Hindi, Armenian, Ethiopic. */
const STOPS = '.!?…؟۔।॥։።';
/** Ends of sentences that nothing follows: Chinese, Japanese. */
const WIDE_STOPS = '。！？｡．';
/** What closes behind a stop and stays with its sentence. */
const CLOSERS = `"'”’»›)]}」』）】》〉〕］｝`;
/** Words that a full stop shortens; a sentence rarely ends with one. */
const SHORTENED = new Set(
  'mr mrs ms dr prof st vs cf no nr fig vol art abs approx ca bzw vgl usw inkl ggf sog'.split(' '),
);
/** More of them behind each other close no sentence; looking at all would take too long. */
const MOST_CLOSERS = 8;
/** Longest word looked at before a full stop. */
const WORD = 12;

/** Whether the white space behind `end` separates two sentences. */
export function endsSentence(text: string, end: number, next: string): boolean {
  const stop = beforeClosers(text, end);
  const character = text[stop] ?? ' ';
  if (WIDE_STOPS.includes(character)) return true;
  // "Stop!" he said: a sentence does not go on in small letters after its end.
  if (!STOPS.includes(character) || /\p{Ll}/u.test(next)) return false;
  return character !== '.' || !isShortened(text.slice(Math.max(0, stop - WORD), stop));
}

/** Whether a sentence ends at `end` without white space, as in Chinese and Japanese. */
export function endsWideSentence(text: string, end: number): boolean {
  const after = text[end] ?? '';
  if (CLOSERS.includes(after) || WIDE_STOPS.includes(after)) return false;
  return WIDE_STOPS.includes(text[beforeClosers(text, end)] ?? ' ');
}

function beforeClosers(text: string, end: number): number {
  let at = end - 1;
  const least = Math.max(0, end - 1 - MOST_CLOSERS);
  while (at > least && CLOSERS.includes(text[at] ?? ' ')) at -= 1;
  return at;
}

/** An abbreviation (`e.g`, `Dr`), an initial, or the number of a list or a date (`3. Mai`). */
function isShortened(before: string): boolean {
  const word = before.split(/[\s([{"'“‘«]/).at(-1) ?? '';
  return (
    /^(?:\p{L}|\d{1,2}|(?:\p{L}{1,3}\.)+\p{L}{1,3})$/u.test(word) ||
    SHORTENED.has(word.toLowerCase())
  );
}
