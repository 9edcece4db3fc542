import type { MemoryType } from '@parley/workspace';
import { GERMAN_OTHERS, GERMAN_RULES } from './german-triggers.ts';

/** Why a sentence is to be remembered, and as what. */
export interface Trigger {
  readonly word: string;
  readonly type: Extract<MemoryType, 'preference' | 'fact' | 'constraint'>;
}

/** One way to ask for it; the first that fits counts. */
export interface TriggerRule extends Trigger {
  readonly is: RegExp;
}

/** Verbs in the past say what has been, not how things are to be. */
const PAST =
  'said|did|had|was|were|went|got|knew|thought|saw|told|made|came|took|heard|felt|wrote|bought|been|gave|found|met|read|meant|left|kept|believed|wanted|\\w{2,}ed';
/** Somebody tells how others or things are. */
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

/** One who asks does not tell, unless the question is a polite wish. */
const ASKS =
  /[?？]\s*["”'’)]*$|[吗呢]\s*[。.]?$|^(?:do|did|does|have|had|why|what|who|when|where|how|which|is|are|should|if)\b/i;
const POLITE =
  /\b(?:kannst|könntest|würdest) du dir (?:bitte )?merken\b|\b(?:can|could|would|will) you(?: please)?(?: always)? remember (?:that|my|to|the|i\b)/i;
/** The words are told of, not said. */
const REPORTED =
  /\b(?:he|she|they|who|somebody|someone|people|mom|mum|dad|\w+'s|boss|wife|husband|friend) (?:said|says|told|tells|wrote|asked|likes|thinks)\b|\bi (?:said|told|wrote|read|heard|meant|thought)\b|他说|她说|他们说|有人说|据说/i;
const DOUBTED =
  /\b(?:don'?t|do not|can'?t|cannot|didn'?t|won'?t|never) remember\b|\b(?:would|'d|feels?|looks?|sounds?) i like\b/i;
const QUOTED = /["“„«「『][^"”“»」』]*["”“»」』]/gu;

/**
 * Whether somebody wants a sentence of theirs to be kept (G13), and the word that says so. What stands
 * in quotation marks, questions, stories and set phrases do not count. Null: no.
 */
export function triggerIn(sentence: string): Trigger | null {
  const text = sentence.normalize('NFC').replace(/[’‘]/g, "'").replace(QUOTED, ' … ').trim();
  if (ASKS.test(text) && !POLITE.test(text)) return null;
  if (REPORTED.test(text) || DOUBTED.test(text) || IDIOM.test(text)) return null;
  for (const { word, type, is } of RULES) {
    if (!is.test(text)) continue;
    if ((word === 'always' || word === 'never') && NARRATED.test(text)) return null;
    return { word, type };
  }
  return GERMAN_OTHERS.some((other) => other.test(text)) ? null : germanTrigger(text);
}

function germanTrigger(text: string): Trigger | null {
  const rule = GERMAN_RULES.find(({ is }) => is.test(text));
  return rule === undefined ? null : { word: rule.word, type: rule.type };
}
