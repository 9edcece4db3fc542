import type { BeforePart } from '@parley/channels';
import type { OutboundPart } from '@parley/core';
import type { Adapter } from 'chat';
import { z } from 'zod';
import { getSlackApi } from './slack.ts';

/** Whether a part that was not found in a chat is certainly missing from it. */
export type AbsenceCheck = (
  part: Pick<OutboundPart, 'route'>,
  before: BeforePart,
) => Promise<boolean>;

const Messages = z.object({
  messages: z.array(z.object({ ts: z.string(), user: z.string().optional() })),
  has_more: z.boolean().optional(),
});
/** The ids of Slack messages are timestamps; those of files are not. */
const TIME = /^\d{10}\.\d{6}$/;
const MAX_READ = 200;

/**
 * Reads the messages in a chat or thread since the latest one that was known before the part. The
 * part is certainly missing if the bot has written nothing since then; any unknown message of the
 * bot could be the part in a form that Slack has changed.
 */
export function createSlackAbsenceCheck(adapter: Adapter): AbsenceCheck {
  return async ({ route: { chatId: channel, threadId: ts } }, { known }) => {
    const { botUserId } = adapter;
    if (botUserId === undefined) return false;
    const oldest = findNewestTime(known.filter((each) => each.chatId === channel));
    const place = { channel, limit: MAX_READ, ...(oldest !== undefined && { oldest }) };
    const api = getSlackApi(adapter);
    const read = Messages.parse(
      ts === undefined
        ? await api.apiCall('conversations.history', place)
        : await api.apiCall('conversations.replies', { ...place, ts }),
    );
    // Slack always lists the first message of a thread.
    const since = read.messages.filter((each) => oldest === undefined || each.ts > oldest);
    return read.has_more !== true && since.every(({ user }) => user !== botUserId);
  };
}

function findNewestTime(known: BeforePart['known']): string | undefined {
  const times = known.flatMap(({ messageId }) => (TIME.test(messageId) ? messageId : []));
  return times.toSorted().at(-1);
}
