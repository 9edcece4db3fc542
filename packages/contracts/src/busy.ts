import { z } from 'zod';
import type { ChatType } from './inbound-message.ts';

/**
 * What becomes of messages that arrive during a turn (D03): they form the next one together (`collect`),
 * join the running one at its next step (`steer`), get one each (`followup`), or end the running one,
 * whose messages are then answered with them (`interrupt`).
 */
export const BusyMode = z.enum(['collect', 'steer', 'followup', 'interrupt']);
export type BusyMode = z.infer<typeof BusyMode>;

/** One for all chats, or one for each kind of chat; kinds that are not named collect. */
export const BusyPolicy = z.union([
  BusyMode,
  z.strictObject({
    direct: BusyMode.optional(),
    group: BusyMode.optional(),
    channel: BusyMode.optional(),
    thread: BusyMode.optional(),
  }),
]);
export type BusyPolicy = z.infer<typeof BusyPolicy>;

/** What a policy says of one kind of chat. */
export function busyIn(policy: BusyPolicy, chatType: ChatType): BusyMode {
  return typeof policy === 'string' ? policy : (policy[chatType] ?? 'collect');
}
