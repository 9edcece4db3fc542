import { z } from 'zod';
import { ChatType } from './inbound-message.ts';

/** Everything a turn knows about where, when, by whom and for whom it runs (F02). */
export const RuntimeFacts = z.strictObject({
  agent: z.strictObject({ id: z.string(), name: z.string() }),
  /** The remote person: Parley's id for them (`telegram:42`) and the name they chose. */
  user: z.strictObject({ id: z.string(), name: z.string() }),
  channel: z.string(),
  account: z.string(),
  channelUserId: z.string(),
  chatType: ChatType,
  groupId: z.string().optional(),
  groupTitle: z.string().optional(),
  threadId: z.string().optional(),
  messageId: z.string(),
  replyToMessageId: z.string().optional(),
  mentions: z.array(z.string()),
  addressed: z.boolean(),
  /** The agent's local date and time, for example `2026-11-21` and `14:05`. */
  date: z.string(),
  time: z.string(),
  timeZone: z.string(),
  workspace: z.string(),
  heartbeat: z.boolean(),
  variables: z.record(z.string(), z.string()),
});
export type RuntimeFacts = z.infer<typeof RuntimeFacts>;
