/**
 * Scripts that are used mainly by one language. The first match wins, so kana take precedence over
 * Han.
 */
const SCRIPTS: readonly (readonly [RegExp, string])[] = [
  [/\p{Script=Hiragana}|\p{Script=Katakana}/gu, 'Japanese'],
  [/\p{Script=Hangul}/gu, 'Korean'],
  [/\p{Script=Han}/gu, 'Chinese'],
  [/[іїєґ]/gu, 'Ukrainian'],
  [/\p{Script=Cyrillic}/gu, 'Russian'],
  [/\p{Script=Arabic}/gu, 'Arabic'],
  [/\p{Script=Hebrew}/gu, 'Hebrew'],
  [/\p{Script=Greek}/gu, 'Greek'],
  [/\p{Script=Devanagari}/gu, 'Hindi'],
  [/\p{Script=Thai}/gu, 'Thai'],
];

/**
 * Words that are frequent in one language with Latin script, and rare or different words in the
 * others.
 */
const WORDS: Readonly<Record<string, string>> = {
  English: 'the and you is it of to that what for with my please can are this have how i not',
  German: 'der die das und ich ist nicht ein eine mir bitte kannst du wie was mit den auf für auch',
  French: 'le les des et je est pas une vous tu que qui pour avec dans ce mon ma bonjour merci',
  Spanish:
    'el los las y es que un una por para con qué mi está hola gracias cuándo cómo hay puedes',
  Italian: 'il gli di che è non un una per con mi sono come quando questo grazie ciao della puoi',
  Portuguese:
    'o os as e é que não um uma para com você meu minha está como obrigado olá isso quando',
  Dutch: 'de het een en ik is niet je van dat wat voor met mijn hoe kun zijn graag wanneer ook',
  Swedish: 'och jag är inte en ett det att som på för med du kan vad hur när tack mig den',
  Polish: 'i w na nie to się jest że jak czy mi dla kiedy proszę dzień jestem masz mam',
  Turkish: 've bir bu ne için ile mi var yok ben sen nasıl lütfen bana değil bugün daha çok olarak',
};
const FREQUENT = Object.entries(WORDS).map(
  ([language, words]) => [language, new Set(words.split(' '))] as const,
);

/** The number of letters in a script, or of frequent words, that makes a coincidence unlikely. */
const MIN_EVIDENCE = 3;

/**
 * Returns the English name of the language in which people wrote; undefined if it is unclear. The
 * result is used in an instruction to the model, where no language is better than a wrong one.
 */
export function detectLanguageName(texts: readonly string[]): string | undefined {
  const text = texts.map(removeForeignWords).join('\n').toLowerCase();
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const inScript = SCRIPTS.find(([script]) => {
    const found = text.match(script)?.length ?? 0;
    return found >= MIN_EVIDENCE && found * 10 >= letters;
  });
  return inScript?.[1] ?? detectLatinLanguage(text.match(/[\p{L}\p{M}]+/gu) ?? []);
}

function detectLatinLanguage(words: readonly string[]): string | undefined {
  const [first, second] = FREQUENT.map(([language, frequent]) => ({
    language,
    found: words.filter((word) => frequent.has(word)).length,
  })).toSorted((a, b) => b.found - a.found);
  if (first === undefined || second === undefined) return undefined;
  return first.found >= MIN_EVIDENCE && first.found >= 1.5 * second.found
    ? first.language
    : undefined;
}

/** Removes code, addresses, quotations and commands, which are not in the person's language. */
function removeForeignWords(text: string): string {
  return text.replace(/```[\s\S]*?(```|(?![\s\S]))|`[^`]*`|https?:\S+|^>.*$|^\/.*$/gm, ' ');
}
