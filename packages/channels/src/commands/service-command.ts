import { personId } from '../ingress/sender.ts';
import { type Asked, type CommandServices, chatCommand, type ReadyCommand } from './command.ts';

type ServiceName = Exclude<keyof CommandServices, 'statusLine'>;

/** A command that the service of its name answers; `unavailable` is the answer where there is no such service. */
export function serviceCommand(
  command: Omit<ReadyCommand, 'name' | 'prepare' | 'run'> & { readonly name: ServiceName },
  unavailable: string,
): ReadyCommand<string> {
  return chatCommand({
    ...command,
    prepare: async (asked, { services }) =>
      (await services[command.name]?.(serviceAsker(asked), asked.argument)) ?? unavailable,
    run: async (_asked, _transaction, answer) => ({ answer }),
  });
}

function serviceAsker({ message, conversationId, audience }: Asked) {
  const { channel, account, chat, messageId } = message;
  return {
    person: personId(message),
    reader: { kind: audience === 'owner' ? 'owner' : 'guest', conversationId },
    isGroup: chat.type !== 'direct',
    messageId: JSON.stringify([channel, account, chat.id, messageId]),
  } as const;
}
