/**
 * Words that are a yes or a no by themselves. A word is listed only where it means the same in every language that has it,
 * because a yes runs things: no `da` (Slavic yes, German "there"), `tak` (Polish yes, Danish thanks, Indonesian not), `igen`
 * (Hungarian yes, Swedish again), `ano`, `fine`, `klar`. What is missing here costs a person one press of a button.
 */
const YES = [
  // English
  ...['yes', 'y', 'yep', 'yeah', 'yup', 'ok', 'okay', 'okey', 'sure', 'of course', 'go ahead'],
  ...['go for it', 'do it', 'do that', 'run it', 'allow', 'allow it', 'allowed', 'approve'],
  ...['approve it', 'approved', 'agreed', 'confirmed', 'yes do it', 'sounds good'],
  // German, Dutch, Scandinavian
  ...['ja', 'jawohl', 'jep', 'gerne', 'einverstanden', 'erlaubt', 'genehmigt', 'mach das'],
  ...['mach es', "mach's", 'tu es', 'in ordnung', 'passt', 'natürlich', 'doe maar'],
  // French, Spanish, Portuguese, Italian
  ...['oui', "d'accord", 'vas-y', 'bien sûr', 'sí', 'si', 'vale', 'de acuerdo', 'claro', 'hazlo'],
  ...['sim', 'pode', 'sì', 'va bene', 'certo', 'procedi'],
  // Slavic, Greek, Turkish, Hungarian, Finnish, Hebrew, Arabic, Hindi
  ...['да', 'ок', 'окей', 'хорошо', 'давай', 'разрешаю', 'конечно', 'ναι', 'evet', 'tamam'],
  ...['kyllä', 'כן', 'نعم', 'हाँ', 'हां'],
  // Chinese, Japanese, Korean
  ...[
    '是',
    '是的',
    '好',
    '好的',
    '可以',
    '行',
    '同意',
    '批准',
    '没问题',
    'はい',
    '네',
    '예',
    '그래',
  ],
  ...['👍', '✅', '👌', '🆗', '✔', '☑'],
] as const;

const NO = [
  ...['no', 'n', 'nope', 'nah', 'never', "don't", 'dont', 'do not', "don't do it", 'do not do it'],
  ...['deny', 'deny it', 'denied', 'refuse', 'refused', 'reject', 'rejected', 'forbidden'],
  ...['no way', 'better not', 'rather not', 'not allowed'],
  ...['nein', 'nee', 'nö', 'nicht', 'lieber nicht', 'bloß nicht', 'lass es', 'abgelehnt', 'nej'],
  ...['auf keinen fall', 'non', 'não', 'nao', 'no lo hagas', 'не надо', 'нет', 'нельзя', 'ні'],
  ...['nie', 'όχι', 'hayır', 'nem', 'לא', 'لا', 'नहीं'],
  ...[
    '不',
    '不要',
    '不行',
    '不可以',
    '不同意',
    '别',
    '否',
    'いいえ',
    'だめ',
    'ダメ',
    '아니',
    '아니요',
    '아니오',
  ],
  ...['👎', '❌', '✖', '🚫', '⛔', '🛑'],
] as const;

/** Politeness beside a yes or a no, which changes neither. */
const COURTESY = [
  ...['please', 'pls', 'thanks', 'thank you', 'thx', 'bitte', 'danke', 'merci', 'por favor'],
  ...['gracias', 'obrigado', 'grazie', 'per favore', "s'il te plaît", "s'il vous plaît"],
  ...['пожалуйста', 'спасибо', '谢谢', '请', 'お願いします', '🙏'],
] as const;

/** The first word of sentences that decide something, but say in other words what. */
const OPENERS = ['not', 'wait', 'stop', 'only', 'warte', 'nur', 'moment', 'стоп', '等等'] as const;

type Meaning = 'yes' | 'no' | 'courtesy' | 'opener';

const MEANINGS: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ...YES.map((word) => [word, 'yes'] as const),
  ...NO.map((word) => [word, 'no'] as const),
  ...COURTESY.map((word) => [word, 'courtesy'] as const),
  ...OPENERS.map((word) => [word, 'opener'] as const),
]);

/** Words of the longest entry. */
const MAX_WORDS = 4;
/** More characters are a text, of which only the beginning is read. */
const MAX_CHARACTERS = 200;

/**
 * What a message in words means as the answer to a question of yes or no. `unclear`: it begins as one and goes on, as in
 * "yes, but only the first", or asks in turn, as in "ok?". Null: it is no such answer.
 */
export function readYesOrNo(text: string): 'yes' | 'no' | 'unclear' | null {
  const words = wordsOf(text);
  const meanings: Meaning[] = [];
  let at = 0;
  while (at < words.length) {
    const found = phraseAt(words, at);
    if (found === null) break;
    meanings.push(found.meaning);
    at += found.words;
  }
  const decisive = meanings.filter((meaning) => meaning !== 'courtesy');
  const [first] = decisive;
  if (first === undefined) return null;
  const isWhole = at === words.length && text.length <= MAX_CHARACTERS && !/[?？]/.test(text);
  const isOne = decisive.every((meaning) => meaning === first);
  return isWhole && isOne && first !== 'opener' ? first : 'unclear';
}

/** Lower case, in the compatible form, without invisible signs, tones of skin and punctuation; emojis stand alone. */
export function wordsOf(text: string): readonly string[] {
  const plain = text
    .slice(0, MAX_CHARACTERS)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\u{1f3fb}-\u{1f3ff}]|\p{Cf}|\p{Variation_Selector}/gu, '')
    .replace(/[’‘´`]/g, "'")
    .replace(/\p{Extended_Pictographic}/gu, ' $& ');
  const words = plain.split(/[\s,;:.!?…。！？，、；：()[\]{}<>"“”„«»「」]+/);
  return words.map((word) => word.replace(/^'+|'+$/g, '')).filter((word) => /[^-–—]/.test(word));
}

function phraseAt(
  words: readonly string[],
  at: number,
): { readonly meaning: Meaning; readonly words: number } | null {
  for (let count = Math.min(MAX_WORDS, words.length - at); count > 0; count -= 1) {
    const meaning = MEANINGS.get(words.slice(at, at + count).join(' '));
    if (meaning !== undefined) return { meaning, words: count };
  }
  return null;
}
