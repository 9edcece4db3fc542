import {
  type Capabilities,
  type Clock,
  InboundMessage,
  type LiveBus,
  type Logger,
  type Meter,
  ParleyError,
  type PassPoint,
} from '@parley/contracts';
import { render } from '@parley/markup';
import type { WakeUpQueue } from '@parley/queue';
import type { AdmittedMessage, CommandEffect, NewPart, Store } from '@parley/store';
import { z } from 'zod';
import type { CommandName } from './command.ts';
import { conversationIdOf } from './conversation-id.ts';
import { type DecisionRules, decideIngress } from './decide.ts';
import {
  commandAnswer,
  overflowNotice,
  type Situation,
  strangerNotice,
  tooLongNotice,
} from './notices.ts';
import type { IngressOutcome } from './outcome.ts';
import { routeOf } from './route.ts';
import { createSeldom } from './seldom.ts';

/** What ingress of one channel account works with. */
export interface IngressDeps {
  readonly store: Pick<Store, 'inbox' | 'outbox'>;
  readonly lanes: Pick<WakeUpQueue, 'kick'>;
  /** Wakes the delivery of a chat of this account. */
  readonly deliver: (chatId: string) => Promise<void>;
  readonly bus: LiveBus;
  readonly rules: DecisionRules;
  readonly situation: () => Situation;
  readonly log: Logger;
  readonly meter: Meter;
  readonly clock: Clock;
  readonly pass: PassPoint;
}

/** Takes one message of one account in. Resolves when it is durable or refused for good (D01). */
export type Receive = (
  message: InboundMessage,
  capabilities: Capabilities,
) => Promise<IngressOutcome>;

const EXPLAIN_EVERY_MS = 60 * 60_000;

/** Builds the ingress of one account: validate, decide, store, wake. Rejects only when storing fails. */
export function createIngress(deps: IngressDeps): Receive {
  const explainNow = createSeldom(EXPLAIN_EVERY_MS, deps.clock);
  return async (unchecked, capabilities) => {
    deps.pass('received');
    const message = validate(unchecked);
    const route = routeOf(message, capabilities);
    const conversationId = conversationIdOf(message);
    const admitted = { conversationId, message, route, receivedAt: deps.clock() };
    const outcome = await take(deps, admitted, explainNow);
    deps.meter.count('parley_ingress_total', { channel: message.channel, outcome: outcome.kind });
    const reason = 'reason' in outcome ? outcome.reason : undefined;
    deps.log.debug(
      { conversation: conversationId, message: message.messageId, outcome: outcome.kind, reason },
      'ingress',
    );
    return outcome;
  };
}

function validate(unchecked: InboundMessage): InboundMessage {
  const parsed = InboundMessage.safeParse(unchecked);
  if (parsed.success) return parsed.data;
  throw new ParleyError({
    code: 'inbound-invalid',
    message: `The ${unchecked.channel} adapter made a message that breaks the contract: ${z.prettifyError(parsed.error)}. This is a defect of the adapter.`,
    retryable: false,
    cause: parsed.error,
  });
}

async function take(
  deps: IngressDeps,
  admitted: AdmittedMessage,
  explainNow: (key: string) => boolean,
): Promise<IngressOutcome> {
  const { message, route } = admitted;
  const decision = decideIngress(message, deps.rules);
  switch (decision.kind) {
    case 'ignore':
      return { kind: 'ignored', reason: decision.reason };
    case 'refuse': {
      const explanation = decision.tell && explainNow(`${decision.tell} ${message.sender.id}`);
      if (explanation) await tell(deps, admitted, refusalNotice(deps, admitted, decision.tell));
      return { kind: 'refused', reason: decision.reason };
    }
    case 'command':
      return carryOut(deps, admitted, decision.name);
    case 'turn': {
      const waiting = await deps.store.inbox.waiting(admitted.conversationId);
      if (waiting >= deps.rules.limits.waitingPerConversation) {
        if (explainNow(`overflow ${route.chatId}`))
          await tell(deps, admitted, overflowNotice(waiting));
        return { kind: 'refused', reason: `${waiting} messages of this conversation wait already` };
      }
      return accept(deps, admitted);
    }
  }
}

async function accept(deps: IngressDeps, admitted: AdmittedMessage): Promise<IngressOutcome> {
  const stored = await deps.store.inbox.accept(admitted);
  deps.pass('inbox-committed');
  // Also for a duplicate: the process may have died between storing and waking the first time.
  await deps.lanes.kick(admitted.conversationId);
  if (stored === 'duplicate') return { kind: 'duplicate' };
  return { kind: 'accepted', conversationId: admitted.conversationId };
}

function effectOf(name: CommandName): CommandEffect {
  if (name === 'stop') return { kind: 'stop' };
  if (name === 'new') return { kind: 'new-session' };
  return { kind: 'none' };
}

async function carryOut(
  deps: IngressDeps,
  admitted: AdmittedMessage,
  name: CommandName,
): Promise<IngressOutcome> {
  const { conversationId, message, route } = admitted;
  const result = await deps.store.inbox.command(admitted, effectOf(name), (found) =>
    partsOf(commandAnswer(name, message, found, deps.situation()), route),
  );
  deps.pass('inbox-committed');
  if (name === 'stop') deps.bus.publish({ type: 'stop-turn', conversationId });
  await deps.deliver(route.chatId);
  return result.duplicate ? { kind: 'duplicate' } : { kind: 'command', name };
}

function refusalNotice(
  deps: IngressDeps,
  admitted: AdmittedMessage,
  tell: 'stranger' | 'too-long' | null,
): string {
  const { message } = admitted;
  if (tell === 'stranger') return strangerNotice(message);
  return tooLongNotice(message.text.length, deps.rules.limits.messageCharacters);
}

async function tell(deps: IngressDeps, admitted: AdmittedMessage, markdown: string): Promise<void> {
  await deps.store.outbox.enqueue(partsOf(markdown, admitted.route), admitted.receivedAt);
  await deps.deliver(admitted.route.chatId);
}

function partsOf(markdown: string, route: AdmittedMessage['route']): NewPart[] {
  return render(markdown, route.target).map((body) => ({ route, body }));
}
