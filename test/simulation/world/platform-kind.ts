import type { Capabilities } from '@parley/core';

/** So many at once, then one every so many ms. */
export interface Rate {
  readonly burst: number;
  readonly everyMs: number;
}

/** What a platform can do, and what it allows. */
export interface PlatformKind {
  readonly id: string;
  /** It knows a repeated send by its key. */
  readonly hasKeys: boolean;
  /** It can be asked whether a part has arrived. */
  readonly finds: boolean;
  /** It knows a key for so long after the message with it; for good when absent. In ms. */
  readonly keysForMs?: number;
  /** Its adapter says when the first byte of a send may leave. */
  readonly reportsStart?: true;
  /** Names of the accounts that the bot has there; one, `default`, when absent. */
  readonly accounts?: readonly string[];
  /** The bot can edit and delete its messages, and react to others. */
  readonly changes?: true;
  /** An answer is shown while it is written. */
  readonly streams?: true;
  /** Longest message, in UTF-16 units. */
  readonly maxLength?: number;
  /** Groups in which the bot is a member, by id. */
  readonly groups?: readonly string[];
  /** What its adapter declares; those of Telegram when absent. */
  readonly rates?: Capabilities['rates'];
  /** What the platform itself refuses beyond; absent: nothing. */
  readonly enforced?: { readonly account?: Rate; readonly chat?: Rate };
  /** Chats in which each send takes many seconds. */
  readonly slowChats?: readonly string[];
  /** It refuses some sends for good while sends go wrong. */
  readonly refuses?: true;
  /** As in the settings; `tell` when absent. */
  readonly whenUncertain?: 'notify' | 'resend';
}

export const DEFAULT_ACCOUNT = 'default';

/** About those of Telegram. */
const RATES = {
  account: { burst: 30, everyMs: 34 },
  direct: { burst: 3, everyMs: 1_000 },
} as const;

export function ratesOf({ rates = RATES }: PlatformKind): NonNullable<Capabilities['rates']> {
  return rates;
}

/** What an adapter for this platform declares. */
export function capabilitiesOf(kind: PlatformKind): Capabilities {
  const { hasKeys, keysForMs, changes = false, streams, maxLength = 4_096 } = kind;
  return {
    target: { dialect: 'plain', maxLength, unit: 'utf16' },
    idempotentSend: hasKeys,
    ...(keysForMs !== undefined && { idempotentForMs: keysForMs }),
    typing: false,
    edit: changes,
    delete: changes,
    react: changes,
    threads: false,
    buttons: false,
    streaming: streams ? 'replace' : 'none',
    media: [],
    rates: ratesOf(kind),
  };
}

/** The settings of the channel, for everyone who writes. */
export function channelSettings(kind: PlatformKind): object {
  const { groups, whenUncertain, accounts } = kind;
  const one = {
    access: { direct: 'open', ...(groups && { groups: 'open' }) },
    ...(whenUncertain && { whenUncertain }),
  };
  if (accounts === undefined) return one;
  return { accounts: Object.fromEntries(accounts.map((account) => [account, one])) };
}
