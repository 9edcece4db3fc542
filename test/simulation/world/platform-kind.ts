import type { Capabilities } from '@parley/core';

/** The number of sends allowed in a burst, and the interval between further sends, in ms. */
export interface SendRate {
  readonly burst: number;
  readonly everyMs: number;
}

/** The abilities and limits of a platform. */
export interface PlatformKind {
  readonly id: string;
  /** Whether the platform recognizes a repeated send by its key. */
  readonly hasKeys: boolean;
  /** Whether the platform can be asked if a part has arrived. */
  readonly finds: boolean;
  /** How long the platform remembers the key of a message, in ms; forever by default. */
  readonly keysForMs?: number;
  /** Its adapter reports when the first byte of a send may leave. */
  readonly reportsStart?: true;
  /** The names of the bot's accounts; only `default` if absent. */
  readonly accounts?: readonly string[];
  /** The bot can edit and delete its messages, and react to others' messages. */
  readonly changes?: true;
  /** An answer is shown while it is being written. */
  readonly streams?: true;
  /** The maximum length of a message, in UTF-16 units. */
  readonly maxLength?: number;
  /** Groups in which the bot is a member, by id. */
  readonly groups?: readonly string[];
  /** The rates that the adapter declares; by default, Telegram's rates. */
  readonly rates?: Capabilities['rates'];
  /** The rates beyond which the platform itself refuses sends; absent when it has no limits. */
  readonly enforced?: { readonly account?: SendRate; readonly chat?: SendRate };
  /** Chats in which each send takes many seconds. */
  readonly slowChats?: readonly string[];
  /** Permanently refuses some sends while sends fail. */
  readonly refuses?: true;
  /** As in the settings; `notify` when absent. */
  readonly whenUncertain?: 'notify' | 'resend';
}

export const DEFAULT_ACCOUNT = 'default';

/** Roughly the rates of Telegram. */
const RATES = {
  account: { burst: 30, everyMs: 34 },
  direct: { burst: 3, everyMs: 1_000 },
} as const;

export function getRates({ rates = RATES }: PlatformKind): NonNullable<Capabilities['rates']> {
  return rates;
}

/** The capabilities that an adapter for this platform declares. */
export function getCapabilities(kind: PlatformKind): Capabilities {
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
    rates: getRates(kind),
  };
}

/** The settings of the channel, for everyone who writes. */
export function createChannelSettings(kind: PlatformKind): object {
  const { groups, whenUncertain, accounts } = kind;
  const one = {
    access: { direct: 'open', ...(groups && { groups: 'open' }) },
    ...(whenUncertain && { whenUncertain }),
  };
  if (accounts === undefined) return one;
  return { accounts: Object.fromEntries(accounts.map((account) => [account, one])) };
}
