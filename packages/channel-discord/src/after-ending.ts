/** What is done when there is no connection to Discord any more. */
export type AfterEnding =
  | { readonly kind: 'retry'; readonly afterMs: number; readonly reason: string }
  /** It will not mend itself; asking again and again would cost the token. */
  | { readonly kind: 'give-up'; readonly reason: string; readonly mend: string };

/** How a login failed or a connection ended. */
export interface Ending {
  readonly reason: string;
  /** The gateway's close code, where it is known. */
  readonly closeCode?: number | undefined;
  /** How long Discord says to wait, in ms. */
  readonly retryAfterMs?: number | undefined;
}

const FIRST_BACKOFF_MS = 1_000;
const LONGEST_BACKOFF_MS = 60_000;
/** 1,000 logins a day are allowed; this long between two makes 480. In ms. */
const BETWEEN_LOGINS_MS = 180_000;

const PORTAL = 'discord.com/developers/applications → your application → Bot';

/** How discord.js words what the gateway says with a close code, or the API with a 401. */
const CODE_OF_WORDS: readonly (readonly [RegExp, number])[] = [
  [/invalid token|authentication failed/i, 4004],
  [/invalid shard/i, 4010],
  [/sharding is required/i, 4011],
  [/invalid API version/i, 4012],
  [/invalid intents/i, 4013],
  [/disallowed intents/i, 4014],
];

const GIVE_UP: ReadonlyMap<number, readonly [reason: string, mend: string]> = new Map([
  [
    4004,
    [
      'Discord refuses the bot token',
      `Open ${PORTAL}, press "Reset Token", put the new token into channels.discord.token and start Parley again.`,
    ],
  ],
  [4010, ['Discord refuses the shard', 'Set channels.discord.shards to auto.']],
  [
    4011,
    ['The bot is in too many servers for so few shards', 'Set channels.discord.shards to auto.'],
  ],
  [4012, ['Discord does not know this API version any more', 'Update Parley.']],
  [4013, ['Discord does not know an intent that was asked for', 'Update Parley.']],
  [
    4014,
    [
      'the Message Content Intent is not switched on for this bot',
      `Open ${PORTAL} → Privileged Gateway Intents, switch "Message Content Intent" on, save, and start Parley again. Or set channels.discord.messageContent to false: then only direct messages and messages that mention the bot can be read.`,
    ],
  ],
]);

/** Decides after the n-th ending in a row (from 0). `random` is in [0, 1), `now` in ms. */
export function afterEnding(
  { reason, closeCode, retryAfterMs }: Ending,
  failures: number,
  random: number,
  now: number,
): AfterEnding {
  const code = closeCode ?? CODE_OF_WORDS.find(([words]) => words.test(reason))?.[1];
  const final = code === undefined ? undefined : GIVE_UP.get(code);
  if (final !== undefined) return { kind: 'give-up', reason: final[0], mend: final[1] };
  const [, resetsAt] = /sessions remaining.*resets at (\S+)/i.exec(reason) ?? [];
  if (resetsAt !== undefined) {
    const afterMs = Math.max(BETWEEN_LOGINS_MS, Date.parse(resetsAt) - now);
    return { kind: 'retry', afterMs, reason: `no logins are left for today: ${reason}` };
  }
  const full = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** failures);
  const afterMs = retryAfterMs ?? Math.round(full * (0.5 + random / 2));
  return { kind: 'retry', afterMs, reason: `Discord cannot be reached: ${reason}` };
}
