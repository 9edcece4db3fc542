import { getTypedText, type InboundMessage, type Reader } from '@parley/core';
import {
  createMemoryId,
  type MemoryEntry,
  type MemoryScope,
  type MemoryType,
  toMemoryLine,
} from '@parley/workspace';

interface AuthoredSentence {
  readonly text: string;
  readonly message: InboundMessage;
}

const LOOKED_AT = 8_000;

/**
 * Returns the sentences that a person typed, without code, quoted lines, addresses and text pasted
 * from mails, chats or pages. Text in quotation marks is kept; the caller determines whether the
 * person wrote it. Transcribed speech is excluded, because it is not verbatim and anyone may be
 * speaking in a recording.
 */
export function listAuthoredSentences(
  messages: readonly InboundMessage[],
): readonly AuthoredSentence[] {
  return messages.flatMap((message) =>
    splitSentences(getAuthoredText(getTypedText(message))).map((text) => ({ text, message })),
  );
}

/** Returns the sentences that ask to be remembered (G13). */
export function findSaveRequests(messages: readonly InboundMessage[]) {
  return listAuthoredSentences(messages).flatMap((sentence) => {
    const trigger = findTrigger(sentence.text);
    return trigger === null ? [] : [{ ...sentence, trigger }];
  });
}

/** Lines that mark the start of pasted text; everything after them is ignored. */
const PASTED: readonly RegExp[] = [
  /^[^\S\n]*\[Forwarded\b/mu,
  /^[^\S\n]*(?:from|von|to|an|subject|betreff|发件人|收件人|主题)\s*[:：][^\S\n]*\S/imu,
  /^[^\S\n]*-{2,}[^\S\n]*(?:original|forwarded|ursprüngliche|weitergeleitete|原始|转发)/imu,
  /^[^\S\n]*(?:on|am|le)\b.{4,90}\b(?:wrote|schrieb)\b.{0,60}:[^\S\n]*$/imu,
  // Matches copied chats: `[12:03, 21.11.2026] Bob: …`, `21.11.26, 12:03 - Bob: …`.
  /^[^\S\n]*\[?\d{1,4}[:./-]\d{1,2}.{0,24}(?:\]| -) ?[^\n:]{1,40}: /mu,
  /^[^\S\n]*<\/?[a-z][^\n>]*>/imu,
];

/**
 * Returns the first `most` characters of a text, without the parts that another person probably
 * wrote.
 */
export function getAuthoredText(text: string, most = LOOKED_AT): string {
  const start = text.slice(0, most).toWellFormed();
  const pasted = PASTED.map((form) => start.search(form)).filter((at) => at !== -1);
  return start
    .slice(0, Math.min(start.length, ...pasted))
    .replace(/```[\s\S]*?(?:```|$)/g, '\n')
    .replace(/`[^`\n]*`/g, ' ')
    .replace(/^[^\S\n]*[>＞].*$/gm, '')
    .replace(/https?:\/\/\S+/g, ' ');
}

function splitSentences(text: string): readonly string[] {
  return text
    .split(/(?<=[.!?…])\s+|(?<=[。！？])|\n+/u)
    .map((sentence) => sentence.replace(/\s+/g, ' ').trim())
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
}

export interface SaveRequest {
  readonly type: MemoryType;
  readonly scope: MemoryScope;
  /** The person's words, verbatim from this turn's messages. */
  readonly quote?: string | undefined;
  /** The agent's own text, if there is no quote. */
  readonly note?: string | undefined;
  readonly automatic?: boolean;
}

export interface SaveContext {
  readonly reader: Reader;
  readonly chatType: InboundMessage['chat']['type'];
  readonly session: number;
  /** `2026-11-21` */
  readonly date: string;
  readonly messages: readonly InboundMessage[];
}

type SaveVerdict =
  | { readonly kind: 'save'; readonly entry: MemoryEntry }
  | { readonly kind: 'refuse'; readonly why: string };

/**
 * Decides whether something may be saved, and with which text (G13). A person's statement is saved
 * as the whole sentences they wrote, never as a paraphrase by the model, which may have been
 * manipulated. Preferences, habits and rules are saved only as such statements.
 */
export function decideSave(request: SaveRequest, place: SaveContext): SaveVerdict {
  const isGroup = place.chatType !== 'direct';
  if (isGroup && request.type !== 'fact') {
    return refuseSave(
      `In a group only facts about the group or about who wrote them are kept, no ${request.type}s. Save it as a fact, or leave it.`,
    );
  }
  if (request.quote !== undefined) return decideQuoteSave(request, request.quote, place);
  return decideNoteSave(request, place);
}

function decideQuoteSave(request: SaveRequest, quote: string, place: SaveContext): SaveVerdict {
  const said = findSentencesContaining(quote, listAuthoredSentences(place.messages));
  const [first] = said;
  if (first === undefined) {
    return refuseSave(
      'These words are not in what the person wrote in this turn. Quote their own words exactly; what stands in quotations, files, web pages and results of tools, or was said by others, is not theirs.',
    );
  }
  const text = toMemoryLine(said.map((sentence) => sentence.text).join(' '));
  return {
    kind: 'save',
    entry: toMemoryEntry(request, place, { text, words: 'own' }, first.message),
  };
}

/**
 * Decides whether the agent's note may be saved: only in the owner's chat, and never as an
 * instruction.
 */
function decideNoteSave(request: SaveRequest, place: SaveContext): SaveVerdict {
  const text = toMemoryLine(request.note ?? '');
  if (text === '') return refuseSave('There is nothing to save: give `quote`.');
  const isPlain = request.type === 'fact' && request.scope !== 'user';
  if (place.reader.kind !== 'owner' || !isPlain) {
    return refuseSave(
      'Without the person’s own words only facts about the project or this session are kept, in the owner’s direct chat. Give `quote`.',
    );
  }
  const message = place.messages.findLast(({ trigger }) => trigger === undefined);
  if (message === undefined) return refuseSave('Nobody has written in this turn.');
  return { kind: 'save', entry: toMemoryEntry(request, place, { text, words: 'agent' }, message) };
}

/** The minimum length of a quotation, in characters; two Chinese characters are a word. */
const MIN_QUOTATION_LENGTH = 2;

/** Returns the adjacent whole sentences of one message that contain a quotation. */
function findSentencesContaining(
  quote: string,
  sentences: readonly AuthoredSentence[],
): readonly AuthoredSentence[] {
  const wanted = normalizeSentence(quote);
  if ([...wanted].length < MIN_QUOTATION_LENGTH) return [];
  for (const [at, { message }] of sentences.entries()) {
    let text = '';
    for (let end = at; sentences[end]?.message === message; end += 1) {
      text = `${text} ${normalizeSentence(sentences[end]?.text ?? '')}`.trim();
      if (text.length < wanted.length || !` ${text} `.includes(wanted)) continue;
      // The quotation must start in the first sentence; otherwise a later first sentence contains
      // it as well.
      const first = normalizeSentence(sentences[at]?.text ?? '');
      if (text.indexOf(wanted) < first.length) return sentences.slice(at, end + 1);
    }
  }
  return [];
}

/** Ignores case, spaces and the shape of quotation marks. */
function normalizeSentence(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[’‘`´]/g, "'")
    .replace(/^["“”„«»\s]+|(?<!["“”„«»\s])["“”„«»\s]+$/g, '')
    .replace(/\s+/g, ' ');
}

function toMemoryEntry(
  { type, scope, automatic = false }: SaveRequest,
  { reader, session, date }: SaveContext,
  { text, words }: Pick<MemoryEntry, 'text' | 'words'>,
  { channel, account, chat, messageId, sender }: InboundMessage,
): MemoryEntry {
  const { conversationId: conversation } = reader;
  return {
    id: createMemoryId([channel, account, chat.id, messageId, text]),
    type,
    scope,
    text,
    person: `${channel}:${sender.id}`,
    date,
    from: { channel, chat: chat.id, message: messageId, conversation, session },
    words,
    automatic,
  };
}

function refuseSave(why: string): SaveVerdict {
  return { kind: 'refuse', why };
}

interface MemoryTrigger {
  readonly word: string;
  readonly type: Extract<MemoryType, 'preference' | 'fact' | 'constraint'>;
}

interface TriggerRule extends MemoryTrigger {
  readonly is: RegExp;
}

/** Verbs in the past tense, which report an event and are not requests. */
const PAST =
  'said|did|had|was|were|went|got|knew|thought|saw|told|made|came|took|heard|felt|wrote|bought|been|gave|found|met|read|meant|left|kept|believed|wanted|\\w{2,}ed';
const NARRATED = new RegExp(
  `\\b(?:have|has|had|i'?ve|ve) (?:always|never)\\b|\\b(?:always|never) (?:${PAST})\\b`,
  'i',
);
const IDIOM =
  /\bnever ?mind\b|\bas (?:always|never)\b|\blike always\b|\bnever again\?|\b(?:almost|nearly) (?:always|never)\b|\bnot always\b|\balways welcome\b|\bbetter late than never\b|\bnever say never\b|\bnow or never\b/i;

const RULES: readonly TriggerRule[] = [
  {
    word: 'remember',
    type: 'fact',
    is: /^(?:\w+[, ]+){0,3}(?:always )?remember\b(?! (?:when|how|the (?:time|day|days)|me\b|us\b|last\b|that (?:time|day)\b))|\b(?:i want you to|you (?:should|must)|don'?t forget to|(?:can|could|would|will) you(?: please)?) (?:always )?remember\b/i,
  },
  {
    word: "I don't like",
    type: 'preference',
    is: /\bi (?:(?:really|just|still) )?(?:don'?t|do not|dont) (?:really |much |even )?like\b/i,
  },
  {
    word: 'I like',
    type: 'preference',
    is: /\bi (?:(?:really|also|still|do|mostly|especially|just) )*like\b(?! (?:to think|how|what you|where|that idea|your|it when you said|this (?:answer|one)))/i,
  },
  {
    word: 'never',
    type: 'constraint',
    is: /^(?:(?:please|and|but|so|ok|okay|from now on|in future|also)[, ]+)*never \w|\b(?:you|we) (?:should|must|may|are to|can) never\b|\bi never \w|[,;:] (?:please )?never \w/i,
  },
  {
    word: 'always',
    type: 'constraint',
    is: /^(?:(?:please|and|but|so|ok|okay|from now on|in future|also)[, ]+)*always \w|\b(?:you|we) (?:should|must|are to) always\b|\bi always \w|[,;:] (?:please )?always \w|\bplease always\b/i,
  },
  { word: '记住', type: 'fact', is: /(?<![没不])记住(?![了过没]|吗)/u },
  { word: '我不喜欢', type: 'preference', is: /我(?:真的|很|一直|其实)?不(?:太|怎么|是很)?喜欢/u },
  { word: '我喜欢', type: 'preference', is: /我(?:真的|很|最|也|一直|特别|比较|非常|更)*喜欢/u },
  { word: '我的偏好', type: 'preference', is: /我的偏好/u },
  {
    word: '以后',
    type: 'constraint',
    is: /^(?:请|麻烦|那么?|好的?|[,，\s])*(?:从今)?以后(?!再(?:说|聊|见|谈)|见|吧|的事)|[,，。;；](?:请)?以后(?!再(?:说|聊|见|谈)|见|吧|的事)(?:请|都|不|别|叫|用|要|只|总)/u,
  },
  { word: '总是', type: 'constraint', is: /^(?:请|你|你要|请你|我|我们)?总是/u },
  { word: '从不', type: 'constraint', is: /^(?:请|你|我|我们)?从不/u },
];

/** Matches questions, which do not ask for anything to be remembered unless they match `POLITE`. */
const ASKS =
  /[?？]\s*["”'’)]*$|[吗呢]\s*[。.]?$|^(?:do|did|does|have|had|why|what|who|when|where|how|which|is|are|should|if)\b/i;
const POLITE =
  /\b(?:kannst|könntest|würdest) du dir (?:bitte )?merken\b|\b(?:can|could|would|will) you(?: please)?(?: always)? remember (?:that|my|to|the|i\b)/i;
/** Marks reported speech. */
const REPORTED =
  /\b(?:he|she|they|who|somebody|someone|people|mom|mum|dad|\w+'s|boss|wife|husband|friend) (?:said|says|told|tells|wrote|asked|likes|thinks)\b|\bi (?:said|told|wrote|read|heard|meant|thought)\b|他说|她说|他们说|有人说|据说/i;
const DOUBTED =
  /\b(?:don'?t|do not|can'?t|cannot|didn'?t|won'?t|never) remember\b|\b(?:would|'d|feels?|looks?|sounds?) i like\b/i;
/** The length is bounded, because the search runs from each opening quotation mark. */
const QUOTED = /["“„«「『][^"”“»」』]{0,500}["”“»」』]/gu;

/** German imperatives that give standing instructions. */
const BIDDEN =
  'antworte|schreibe?|nenne?|sage?|benutze?|verwende|nimm|frage?|gib|erinnere?|rufe?|sprich|zeige?|duze?|sieze?|rechne|denke?|achte|fasse?|halte?|mache?|stelle?|schicke?|prüfe?|lass|lasse';
/** Words that may stand between a German imperative and its adverb. */
const BETWEEN = '(?:(?:mir|mich|uns|bitte|dabei|dafür|dazu|daran|es|das|dann) ){0,3}';
/** German verbs that tell a story or express a wish. */
const PAST_GERMAN =
  'hab|habe|hatte|bin|war|wollte|dachte|konnte|musste|sollte|durfte|kam|ging|sah|wusste|fand|glaubte|hoffte|mochte|sagte|las|kannte|liebte|lebte|wohnte|würde|werde|kann|konnt|weiß';

/** German requests to remember. */
const GERMAN_RULES: readonly TriggerRule[] = [
  {
    word: 'merk dir',
    type: 'fact',
    is: /^(?:\p{L}+[, ]+){0,3}merke? dir\b(?! das gut\b)|\b(?:kannst|könntest|würdest) du dir (?:bitte )?merken\b/iu,
  },
  {
    word: 'ich mag nicht',
    type: 'preference',
    is: /\bich mag (?:\S+ ){0,4}?(?:nicht\b|kein(?:e[nmrs]?)?\b)/iu,
  },
  {
    word: 'ich mag',
    type: 'preference',
    is: /\bich mag (?!(?:sein|mich irren|recht haben|gar nicht daran|nicht|deine|ihre|wie du|die idee)\b)\p{L}/iu,
  },
  {
    word: 'nie',
    type: 'constraint',
    is: new RegExp(
      `^(?:bitte )?(?:${BIDDEN}) ${BETWEEN}(?:nie|niemals)\\b|^(?:bitte )?(?:nie|niemals) \\p{L}|\\bdu (?:sollst|darfst) (?:\\S+ ){0,2}?(?:nie|niemals)\\b|^ich (?!(?:${PAST_GERMAN})\\b)\\p{L}+e (?:\\S+ ){0,2}?(?:nie|niemals) \\p{L}`,
      'iu',
    ),
  },
  {
    word: 'immer',
    type: 'constraint',
    is: new RegExp(
      `^(?:bitte )?(?:${BIDDEN}) ${BETWEEN}immer\\b|^(?:bitte )?immer \\p{L}|\\bdu (?:sollst|musst) (?:\\S+ ){0,2}?immer\\b|^ich (?!(?:${PAST_GERMAN})\\b)\\p{L}+e (?:\\S+ ){0,2}?immer \\p{L}`,
      'iu',
    ),
  },
];

/** German questions, stories and set phrases, which are not requests. */
const GERMAN_OTHERS: readonly RegExp[] = [
  /^(?:warum|wieso|weshalb|was|wer|wann|wo|wie|welche\p{L}*|soll|sollte|hast|magst|mag|weißt|wenn|falls|ob)(?![\p{L}])/iu,
  /\b(?:er|sie|chef\p{L}*|mutter|vater|mama|papa|freund\p{L}*|frau|mann|jemand|man) (?:sagte|sagt|meinte|meint|schrieb|schreibt|hat gesagt)\b|\bich (?:sagte|meinte|schrieb|las|hörte)\b|^laut /iu,
  /\bimmer (?:noch|wieder|mehr|weniger|öfter|\p{L}+er(?:e[nmrs]?)?)\b|\b(?:wie|fast|nicht|schon|noch|auf) (?:immer|nie)\b|\bnie (?:wieder|mehr)\b|^immer(?:hin| mit der ruhe| diese?\b)|^nie im leben\b/iu,
];

/**
 * Finds the words in a sentence that ask to remember it (G13); null if there are none. Quotations,
 * questions, stories and set phrases do not count.
 */
export function findTrigger(sentence: string): MemoryTrigger | null {
  const text = sentence.normalize('NFC').replace(/[’‘]/g, "'").replace(QUOTED, ' … ').trim();
  if (ASKS.test(text) && !POLITE.test(text)) return null;
  if (REPORTED.test(text) || DOUBTED.test(text) || IDIOM.test(text)) return null;
  for (const { word, type, is } of RULES) {
    if (!is.test(text)) continue;
    if ((word === 'always' || word === 'never') && NARRATED.test(text)) return null;
    return { word, type };
  }
  if (GERMAN_OTHERS.some((other) => other.test(text))) return null;
  const rule = GERMAN_RULES.find(({ is }) => is.test(text));
  return rule === undefined ? null : { word: rule.word, type: rule.type };
}
