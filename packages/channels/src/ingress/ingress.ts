import {
  type Capabilities,
  type Clock,
  InboundMessage,
  type LiveBus,
  type Logger,
  type Meter,
  ParleyError,
  type PassPoint,
  type ReplyRoute,
} from '@parley/contracts';
import type { WakeUpQueue } from '@parley/queue';
import type { AdmittedMessage, Store } from '@parley/store';
import { z } from 'zod';
import { createAlbums, settlesAt } from './burst.ts';
import { carryOut } from './carry-out.ts';
import { conversationIdOf } from './conversation-id.ts';
import { type DecisionRules, decideIngress, type IngressDecision } from './decide.ts';
import { createExplainer, type Explainer } from './explain.ts';
import { createLoopGuard } from './loop-guard.ts';
import type { Situation } from './notices.ts';
import type { IngressOutcome } from './outcome.ts';
import { overhear } from './overhear.ts';
import { routeOf } from './route.ts';
import { type Standing, standingOf } from './standing.ts';

/** What ingress of one channel account works with. */
export interface IngressDeps {
  readonly store: Pick<Store, 'inbox' | 'outbox' | 'overheard' | 'pairing' | 'decisions' | 'links'>;
  readonly lanes: Pick<WakeUpQueue, 'kick'>;
  /** Wakes the delivery of a chat, of any account. */
  readonly deliver: (route: ReplyRoute) => Promise<void>;
  /** False: nothing is ever said to strangers on this channel (F05). */
  readonly answersStrangers: boolean;
  /** A fresh one-time code, unguessable. */
  readonly newCode: () => string;
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

/** Builds the ingress of one account: validate, decide, store, wake. Rejects only when storing fails. */
export function createIngress(deps: IngressDeps): Receive {
  const explain = createExplainer(deps);
  const joinAlbum = createAlbums(deps.clock);
  const isLoop = createLoopGuard(deps.clock);
  return async (unchecked, capabilities) => {
    deps.pass('received');
    const message = joinAlbum(validate(unchecked));
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
    const outcome = await take(deps, { admitted, decision, standing }, explain);
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
  if (parsed.success) return parsed.data;
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
  });
}

interface Decided {
  readonly admitted: AdmittedMessage;
  readonly decision: IngressDecision;
  readonly standing: Standing;
}

async function take(
  deps: IngressDeps,
  { admitted, decision, standing }: Decided,
  explain: Explainer,
): Promise<IngressOutcome> {
  switch (decision.kind) {
    case 'ignore':
      if (decision.overhear) await overhear(deps.store.overheard, admitted);
      return { kind: 'ignored', reason: decision.reason };
    case 'refuse':
      await explainRefusal(deps, admitted, decision.tell, explain);
      return { kind: 'refused', reason: decision.reason };
    case 'command':
      return carryOut(deps, admitted, decision.command, standing);
    case 'turn':
      return accept(deps, admitted, explain);
  }
}

async function explainRefusal(
  { rules }: IngressDeps,
  admitted: AdmittedMessage,
  tell: Extract<IngressDecision, { kind: 'refuse' }>['tell'],
  explain: Explainer,
): Promise<void> {
  switch (tell) {
    case 'stranger':
      return explain.stranger(admitted);
    case 'pairing':
      return explain.pairing(admitted);
    case 'too-long':
      return explain.tooLong(admitted, rules.limits.messageCharacters);
    case null:
      return;
  }
}

async function accept(
  deps: IngressDeps,
  admitted: AdmittedMessage,
  explain: Explainer,
): Promise<IngressOutcome> {
  const room = deps.rules.limits.waitingPerConversation;
  const stored = await deps.store.inbox.accept(admitted, room);
  if (stored === 'full') {
    await explain.overflow(admitted, room);
    return { kind: 'refused', reason: `${room} messages of this conversation wait already` };
  }
  deps.pass('inbox-committed');
  // Also for a duplicate: the process may have died between storing and waking the first time.
  await deps.lanes.kick(admitted.conversationId);
  if (stored === 'duplicate') return { kind: 'duplicate' };
  return { kind: 'accepted', conversationId: admitted.conversationId };
}
