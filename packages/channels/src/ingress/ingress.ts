import { type Capabilities, fromOutside, InboundMessage, ParleyError } from '@parley/contracts';
import type { AdmittedMessage } from '@parley/store';
import { z } from 'zod';
import { createAlbums } from './albums.ts';
import { settlesAt } from './burst.ts';
import { conversationIdOf } from './conversation-id.ts';
import { decideIngress, type IngressDecision } from './decide.ts';
import { createExplainer } from './explain.ts';
import type { IngressDeps } from './ingress-deps.ts';
import { createLoopGuard } from './loop-guard.ts';
import type { IngressOutcome } from './outcome.ts';
import { routeOf } from './route.ts';
import { standingOf } from './standing.ts';
import { take } from './take.ts';

/** Takes one message of one account in. Resolves when it is durable or refused for good (D01). */
export type Receive = (
  message: InboundMessage,
  capabilities: Capabilities,
) => Promise<IngressOutcome>;

/** Builds the ingress of one account: validate, decide, store, wake. Rejects only when storing fails. */
export function createIngress(deps: IngressDeps): Receive {
  const explain = createExplainer(deps);
  const albums = createAlbums(deps.clock);
  const isLoop = createLoopGuard(deps.clock);
  return async (unchecked, capabilities) => {
    deps.pass('received');
    const message = albums.join(validate(unchecked));
    const route = routeOf(message, capabilities, deps.rules.policy.answers);
    const standing = await standingOf(deps, message);
    const conversationId = standing.mainConversation ?? conversationIdOf(message);
    const allowed = decideIngress(message, deps.rules, standing);
    const decision = allowed.kind === 'turn' && isLoop(message) ? LOOP : allowed;
    const receivedAt = deps.clock();
    const settles = settlesAt(message, capabilities.target, receivedAt);
    const admitted: AdmittedMessage = {
      conversationId,
      message,
      route,
      receivedAt,
      ...(settles === undefined ? {} : { settlesAt: settles }),
      fromOwner: standing.isOwner && message.chat.type === 'direct',
      reason: decision.reason,
    };
    const outcome = await take(deps, { admitted, decision, standing }, { explain, albums });
    await record(deps, admitted, outcome);
    deps.meter.count('parley_ingress_total', { channel: message.channel, outcome: outcome.kind });
    const reason = 'reason' in outcome ? outcome.reason : undefined;
    deps.log.debug(
      { conversation: conversationId, message: message.messageId, outcome: outcome.kind, reason },
      'ingress',
    );
    return outcome;
  };
}

const LOOP: IngressDecision = {
  kind: 'ignore',
  reason: 'the same sentence again and again, as an automatic reply',
  overhear: false,
};

function validate(unchecked: InboundMessage): InboundMessage {
  const parsed = InboundMessage.safeParse(unchecked);
  if (parsed.success) return fromOutside(parsed.data);
  throw new ParleyError({
    code: 'inbound-invalid',
    message: `The ${unchecked.channel} adapter made a message that breaks the contract: ${z.prettifyError(parsed.error)}. This is a defect of the adapter.`,
    retryable: false,
    cause: parsed.error,
  });
}

/** What was taken is explained by its own row; everything else needs one (D08). */
async function record(
  deps: IngressDeps,
  { message, receivedAt }: AdmittedMessage,
  outcome: IngressOutcome,
): Promise<void> {
  if (outcome.kind !== 'ignored' && outcome.kind !== 'refused') return;
  const { channel, account, chat, messageId, sender } = message;
  await deps.store.decisions.record({
    channel,
    account,
    chatId: chat.id,
    messageId,
    senderId: sender.id,
    outcome: outcome.kind,
    reason: outcome.reason,
    at: receivedAt,
    sentAt: message.sentAt,
  });
}
