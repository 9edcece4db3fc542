import type { Platform } from '../world/platform.ts';
import type { MakeInvariant } from './invariant.ts';

/**
 * Parts of a chat are shown in the order of the outbox (D04). The request of an uncertain part may
 * still be in transit after its deadline, for example after its process was paused, and cannot be
 * canceled; in this case the chat gets a notice.
 */
export const partsInOrder: MakeInvariant = () => {
  const orders = new Map<string, number>();
  const last = new Map<string, number>();
  const seen = new Set<string>();
  return {
    id: 'D04',
    afterStep: ({ changes }, { observer: { tables }, platforms }) => {
      const [first] = changes;
      if (first?.kind === 'rewound' && first.by === 'older-copy') {
        // The restored database reuses part numbers, so a request that was in transit cannot be
        // compared with later parts.
        last.clear();
        orders.clear();
        for (const { id, seq } of tables.parts.values()) orders.set(id, seq);
      }
      return changes.flatMap((change) => {
        if (change.kind === 'part' && change.to !== 'removed')
          orders.set(change.part, change.order);
        if (change.kind !== 'sent' || seen.has(change.part)) return [];
        seen.add(change.part);
        const order = orders.get(change.part);
        if (order === undefined) return [];
        const before = last.get(change.chat) ?? 0;
        last.set(change.chat, Math.max(order, before));
        const isUncertain =
          tables.parts.get(change.part)?.state === 'unknown' &&
          hasUnheardAttempt(platforms, change.part);
        return order < before && !isUncertain
          ? [`part ${change.part} was shown in ${change.chat} after a later one`]
          : [];
      });
    },
  };
};

/**
 * Whether an attempt to send a part ended without a response from its platform, because of its
 * deadline or the end of its process.
 */
function hasUnheardAttempt(platforms: ReadonlyMap<string, Platform>, part: string): boolean {
  return [...platforms.values()].some(({ attempts }) =>
    attempts.ofPart
      .get(part)
      ?.some(({ heard }) => heard === 'unknown-outcome' || heard === 'nothing'),
  );
}

/**
 * A part is shown once: on platforms that recognize it by its key, and on platforms without keys,
 * because an uncertain part is never repeated automatically there (D04). The notice of the
 * uncertainty may be repeated. This holds after a power cut and after the restore of an older
 * database copy.
 */
export const partsOnce: MakeInvariant = () => {
  const shown = new Map<string, number>();
  return {
    id: 'D04',
    afterStep: ({ changes }, { observer, platforms }) =>
      changes.flatMap((change) => {
        if (change.kind !== 'sent') return [];
        const kind = platforms.get(change.chat.split(':')[0] ?? '')?.kind;
        // Exceptions: the settings ask for a resend, or the platform forgets its keys.
        if (kind?.whenUncertain === 'resend' || kind?.keysForMs !== undefined) return [];
        const times = (shown.get(change.part) ?? 0) + 1;
        shown.set(change.part, times);
        const isNotice = observer.tables.parts.get(change.part)?.notice_of != null;
        const most = isNotice && change.key === null ? 2 : 1;
        return times > most
          ? [`part ${change.part} was shown ${times} times in ${change.chat}`]
          : [];
      }),
  };
};
