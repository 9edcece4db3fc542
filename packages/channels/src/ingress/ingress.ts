import {
  type Capabilities,
  type CrashableWork,
  type CrashCounts,
  decideNextAttempt,
  describeCrashes,
  type InboundMessage,
  noWorkRecord,
  silentTracer,
} from '@parley/core';
import type { IngressOutcome, SenderFacts } from '../adapter.ts';
import { runCommand } from '../commands/run-command.ts';
import { acceptInGroup, acceptMessage } from './accept.ts';
import { recognizeSpokenCommand } from './answer-in-words.ts';
import { decideIngress, type IngressDecision } from './decide.ts';
import { storeAsContext } from './group-context.ts';
import { type ArrivedMessage, type IdentifiedMessage, identifyMessage } from './identify.ts';
import type { IngressDeps } from './ingress-deps.ts';
import { createIngressMemory, type IngressMemory } from './memory.ts';
import { recordRefusal, refuseMessage } from './refuse.ts';
import { resolveConversation, resolveReplyRoute } from './route.ts';
import { findSenderRights } from './sender.ts';

/**
 * Receives one message of one account. Resolves when the message is durable or permanently refused
 * (D01).
 */
export type ReceiveMessage = (
  message: InboundMessage,
  capabilities: Capabilities,
  sender?: SenderFacts,
  files?: readonly Uint8Array[],
) => Promise<IngressOutcome>;

/** Builds one account's ingress: identify, decide, carry out. Rejects only when storing fails. */
export function createIngress(deps: IngressDeps): ReceiveMessage {
  const { monotonic, meter, tracer = silentTracer, work = noWorkRecord } = deps;
  const memory = createIngressMemory(deps);
  const receive: ReceiveMessage = async (message, capabilities, facts = {}, files) => {
    deps.checkpoint('received');
    const { channel } = message;
    const startedAt = monotonic();
    return tracer.span('parley.ingress', { facts: { channel } }, async (span) => {
      const arrived = { message, capabilities, facts, files, trace: span.trace };
      const outcome = await receiveMessage(deps, arrived, memory);
      span.note({ outcome: outcome.kind });
      meter.count('parley_ingress_total', { channel, outcome: outcome.kind });
      meter.observe('parley_ingress_seconds', monotonic() - startedAt, { channel });
      return outcome;
    });
  };
  return (message, capabilities, facts, files) => {
    const taken = toIngressWork(message);
    const ends = work.endsOf(taken);
    return work.run(taken, () =>
      decideNextAttempt(ends) === 'run'
        ? receive(message, capabilities, facts, files)
        : refuseCrashingMessage(deps, { message, capabilities, ends }, memory),
    );
  };
}

function toIngressWork({ channel, account, chat, messageId }: InboundMessage): CrashableWork {
  return { kind: 'ingress', key: [channel, account, chat.id, messageId].join(' ') };
}

async function receiveMessage(
  deps: IngressDeps,
  arrived: ArrivedMessage,
  memory: IngressMemory,
): Promise<IngressOutcome> {
  const identified = await identifyMessage(deps, arrived, memory.albums);
  const decision = await decideMessage(deps, identified, memory);
  const { agentReason } = identified;
  const reason = agentReason === null ? decision.reason : `${decision.reason}; ${agentReason}`;
  const admitted = { ...identified.admitted, reason };
  const outcome = await applyDecision(
    deps,
    { ...identified, admitted },
    { ...decision, reason },
    memory,
  );
  const { message, conversationId, receivedAt } = admitted;
  // Platforms' clocks are sometimes slightly ahead.
  const late = Math.max(0, receivedAt - message.sentAt);
  deps.meter.observe('parley_platform_delay_seconds', late, { channel: message.channel });
  if ('reason' in outcome) await recordRefusal(deps, admitted, outcome);
  const line = { conversation: conversationId, message: message.messageId, outcome: outcome.kind };
  deps.log.debug('reason' in outcome ? { ...line, reason: outcome.reason } : line, 'ingress');
  return outcome;
}

/**
 * Makes the decision, then detects reply loops and converts a typed answer to an approval question
 * into its command.
 */
async function decideMessage(
  deps: IngressDeps,
  identified: IdentifiedMessage,
  { isLoop }: IngressMemory,
): Promise<IngressDecision> {
  const { admitted, command, rules, rights, isAgentKnown } = identified;
  if (!isAgentKnown) return NO_AGENT;
  const decision = decideIngress(admitted.message, command, rules, rights);
  if (decision.kind !== 'turn') return decision;
  if (isLoop(admitted.message)) return LOOP;
  const spoken = await recognizeSpokenCommand(deps, identified);
  if (spoken === null) return decision;
  return { kind: 'command', ...spoken, reason: `${decision.reason}; answered in words` };
}

const LOOP: IngressDecision = {
  kind: 'ignore',
  reason: 'the same text repeatedly, as from an automatic reply',
  keepAsContext: false,
};

const NO_AGENT: IngressDecision = {
  kind: 'refuse',
  reason: 'the settings have no such agent',
  notice: null,
};

async function applyDecision(
  deps: IngressDeps,
  identified: IdentifiedMessage,
  decision: IngressDecision,
  memory: IngressMemory,
): Promise<IngressOutcome> {
  const store = identified.admitted.message.chat.type === 'direct' ? acceptMessage : acceptInGroup;
  switch (decision.kind) {
    case 'turn':
      return store(deps, identified, memory);
    case 'command': {
      const outcome = await runCommand(deps, identified, decision, memory.backlog);
      return outcome === 'in-turn' ? store(deps, identified, memory) : outcome;
    }
    case 'ignore':
      if (decision.keepAsContext) {
        memory.albums.hold(identified.admitted);
        await storeAsContext(deps, identified.admitted);
      }
      return { kind: 'ignored', reason: decision.reason };
    case 'refuse':
      return refuseMessage(deps, identified, decision, memory);
  }
}

/** A message whose ingress has crashed the process too often. */
interface CrashingMessage {
  readonly message: InboundMessage;
  readonly capabilities: Capabilities;
  readonly ends: CrashCounts;
}

/**
 * Refuses a message without parsing its text, with a reason for `why` and a notice. If the notice
 * has crashed the process as well, the refusal is only logged.
 */
async function refuseCrashingMessage(
  deps: IngressDeps,
  { message, capabilities, ends }: CrashingMessage,
  { explain }: IngressMemory,
): Promise<IngressOutcome> {
  const reason = `receiving it failed: ${describeCrashes(ends)}`;
  const outcome = { kind: 'refused', reason } as const;
  deps.log.error({ message: message.messageId, chat: message.chat.id, reason }, 'message given up');
  deps.meter.count('parley_ingress_total', { channel: message.channel, outcome: 'refused' });
  if (decideNextAttempt(ends) === 'drop') return outcome;
  const conversationId = resolveConversation(message, null, undefined);
  const route = resolveReplyRoute(message, capabilities, deps.rules.policy.answers);
  const refused = { conversationId, message, route, receivedAt: deps.clock() };
  await recordRefusal(deps, refused, outcome);
  // Only people who would get an answer get a notice. The text is replaced, because it may be the
  // cause of the crashes.
  const rights = await findSenderRights(deps, message, false);
  const decided = decideIngress({ ...message, text: '?' }, null, deps.rules, rights);
  if (decided.kind === 'turn') await explain.givenUp(refused);
  return outcome;
}
