/** Slack's names of common emoji; the real servers support many more. */
const EMOJI: Readonly<Record<string, string>> = {
  '+1': '👍',
  '-1': '👎',
  '100': '💯',
  alarm_clock: '⏰',
  bell: '🔔',
  blush: '😊',
  book: '📖',
  bulb: '💡',
  calendar: '📆',
  clap: '👏',
  cry: '😢',
  disappointed: '😞',
  eyes: '👀',
  fire: '🔥',
  grin: '😁',
  grinning: '😀',
  hammer_and_wrench: '🛠️',
  heart: '❤️',
  heart_eyes: '😍',
  hourglass_flowing_sand: '⏳',
  joy: '😂',
  link: '🔗',
  lock: '🔒',
  mag: '🔍',
  memo: '📝',
  no_entry_sign: '🚫',
  ok_hand: '👌',
  open_mouth: '😮',
  page_facing_up: '📄',
  pray: '🙏',
  question: '❓',
  raised_hands: '🙌',
  robot_face: '🤖',
  rocket: '🚀',
  rotating_light: '🚨',
  slightly_smiling_face: '🙂',
  smile: '😄',
  smiley: '😃',
  sob: '😭',
  sparkles: '✨',
  speech_balloon: '💬',
  sunglasses: '😎',
  tada: '🎉',
  thinking_face: '🤔',
  turtle: '🐢',
  warning: '⚠️',
  wave: '👋',
  white_check_mark: '✅',
  wink: '😉',
  x: '❌',
  zap: '⚡',
};

/** Aliases that Slack replaces with the main name. */
const ALIASES: Readonly<Record<string, string>> = {
  thumbsup: '+1',
  thumbsdown: '-1',
  thinking: 'thinking_face',
  robot: 'robot_face',
};

const NAMES = new Map(Object.entries(EMOJI).map(([name, emoji]) => [emoji, name]));

/** Matches every emoji in the table, with or without the variation selector. */
export const KNOWN_EMOJI: RegExp = new RegExp(
  [...NAMES.keys()].map((emoji) => emoji.replace('\uFE0F', '\uFE0F?')).join('|'),
  'u',
);

/** Returns the name of an emoji, or undefined when it is not in the table. */
export function findEmojiName(emoji: string): string | undefined {
  return NAMES.get(emoji) ?? NAMES.get(`${emoji}\uFE0F`);
}

/** Returns the emoji with this name or alias; undefined for custom and unknown emoji. */
export function findEmoji(name: string): string | undefined {
  return EMOJI[resolveEmojiAlias(name)];
}

export function resolveEmojiAlias(name: string): string {
  return ALIASES[name] ?? name;
}

/** Whether this is a syntactically valid emoji name; a skin tone may follow the name. */
export function isEmojiName(name: string): boolean {
  return /^[\p{L}\d_+'-]+(?:::skin-tone-[2-6])?$/u.test(name);
}
