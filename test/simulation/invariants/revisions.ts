import type { Simulation } from '../simulation.ts';
import type { RevisedMessage } from '../world/platform.ts';
import type { MakeInvariant } from './invariant.ts';

interface RevisedRow {
  readonly state: string;
  readonly text: string;
}

function findRow({ message }: RevisedMessage, { observer }: Simulation): RevisedRow | undefined {
  const { channel, account, messageId } = message;
  return observer.rows<RevisedRow>(
    `select state, json_extract(message, '$.text') as text from inbox where channel = '${channel}'
     and account = '${account}' and message_id = '${messageId}'`,
  )[0];
}

/**
 * An edit or deletion that was confirmed to its author applies to a message that is still waiting;
 * the stored text is what gets answered (F08).
 */
export const changesCount: MakeInvariant = () => {
  let seen = 0;
  return {
    id: 'F08',
    afterStep: (_, simulation) => {
      const revised = simulation.revised.slice(seen);
      seen = simulation.revised.length;
      return revised.flatMap((one) => {
        const row = findRow(one, simulation);
        if (row?.state !== 'waiting') return [];
        const { kind, message } = one;
        if (kind === 'deleted') return [`${message.messageId} still waits, though it was deleted`];
        const isLast = simulation.revised.findLast(
          ({ message: { messageId, channel } }) =>
            messageId === message.messageId && channel === message.channel,
        );
        return isLast === one && row.text !== message.text
          ? [`${message.messageId} still waits as "${row.text}", not as "${message.text}"`]
          : [];
      });
    },
    atEnd: (simulation) =>
      simulation.revised.flatMap((one) => {
        const [question = ''] = one.message.text.match(/\bq\d+\b/) ?? [];
        const row = findRow(one, simulation);
        const said = simulation
          .platform(one.message.channel)
          .sending.shown.find(({ text }) => new RegExp(`\\b${question}\\b`).test(text));
        if (row === undefined || said === undefined) return [];
        // One answer may name several questions, each with its own change.
        const change = new RegExp(`\\be${question.slice(1)}\\b`);
        const [stored = ''] = row.text.match(change) ?? [];
        const [answered = ''] = said.text.match(change) ?? [];
        return stored === answered
          ? []
          : [`${question} is stored with "${stored}" and was answered with "${answered}"`];
      }),
  };
};
