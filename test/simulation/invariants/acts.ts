import type { MakeInvariant } from './invariant.ts';

interface ActRow {
  readonly id: string;
  readonly channel: string;
  readonly body: string;
}

interface RecordedAct {
  readonly kind: 'react' | 'edit' | 'delete';
  readonly messageId: string;
  readonly emoji?: string;
}

/**
 * Every edit, deletion or reaction that the outbox records as done took effect on the platform
 * (F04, D04).
 */
export const actsAreDone: MakeInvariant = () => ({
  id: 'F04',
  atEnd: ({ observer, platforms }) => {
    const rows = observer.rows<ActRow>(
      "select id, channel, body from outbox where state = 'sent' and platform_message_id like 'act:%' order by seq",
    );
    return rows.flatMap(({ id, channel, body }) => {
      const sending = platforms.get(channel)?.sending;
      const { act, plain } = JSON.parse(body) as {
        readonly act?: RecordedAct;
        readonly plain: string;
      };
      if (sending === undefined || act === undefined) return [];
      const { kind, messageId } = act;
      const shown = sending.shown.find((one) => one.id === messageId);
      const isDone =
        kind === 'react'
          ? sending.reactions.get(messageId) === act.emoji
          : kind === 'delete'
            ? shown?.isDeleted
            : shown?.isDeleted || shown?.edited === plain;
      return isDone ? [] : [`part ${id} should ${kind} ${messageId} of ${channel}, but did not`];
    });
  },
});
