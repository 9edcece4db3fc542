/**
 * Words that are a yes or a no by themselves. A word is listed only if it means the same in every
 * language that uses it, because a yes starts actions: no `da` (Slavic yes, German "there"), `tak`
 * (Polish yes, Danish thanks, Indonesian not), `igen` (Hungarian yes, Swedish again), `ano`,
 * `fine`, `klar`. If a word is missing, a person has to press a button instead.
 */
const YES = [
  // English
  ...['yes', 'y', 'yep', 'yeah', 'yup', 'ok', 'okay', 'okey', 'sure', 'of course', 'go ahead'],
  ...['go for it', 'do it', 'do that', 'run it', 'allow', 'allow it', 'allowed', 'approve'],
  ...['approve it', 'approved', 'agreed', 'confirmed', 'yes do it', 'sounds good', 'yea', 'aye'],
  ...['k', 'kk', 'go', 'sure thing', 'alright', 'all right', 'absolutely', 'definitely', 'lgtm'],
  ...['affirmative', 'confirm', 'confirm it', 'i confirm', 'i agree', 'i approve', 'proceed'],
  ...['please do', 'hell yes', '+1'],
  // German, Dutch, Scandinavian
  ...['ja', 'jawohl', 'jep', 'gerne', 'einverstanden', 'erlaubt', 'genehmigt', 'mach das'],
  ...['mach es', "mach's", 'tu es', 'in ordnung', 'passt', 'natürlich', 'doe maar', 'na klar'],
  ...['ja klar', 'jup', 'mach', 'leg los', 'nur zu', 'auf jeden fall', 'akkoord'],
  ...['selbstverständlich', 'absolut', 'självklart', 'japp'],
  // French, Spanish, Portuguese, Italian
  ...['oui', "d'accord", 'vas-y', 'bien sûr', 'sí', 'si', 'vale', 'de acuerdo', 'claro', 'hazlo'],
  ...['sim', 'pode', 'sì', 'va bene', 'certo', 'procedi', 'ouais', 'allez-y', 'adelante'],
  ...['por supuesto', 'claro que sí', 'claro que sim', 'com certeza', "d'accordo"],
  // Slavic, Greek, Turkish, Hungarian, Finnish, Hebrew, Arabic, Hindi
  ...['да', 'ок', 'окей', 'хорошо', 'давай', 'разрешаю', 'конечно', 'ναι', 'evet', 'tamam'],
  ...['kyllä', 'כן', 'نعم', 'हाँ', 'हां', 'ага', 'угу', 'согласен', 'согласна', 'подтверждаю'],
  ...['добре', 'zgoda', 'εντάξει', 'olur', 'בסדר', 'موافق', 'بله', 'ठीक है'],
  ...['đồng ý', 'vâng', 'setuju', 'ตกลง', 'ใช่'],
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
    '沒問題',
    '好吧',
    '好啊',
    '好呀',
    '可以的',
    '当然',
    '当然可以',
    '允许',
    '确认',
    'はい',
    'はいお願いします',
    'うん',
    'ええ',
    'いいよ',
    'いいですよ',
    'どうぞ',
    '네',
    '예',
    '그래',
    '응',
    '좋아',
    '좋아요',
    '승인',
  ],
  ...['👍', '✅', '👌', '🆗', '✔', '☑'],
] as const;

const NO = [
  ...['no', 'n', 'nope', 'nah', 'never', "don't", 'dont', 'do not', "don't do it", 'do not do it'],
  ...['deny', 'deny it', 'denied', 'refuse', 'refused', 'reject', 'rejected', 'forbidden'],
  ...['no way', 'better not', 'rather not', 'not allowed', 'hell no', 'negative', 'cancel'],
  ...['cancel it', 'cancel that', 'abort', 'abort it', 'forget it', 'never mind', 'nevermind'],
  ...[
    "don't do that",
    'do not do that',
    'please do not',
    'not ok',
    'not okay',
    'leave it',
    'skip it',
  ],
  ...['nein', 'nee', 'nö', 'nicht', 'lieber nicht', 'bloß nicht', 'lass es', 'abgelehnt', 'nej'],
  ...['auf keinen fall', 'non', 'não', 'nao', 'no lo hagas', 'не надо', 'нет', 'нельзя', 'ні'],
  ...['nie', 'όχι', 'hayır', 'nem', 'לא', 'لا', 'नहीं', 'lass mal', 'lass das', 'vergiss es'],
  ...['abbrechen', 'pas question', 'surtout pas', 'jamais', 'annule', 'nunca', 'ni hablar'],
  ...['annulla', 'liever niet', 'niet doen', 'не', 'никогда', 'отмена', 'не делай', 'не нужно'],
  ...['запрещаю', 'olmaz', 'iptal', 'كلا', 'không'],
  ...[
    '不',
    '不要',
    '不行',
    '不可以',
    '不同意',
    '不好',
    '不用',
    '不用了',
    '不是',
    '算了',
    '取消',
    '拒绝',
    '不允许',
    'いえ',
    'いや',
    'やめて',
    'やめてください',
    'キャンセル',
    '아뇨',
    '안돼',
    '거절',
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

/** Polite words next to a yes or a no, which do not change its meaning. */
const COURTESY = [
  ...['please', 'pls', 'thanks', 'thank you', 'thx', 'bitte', 'danke', 'merci', 'por favor'],
  ...['gracias', 'obrigado', 'grazie', 'per favore', "s'il te plaît", "s'il vous plaît"],
  ...['пожалуйста', 'спасибо', '谢谢', '请', 'お願いします', '🙏', 'great', 'cool', 'perfect'],
  ...['dank je', 'tack', 'dziękuję', 'teşekkürler', 'תודה', 'شكرا', 'ありがとう', '감사합니다'],
  ...['🙂', '😊', '😀', '😃', '😄', '😁', '☺', '❤', '💪', '🙌'],
] as const;

/** First words of a decision that the rest of the sentence qualifies. */
const OPENERS = [
  ...['not', 'wait', 'stop', 'only', 'maybe', 'perhaps', 'later', 'hold on'],
  ...['warte', 'nur', 'moment', 'vielleicht', 'später', 'стоп', '等等', '停'],
] as const;

/** A refusal after one of these words is not a refusal: "don't deny it". */
const NEGATIONS: ReadonlySet<string> = new Set([
  ...['never', "don't", 'dont', 'do not', 'not', 'nicht', 'nie', 'не'],
]);

type ReplyMeaning = 'yes' | 'no' | 'courtesy' | 'opener';

const MEANINGS: ReadonlyMap<string, ReplyMeaning> = new Map<string, ReplyMeaning>([
  ...YES.map((word) => [word, 'yes'] as const),
  ...NO.map((word) => [word, 'no'] as const),
  ...COURTESY.map((word) => [word, 'courtesy'] as const),
  ...OPENERS.map((word) => [word, 'opener'] as const),
]);

/** The number of words in the longest entry. */
const MAX_WORDS = 4;
/** The maximum length of the text that is examined, in characters. */
const MAX_CHARACTERS = 200;

/** A line marked as a quotation contains another person's text. */
const QUOTED_LINE = /^[\s\p{Cf}]*[>＞].*$/gmu;

/**
 * Recognizes whether a message answers a yes-or-no question. `unclear`: the message begins like an
 * answer and continues ("yes, but only the first"), asks back ("ok?"), or contains a quotation.
 * Null if the message is not such an answer.
 */
export function parseYesOrNo(text: string): 'yes' | 'no' | 'unclear' | null {
  const own = text.slice(0, MAX_CHARACTERS).replace(QUOTED_LINE, '');
  const hasQuotation = own.length < Math.min(text.length, MAX_CHARACTERS);
  const meaning = interpretReply(hasQuotation && own.trim() !== '' ? own : text);
  return hasQuotation && meaning !== null ? 'unclear' : meaning;
}

function interpretReply(text: string): 'yes' | 'no' | 'unclear' | null {
  const words = splitReplyWords(text);
  const meanings: ReplyMeaning[] = [];
  let isReversed = false;
  let before = '';
  let at = 0;
  while (at < words.length) {
    const found = findPhraseAt(words, at);
    if (found === null) break;
    const phrase = words.slice(at, at + found.words).join(' ');
    isReversed ||= NEGATIONS.has(before) && found.meaning === 'no' && !NEGATIONS.has(phrase);
    before = phrase;
    meanings.push(found.meaning);
    at += found.words;
  }
  const decisive = meanings.filter((meaning) => meaning !== 'courtesy');
  const [first] = decisive;
  if (first === undefined) return null;
  const isWhole = at === words.length && text.length <= MAX_CHARACTERS && !/[?？]/.test(text);
  const isOne = decisive.every((meaning) => meaning === first);
  return isWhole && isOne && !isReversed && first !== 'opener' ? first : 'unclear';
}

/**
 * Normalizes text: lower case, compatibility form, no invisible characters, skin tones and
 * punctuation; emojis are separate words.
 */
export function splitReplyWords(text: string): readonly string[] {
  const plain = text
    .slice(0, MAX_CHARACTERS)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\u{1f3fb}-\u{1f3ff}]|\p{Cf}|\p{Variation_Selector}/gu, '')
    .replace(/[’‘´`]/g, "'")
    .replace(/\p{Extended_Pictographic}/gu, ' $& ');
  const words = plain.split(/[\s,;:.!?…。！？，、；：()[\]{}<>"“”„«»「」]+/);
  return words.map(normalizeWord).filter((word) => /[^-–—]/.test(word));
}

/**
 * Removes quotes, bold and italic marks, and trailing tildes; a word that starts with `~` is struck
 * out and kept as it is.
 */
function normalizeWord(word: string): string {
  const bare = word.replace(/^['*_]+|['*_]+$/g, '');
  return bare.startsWith('~') ? bare : bare.replace(/[~〜]+$/, '');
}

function findPhraseAt(
  words: readonly string[],
  at: number,
): { readonly meaning: ReplyMeaning; readonly words: number } | null {
  for (let count = Math.min(MAX_WORDS, words.length - at); count > 0; count -= 1) {
    const meaning = MEANINGS.get(words.slice(at, at + count).join(' '));
    if (meaning !== undefined) return { meaning, words: count };
  }
  return null;
}
