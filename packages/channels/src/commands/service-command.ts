import { toPersonId } from '../ingress/sender.ts';
import {
  type CommandContext,
  type CommandServices,
  defineChatCommand,
  type ImmediateCommand,
} from './command.ts';

type ServiceName = Exclude<keyof CommandServices, 'statusLine' | 'savedMemories' | 'branch'>;

/**
 * A command answered by the service with the same name; `unavailable` is the answer when the
 * service is missing.
 */
export function createServiceCommand(
  command: Omit<ImmediateCommand, 'name' | 'prepare' | 'run'> & { readonly name: ServiceName },
  unavailable: string,
): ImmediateCommand<string> {
  return defineChatCommand({
    ...command,
    prepare: async (context, { services }) =>
      (await services[command.name]?.(toServiceCommandSender(context), context.argument)) ??
      unavailable,
    run: async (_context, _transaction, answer) => ({ answer }),
  });
}

/** The sender of a command, as services see them. */
export function toServiceCommandSender({ message, conversationId, audience }: CommandContext) {
  const { channel, account, chat, messageId } = message;
  return {
    person: toPersonId(message),
    reader: { kind: audience === 'owner' ? 'owner' : 'guest', conversationId },
    isGroup: chat.type !== 'direct',
    messageId: JSON.stringify([channel, account, chat.id, messageId]),
  } as const;
}
