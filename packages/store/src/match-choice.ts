import { parseYesOrNo, splitReplyWords } from '@parley/core';

/**
 * Finds the choice that a typed answer refers to, if exactly one fits: by its number ("2", "the
 * second one"), by its text, by a plain yes or no that only one choice expresses, or by words that
 * occur together in only one choice. Returns null if the text does not refer to exactly one choice.
 */
export function matchChoice(text: string, choices: readonly string[]): string | null {
  const words = splitReplyWords(replaceKeycaps(text));
  if (words.length === 0) return null;
  const said = words.join(' ');
  const same = choices.filter((choice) => splitReplyWords(choice).join(' ') === said);
  if (same.length > 0) return same[0] ?? null;
  return (
    matchNumberedChoice(words, choices) ??
    matchYesOrNo(text, choices) ??
    matchContainedWords(words, choices)
  );
}

/** `2️⃣` is a digit followed by a keycap mark. */
function replaceKeycaps(text: string): string {
  return text.replace(/\ufe0f?\u20e3/g, ' ');
}

const ORDINALS: readonly (readonly string[])[] = [
  [
    'first',
    '1st',
    'erste',
    'ersten',
    'erstes',
    'premier',
    'première',
    'primero',
    'primera',
    'primo',
    'первый',
    'первое',
    '第一',
  ],
  [
    'second',
    '2nd',
    'zweite',
    'zweiten',
    'zweites',
    'deuxième',
    'segundo',
    'segunda',
    'secondo',
    'второй',
    'второе',
    '第二',
  ],
  [
    'third',
    '3rd',
    'dritte',
    'dritten',
    'drittes',
    'troisième',
    'tercero',
    'tercera',
    'terzo',
    'третий',
    'третье',
    '第三',
  ],
  [
    'fourth',
    '4th',
    'vierte',
    'vierten',
    'viertes',
    'quatrième',
    'cuarto',
    'cuarta',
    'quarto',
    'четвёртый',
    '第四',
  ],
  [
    'fifth',
    '5th',
    'fünfte',
    'fünften',
    'fünftes',
    'cinquième',
    'quinto',
    'quinta',
    'пятый',
    '第五',
  ],
  ['sixth', '6th', 'sechste', 'sechsten', 'sechstes', 'sixième', 'sexto', 'шестой', '第六'],
  ['seventh', '7th', 'siebte', 'siebten', 'siebtes', 'septième', 'séptimo', 'седьмой', '第七'],
];
const LAST: ReadonlySet<string> = new Set([
  'last',
  'letzte',
  'letzten',
  'letztes',
  'dernier',
  'dernière',
  'último',
  'última',
  'ultimo',
  'последний',
]);

/** Filler words that may surround a choice. */
const AROUND: ReadonlySet<string> = new Set(
  [
    "the a an one option number no. nr answer choice choose i i'd i'll want would like take prefer my is it that's let's go with for please thanks thank you pls",
    'der die das den dem ein eine einen ich nehme möchte will hätte gern gerne lieber bitte danke option nummer wir nehmen',
    'le la les un une je prends veux voudrais option numéro merci el los las quiero prefiero por favor gracias il lo vorrei per favore',
    'я хочу возьму пожалуйста вариант номер 我 要 选 请',
  ].flatMap((line) => line.split(' ')),
);

/** Matches a number or ordinal among filler words only, but not a quantity, as in "2 pieces". */
function matchNumberedChoice(words: readonly string[], choices: readonly string[]): string | null {
  const [only, ...others] = words.filter((word) => !AROUND.has(word));
  if (only === undefined || others.length > 0) return null;
  if (LAST.has(only)) return choices.at(-1) ?? null;
  const digits = /^#?(\d{1,2})$/.exec(only)?.[1];
  const place =
    digits === undefined ? ORDINALS.findIndex((names) => names.includes(only)) : Number(digits) - 1;
  return choices[place] ?? null;
}

/** Matches a plain yes or no if exactly one choice starts with it. */
function matchYesOrNo(text: string, choices: readonly string[]): string | null {
  const meaning = parseYesOrNo(text);
  if (meaning !== 'yes' && meaning !== 'no') return null;
  return getOnlyMatch(
    choices.filter((choice) => parseYesOrNo(splitReplyWords(choice)[0] ?? '') === meaning),
  );
}

/** Words that reverse a choice or select more than one. */
const CHANGING =
  /(?:^|\s)(?:not|no|don't|never|neither|none|both|or|and|but|except|instead|all|nicht|kein|keine|keinen|weder|beide|oder|und|aber|außer|alle|pas|ni|et|ou|mais|non|ne|y|o|pero|не|ни|и|или|но|оба|不|都|和|或)(?:\s|$)/;

/** Matches if every significant word occurs in exactly one choice. */
function matchContainedWords(words: readonly string[], choices: readonly string[]): string | null {
  if (CHANGING.test(words.join(' '))) return null;
  const meant = words.filter((word) => !AROUND.has(word));
  if (meant.length === 0) return null;
  return getOnlyMatch(
    choices.filter((choice) => {
      const own = new Set(splitReplyWords(choice));
      return meant.every((word) => own.has(word));
    }),
  );
}

function getOnlyMatch(found: readonly string[]): string | null {
  const [one, ...others] = found;
  return one === undefined || others.length > 0 ? null : one;
}
