/** One word from a query, and the forms in which it may occur. */
export interface QueryWord {
  readonly forms: readonly string[];
  /** The weight of the word; single Chinese characters within a longer word count little. */
  readonly weight: number;
  /** Whether longer words that start with this word also count. */
  readonly prefix: boolean;
}

/** Scripts that are written without spaces. */
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const RUN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+/gu;

const STOP: ReadonlySet<string> = new Set(
  (
    'a an and are as at be but by can could did do does for from had has have he her his how i if in is it its ' +
    'let like may me my no not of on or our please she should so some tell than that the their them then there ' +
    'they this to us was we were what when where which who why will with would you your about know ' +
    'hello hi hey good morning evening night thanks thank hallo guten morgen abend tag danke bitte 你好 谢 ' +
    'aber als am an auch auf aus bei bin bist das dass dein dem den der des die dir du ein eine einem einen einer es ' +
    'fuer hat habe haben ich ihr im in ist ja kann man mein meine mich mir mit nach nicht noch oder sich sie sind so ' +
    'und uns von vor war was wann wenn wer wie wir wird wo zu zum zur ' +
    '的 了 是 我 你 他 她 它 们 在 有 和 吗 呢 吧 啊 什 么 怎 这 那 个 不 也 就 都 请 很'
  ).split(' '),
);

/** Stop words are listed here as people write them. */
const STOP_STEMS: ReadonlySet<string> = new Set(
  [...STOP].flatMap((word) => [word, stemWord(word)]),
);

/**
 * Lists the terms under which a text is indexed: word stems, and single and paired characters of
 * dense scripts.
 */
export function listIndexTerms(text: string): readonly string[] {
  const terms: string[] = [];
  for (const word of splitWords(text)) {
    if (!DENSE.test(word)) {
      terms.push(...listStemmedForms(word));
      continue;
    }
    const characters = [...word];
    for (const [at, character] of characters.entries()) {
      terms.push(character);
      const next = characters[at + 1];
      if (next !== undefined) terms.push(character + next);
    }
  }
  return terms;
}

/** The weight of very common words, and of single characters in a longer Chinese word. */
const SMALL = 0.15;

/**
 * The maximum number of words in a query that are searched for; the rest of a long message adds
 * nothing.
 */
const MAX_WORDS = 40;

/**
 * Lists the words in a query, each of them once, without very common words unless there are no
 * others.
 */
export function listQueryWords(text: string): readonly QueryWord[] {
  const all = splitWords(text).flatMap((word) =>
    DENSE.test(word)
      ? splitDenseWords(word)
      : [{ forms: listStemmedForms(word), weight: 1, prefix: true }],
  );
  const significant = all.filter(({ forms }) => !forms.some((form) => STOP_STEMS.has(form)));
  // Common words may find passages, but never show what a message is about.
  const used =
    significant.length > 0 ? significant : all.map((word) => ({ ...word, weight: SMALL }));
  const distinct = new Map(used.map((word) => [word.forms.join(' '), word]));
  return [...distinct.values()].slice(0, MAX_WORDS);
}

function splitDenseWords(run: string): QueryWord[] {
  const characters = [...run];
  if (characters.length === 1) return [{ forms: characters, weight: 1, prefix: false }];
  const pairs = characters.slice(1).map((character, at) => `${characters[at] ?? ''}${character}`);
  return [
    ...pairs.map((pair) => ({ forms: [pair], weight: 1, prefix: false })),
    ...characters.map((one) => ({ forms: [one], weight: SMALL, prefix: false })),
  ];
}

function splitWords(text: string): string[] {
  const words =
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return words.flatMap((word) => word.match(RUN) ?? []);
}

/** `Häuser` is found both as `haeuser` and as `hauser`, each by its stem. */
function listStemmedForms(word: string): readonly string[] {
  const german = word
    .replaceAll('ä', 'ae')
    .replaceAll('ö', 'oe')
    .replaceAll('ü', 'ue')
    .replaceAll('ß', 'ss');
  const forms = [german, word.replaceAll('ß', 'ss')].map((form) => stemWord(stripDiacritics(form)));
  return [...new Set(forms)];
}

function stripDiacritics(word: string): string {
  return word.normalize('NFD').replace(/\p{M}/gu, '');
}

/** Removes a single English or German ending if enough of the word is left. */
function stemWord(word: string): string {
  const found =
    /^(.{3,}?)(?:ing|ed)$/.exec(word) ?? /^(.{4,}?)(?:ern|em|en|er|es|e|s|n)$/.exec(word);
  return found?.[1] ?? word;
}
