import type { SenderNow } from '@parley/channels';
import type { AdmittedMessage, CronJob } from '@parley/store';
import { type Due, dueWords } from './cron-words.ts';

/**
 * The message that a run begins with: in the chat that asked, as if from the person who asked, so that
 * the turn has their facts and nobody’s rights but theirs as they are now (W02). Its id is made of the
 * job and its time.
 */
export function cronMessage(job: CronJob, sender: SenderNow, due: Due): AdmittedMessage {
  const { origin, route } = job;
  const { conversationId, isOwner } = sender;
  return {
    conversationId,
    route,
    receivedAt: due.now,
    fromOwner: isOwner && job.fromOwner && origin.chat.type === 'direct',
    reason: `the time of the job ${job.id} had come`,
    message: {
      ...origin,
      messageId: messageIdOf(job),
      text: dueWords(job, due),
      mentions: [],
      addressed: true,
      sentAt: due.now,
      variables: {},
      occasion: 'cron',
    },
  };
}

/** With the run before it: a clock that is put back may bring the same time twice. */
function messageIdOf({ id, nextAt, lastAt }: CronJob): string {
  return ['cron', id, nextAt ?? 0, lastAt ?? 0].join(':');
}
