import type { LiveBus, PassPoint } from '@parley/contracts';
import type { AdmittedMessage, CommandEffect, InboxRepository } from '@parley/store';
import { personId } from './access.ts';
import type { CommandName } from './command.ts';
import { commandAnswer, type Situation } from './notices.ts';
import type { IngressOutcome } from './outcome.ts';
import { partsOf } from './parts-of.ts';

/** What commands work with. */
export interface CommandDeps {
  readonly store: { readonly inbox: Pick<InboxRepository, 'command'> };
  readonly deliver: (chatId: string) => Promise<void>;
  readonly bus: LiveBus;
  readonly situation: () => Situation;
  readonly rules: { readonly owners: readonly string[] };
  readonly pass: PassPoint;
}

/**
 * Carries a command out without lane or model, so that it overtakes what waits (F09). Its effect,
 * its answer and the proof that it was taken are one transaction.
 */
export async function carryOut(
  deps: CommandDeps,
  admitted: AdmittedMessage,
  name: CommandName,
): Promise<IngressOutcome> {
  const { conversationId, message, route } = admitted;
  const isOwner = message.chat.type === 'direct' && deps.rules.owners.includes(personId(message));
  const audience = isOwner ? 'owner' : 'others';
  const result = await deps.store.inbox.command(admitted, effectOf(name), (found) =>
    partsOf(commandAnswer(name, message, found, deps.situation(), audience), route),
  );
  deps.pass('inbox-committed');
  // A /stop that is told twice must not stop what was asked after it.
  if (name === 'stop' && !result.duplicate) deps.bus.publish({ type: 'stop-turn', conversationId });
  await deps.deliver(route.chatId);
  return result.duplicate ? { kind: 'duplicate' } : { kind: 'command', name };
}

function effectOf(name: CommandName): CommandEffect {
  if (name === 'stop') return { kind: 'stop' };
  return name === 'new' ? { kind: 'new-session' } : { kind: 'none' };
}
