import type { MemoryType } from '@parley/workspace';

interface Trigger {
  readonly word: string;
  readonly type: Extract<MemoryType, 'preference' | 'fact' | 'constraint'>;
}

interface TriggerRule extends Trigger {
  readonly is: RegExp;
}

/** Past tense reports what happened and asks for nothing. */
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
    is: /^(?:(?:please|pls|hey|ok|okay|and|also|so|but|\w+)[, ]+){0,3}(?:always )?remember\b(?! (?:when|how|the (?:time|day|days)|me\b|us\b|last\b|that (?:time|day)\b))|\b(?:i want you to|you (?:should|must)|don'?t forget to|(?:can|could|would|will) you(?: please)?) (?:always )?remember\b/i,
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
    is: /^(?:请|麻烦|那么?|好[的,，]?|[,，\s])*(?:从今)?以后(?!再(?:说|聊|见|谈)|见|吧|的事)|[,，。;；](?:请)?以后(?!再(?:说|聊|见|谈)|见|吧|的事)(?:请|都|不|别|叫|用|要|只|总)/u,
  },
  { word: '总是', type: 'constraint', is: /^(?:请|你|你要|请你|我|我们)?总是/u },
  { word: '从不', type: 'constraint', is: /^(?:请|你|我|我们)?从不/u },
];

/** A question is no request to remember, unless it is a polite request. */
const ASKS =
  /[?？]\s*["”'’)]*$|[吗呢]\s*[。.]?$|^(?:do|did|does|have|had|why|what|who|when|where|how|which|is|are|should|if)\b/i;
const POLITE =
  /\b(?:kannst|könntest|würdest) du dir (?:bitte )?merken\b|\b(?:can|could|would|will) you(?: please)?(?: always)? remember (?:that|my|to|the|i\b)/i;
/** Reported speech. */
const REPORTED =
  /\b(?:he|she|they|who|somebody|someone|people|mom|mum|dad|\w+'s|boss|wife|husband|friend) (?:said|says|told|tells|wrote|asked|likes|thinks)\b|\bi (?:said|told|wrote|read|heard|meant|thought)\b|他说|她说|他们说|有人说|据说/i;
const DOUBTED =
  /\b(?:don'?t|do not|can'?t|cannot|didn'?t|won'?t|never) remember\b|\b(?:would|'d|feels?|looks?|sounds?) i like\b/i;
const QUOTED = /["“„«「『][^"”“»」』]*["”“»」』]/gu;

/** Imperatives of standing instructions. */
const BIDDEN =
  'antworte|schreibe?|nenne?|sage?|benutze?|verwende|nimm|frage?|gib|erinnere?|rufe?|sprich|zeige?|duze?|sieze?|rechne|denke?|achte|fasse?|halte?|mache?|stelle?|schicke?|prüfe?|lass|lasse';
/** Words between such a verb and its adverb. */
const BETWEEN = '(?:(?:mir|mich|uns|bitte|dabei|dafür|dazu|daran|es|das|dann) ){0,3}';
/** Verbs of stories and wishes. */
const PAST_GERMAN =
  'hab|habe|hatte|bin|war|wollte|dachte|konnte|musste|sollte|durfte|kam|ging|sah|wusste|fand|glaubte|hoffte|mochte|sagte|las|kannte|liebte|lebte|wohnte|würde|werde|kann|konnt|weiß';

/** German requests to remember. */
const GERMAN_RULES: readonly TriggerRule[] = [
  {
    word: 'merk dir',
    type: 'fact',
    is: /^(?:(?:bitte|hey|ok|okay|also|und|ach|\p{L}+)[, ]+){0,3}merke? dir\b(?! das gut\b)|\b(?:kannst|könntest|würdest) du dir (?:bitte )?merken\b/iu,
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

/** German questions, stories and set phrases, which ask for nothing. */
const GERMAN_OTHERS: readonly RegExp[] = [
  /^(?:warum|wieso|weshalb|was|wer|wann|wo|wie|welche\p{L}*|soll|sollte|hast|magst|mag|weißt|wenn|falls|ob)(?![\p{L}])/iu,
  /\b(?:er|sie|chef\p{L}*|mutter|vater|mama|papa|freund\p{L}*|frau|mann|jemand|man) (?:sagte|sagt|meinte|meint|schrieb|schreibt|hat gesagt)\b|\bich (?:sagte|meinte|schrieb|las|hörte)\b|^laut /iu,
  /\bimmer (?:noch|wieder|mehr|weniger|öfter|\p{L}+er(?:e[nmrs]?)?)\b|\b(?:wie|fast|nicht|schon|noch|auf) (?:immer|nie)\b|\bnie (?:wieder|mehr)\b|^immer(?:hin| mit der ruhe| diese?\b)|^nie im leben\b/iu,
];

/** The trigger in a sentence (G13), or null. Quotations, questions, stories and set phrases do not count. */
export function triggerIn(sentence: string): Trigger | null {
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
