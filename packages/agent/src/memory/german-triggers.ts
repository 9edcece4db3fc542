import type { TriggerRule } from './trigger-words.ts';

/** Verbs by which somebody is told how to do things from now on. */
const BIDDEN =
  'antworte|schreibe?|nenne?|sage?|benutze?|verwende|nimm|frage?|gib|erinnere?|rufe?|sprich|zeige?|duze?|sieze?|rechne|denke?|achte|fasse?|halte?|mache?|stelle?|schicke?|prüfe?|lass|lasse';
/** Small words between such a verb and how often. */
const BETWEEN = '(?:(?:mir|mich|uns|bitte|dabei|dafür|dazu|daran|es|das|dann) ){0,3}';
/** What is told of the past. */
const PAST =
  'hab|habe|hatte|bin|war|wollte|dachte|konnte|musste|sollte|durfte|kam|ging|sah|wusste|fand|glaubte|hoffte|mochte|sagte|las|kannte|liebte|lebte|wohnte|würde|werde|kann|konnt|weiß';

/** How somebody asks in German to be remembered. */
export const GERMAN_RULES: readonly TriggerRule[] = [
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
      `^(?:bitte )?(?:${BIDDEN}) ${BETWEEN}(?:nie|niemals)\\b|^(?:bitte )?(?:nie|niemals) \\p{L}|\\bdu (?:sollst|darfst) (?:\\S+ ){0,2}?(?:nie|niemals)\\b|^ich (?!(?:${PAST})\\b)\\p{L}+e (?:\\S+ ){0,2}?(?:nie|niemals) \\p{L}`,
      'iu',
    ),
  },
  {
    word: 'immer',
    type: 'constraint',
    is: new RegExp(
      `^(?:bitte )?(?:${BIDDEN}) ${BETWEEN}immer\\b|^(?:bitte )?immer \\p{L}|\\bdu (?:sollst|musst) (?:\\S+ ){0,2}?immer\\b|^ich (?!(?:${PAST})\\b)\\p{L}+e (?:\\S+ ){0,2}?immer \\p{L}`,
      'iu',
    ),
  },
];

/** Questions, stories and set phrases, which ask for nothing. */
export const GERMAN_OTHERS: readonly RegExp[] = [
  /^(?:warum|wieso|weshalb|was|wer|wann|wo|wie|welche\p{L}*|soll|sollte|hast|magst|mag|weißt|wenn|falls|ob)(?![\p{L}])/iu,
  /\b(?:er|sie|chef\p{L}*|mutter|vater|mama|papa|freund\p{L}*|frau|mann|jemand|man) (?:sagte|sagt|meinte|meint|schrieb|schreibt|hat gesagt)\b|\bich (?:sagte|meinte|schrieb|las|hörte)\b|^laut /iu,
  /\bimmer (?:noch|wieder|mehr|weniger|öfter|\p{L}+er(?:e[nmrs]?)?)\b|\b(?:wie|fast|nicht|schon|noch|auf) (?:immer|nie)\b|\bnie (?:wieder|mehr)\b|^immer(?:hin| mit der ruhe| diese?\b)|^nie im leben\b/iu,
];
