import type { Simulation } from '../simulation.ts';
import type { SendAttempt } from '../world/attempts.ts';
import { TokenBuckets } from '../world/buckets.ts';
import type { Platform } from '../world/platform.ts';
import { getRates } from '../world/platform-kind.ts';
import type { MakeInvariant } from './invariant.ts';
import { listWithheldParts } from './withheld.ts';

/** Returns the new attempts of all platforms at each call, in order. */
function createAttemptReader(): (
  simulation: Simulation,
) => readonly (readonly [Platform, SendAttempt])[] {
  const seen = new Map<string, number>();
  return ({ platforms }) =>
    [...platforms.values()].flatMap((platform) => {
      const { all } = platform.attempts;
      const from = seen.get(platform.kind.id) ?? 0;
      seen.set(platform.kind.id, all.length);
      return all.slice(from).map((attempt) => [platform, attempt] as const);
    });
}

/**
 * The maximum number of times that a platform without keys shows a part (D04): once, a notice once
 * more per crash, and with `resend` once more for each send with an unknown outcome.
 */
export const uncertainOnce: MakeInvariant = () => {
  const shown = new Map<string, number>();
  return {
    id: 'D04',
    afterStep: ({ changes }, { platforms }) =>
      changes.flatMap((change) => {
        if (change.kind !== 'sent') return [];
        const count = (shown.get(change.part) ?? 0) + 1;
        shown.set(change.part, count);
        const [channel = ''] = change.chat.split(':');
        const platform = platforms.get(channel);
        if (platform === undefined || change.key !== null) return [];
        const attempts = platform.attempts.ofPart.get(change.part) ?? [];
        const unheard = attempts.filter(
          ({ heard }) => heard === 'nothing' || heard === 'unknown-outcome',
        );
        const isNotice = attempts[0]?.part.noticeOf !== undefined;
        const isRepeated = platform.kind.whenUncertain === 'resend' && !isNotice;
        const allowed = isRepeated ? 1 + unheard.length : isNotice ? 2 : 1;
        if (count <= allowed) return [];
        return [
          `part ${change.part} was shown ${count} times in ${change.chat}, which has no keys`,
        ];
      }),
  };
};

/**
 * When a platform can be queried and has reported a part as delivered, the part is not sent again
 * (D04).
 */
export const foundIsSent: MakeInvariant = () => {
  // An older copy does not contain the results of the search, so Parley holds such parts back.
  const forgotten = new Set<string>();
  return {
    id: 'D04',
    afterStep: ({ changes: [first] }, { platforms }) => {
      if (first?.kind !== 'rewound' || first.by !== 'older-copy') return [];
      for (const { sending } of platforms.values())
        for (const part of sending.found.keys()) forgotten.add(part);
      return [];
    },
    atEnd: ({ platforms, observer }) =>
      [...platforms.values()].flatMap(({ sending }) =>
        [...sending.found].flatMap(([part, { id, at }]) => {
          const state = observer.tables.parts.get(part)?.state;
          const isSentAgain = sending.shown.some((shown) => shown.part === part && shown.at > at);
          if (isSentAgain) return [`part ${part} was found as ${id} and then sent again`];
          return state === 'sent' || state === undefined || forgotten.has(part)
            ? []
            : [`part ${part} was found as ${id}, but is marked ${state}`];
        }),
      ),
  };
};

/**
 * Parts marked as sent exist on the platform, and each part that may not have arrived is reported
 * (D04, D06).
 */
export const endsAreTold: MakeInvariant = () => {
  // Parts held back after a rollback of the database; the owner gets one notice for all of them.
  const heldBack = new Set<string>();
  let setbacks = 0;
  return {
    id: 'D04',
    afterStep: ({ changes }, { observer: { tables } }) => {
      if (tables.setbacks === setbacks) return [];
      setbacks = tables.setbacks;
      for (const change of changes) {
        if (change.kind === 'part' && change.to === 'unknown') heldBack.add(change.part);
      }
      return [];
    },
    atEnd: (simulation) => {
      const { platforms, observer, shownPart } = simulation;
      const { parts, deadLetters } = observer.tables;
      const withheld = listWithheldParts(simulation);
      const dead = new Set([...deadLetters.values()].map(({ subject }) => subject));
      const told = new Set([...parts.values()].map(({ notice_of }) => notice_of));
      const acts = new Set(
        observer
          .rows<{ readonly id: string }>(
            `select id from outbox where platform_message_id like 'act:%' or body like '%"act":{%'`,
          )
          .map(({ id }) => id),
      );
      return [...parts.values()].flatMap(({ id, chat, state, notice_of }) => {
        const [channel = ''] = chat.split(':');
        if (!platforms.has(channel) || acts.has(id)) return [];
        if (state === 'sent')
          return shownPart(id) === undefined
            ? [`part ${id} is marked sent, but is not in ${chat}`]
            : [];
        if (notice_of !== null || withheld.has(id)) return [];
        const missing = dead.has(id)
          ? []
          : [`part ${id} of ${chat} is ${state} without a dead letter`];
        if (state !== 'unknown' || told.has(id) || heldBack.has(id)) return missing;
        return [...missing, `part ${id} of ${chat} is unknown, but the chat got no notice`];
      });
    },
  };
};

/** Once a chat is closed to the bot, the rest of the answer is not sent to it (D05). */
export const nothingToTheClosed: MakeInvariant = () => {
  const next = createAttemptReader();
  return {
    id: 'D05',
    afterStep: (_, simulation) =>
      next(simulation).flatMap(([platform, { part, at }]) => {
        const { turnId, route } = part;
        if (turnId === null) return [];
        const closed = platform.sending.closed.get(`${turnId} ${route.chatId}`);
        if (closed === undefined || closed >= at) return [];
        return [
          `part ${part.id} was sent to ${route.chatId} after the chat was closed to its answer`,
        ];
      }),
  };
};

/** The time that marking a part takes between the rate limiter and the platform, in ms. */
const MARKING_MS = 60;

/** What one run of an adapter has sent since its process was last paused. */
interface SentRecord {
  readonly buckets: TokenBuckets;
  readonly chats: Set<string>;
  pausedUntil: number;
}

/**
 * Sends never exceed the declared rate in any chat or account, and never come before `retry_after`
 * has passed (D05). A process cannot rule out a pause between reading the clock and sending.
 */
export const ratesAreKept: MakeInvariant = () => {
  const next = createAttemptReader();
  const lives = new Map<string, SentRecord>();
  return {
    id: 'D05',
    afterStep: (_, simulation) =>
      next(simulation).flatMap(([platform, { part, life, at }]) => {
        const { kind, sending } = platform;
        const { chatId, chatType = 'direct' } = part.route;
        const silent = [`${life.number}`, `${life.number} ${chatId}`].some((name) => {
          const { from = 0, until = 0 } = sending.silences.get(name) ?? {};
          return at > from + MARKING_MS && at < until - 1;
        });
        if (silent)
          return [`${part.id} was sent to ${chatId} before the platform's retry_after had passed`];
        const name = `${kind.id} ${life.number}`;
        const own = lives.get(name) ?? {
          buckets: new TokenBuckets(),
          chats: new Set(),
          pausedUntil: 0,
        };
        lives.set(name, own);
        const pausedUntil = simulation.pausedUntil(life.process);
        if (pausedUntil !== own.pausedUntil) {
          own.buckets.clear();
          own.chats.clear();
        }
        own.pausedUntil = pausedUntil;
        // A send that was allowed before a pause leaves when the process resumes: one part in each
        // chat.
        const wasAllowed = pausedUntil > 0 && at - pausedUntil < MARKING_MS;
        if (wasAllowed && !own.chats.has(chatId)) {
          own.chats.add(chatId);
          return [];
        }
        const rates = getRates(kind);
        const ofChat = chatType === 'direct' ? rates.direct : rates.group;
        const waits = [
          rates.account ? own.buckets.take('account', rates.account, at, MARKING_MS) : 0,
          ofChat ? own.buckets.take(chatId, ofChat, at, MARKING_MS) : 0,
        ];
        const wait = Math.max(...waits);
        return wait > 0
          ? [
              `${part.id} was sent to ${chatId} ${Math.round(wait)} ms sooner than ${kind.id} declares`,
            ]
          : [];
      }),
  };
};

/**
 * A chat that accepts each send slowly does not delay other chats by more than this (D05). In ms.
 */
const OWN_PACE_MS = 4_000;

export const slowHoldsUpNobody: MakeInvariant = () => {
  const stored = new Map<
    string,
    { readonly at: number; readonly chat: string; readonly isFirst: boolean }
  >();
  const open = new Map<string, Set<string>>();
  return {
    id: 'D05',
    afterStep: ({ at, changes }) => {
      for (const change of changes) {
        if (change.kind !== 'part') continue;
        const { part, chat, to, from } = change;
        const waiting = open.get(chat) ?? new Set();
        open.set(chat, waiting);
        if (from === null) stored.set(part, { at, chat, isFirst: waiting.size === 0 });
        if (to === 'pending' || to === 'sending') waiting.add(part);
        else waiting.delete(part);
      }
      return [];
    },
    atEnd: ({ platforms, scene }) => {
      if (scene.faults.length > 0) return [];
      return [...platforms.values()].flatMap(({ kind, attempts }) =>
        [...attempts.ofPart].flatMap(([id, [first]]) => {
          const part = stored.get(id);
          if (!first || !part?.isFirst || kind.slowChats?.includes(first.part.route.chatId))
            return [];
          const waited = first.at - part.at;
          return waited > OWN_PACE_MS
            ? [`part ${id} of ${part.chat} waited ${Math.round(waited)} ms beside a slow chat`]
            : [];
        }),
      );
    },
  };
};
