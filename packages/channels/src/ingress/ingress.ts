import {
  type Capabilities,
  type FatalEnds,
  fromOutside,
  InboundMessage,
  nextAttempt,
  noWorkRecord,
  ParleyError,
  reasonToGiveUp,
  silentTracer,
  type Work,
} from '@parley/core';
import type { AdmittedMessage } from '@parley/store';
import { z } from 'zod';
import type { IngressOutcome, SenderFacts } from '../adapter.ts';
import { admit, createExplainer, type Memory, recordRefusal } from './admit.ts';
import { agentHere } from './agent-route.ts';
import { createAlbums, settlesAt } from './albums.ts';
import { answerInWords } from './answer-in-words.ts';
import { askPlatform } from './command.ts';
import {
  decideGroup,
  decideIngress,
  type IngressDecision,
  type SenderRights,
  senderRights,
} from './decide.ts';
import type { IngressDeps } from './ingress-deps.ts';
import { createBacklogLimit, createLoopGuard, createSeldom } from './limits.ts';
import { conversationOf, routeOf } from './route.ts';

/** Receives one message of one account. Resolves when it is durable or refused for good (D01). */
export type Receive = (
  message: InboundMessage,
  capabilities: Capabilities,
  sender?: SenderFacts,
  files?: readonly Uint8Array[],
) => Promise<IngressOutcome>;

/** A busy group that is not allowed costs a write this seldom. In ms. */
const GROUP_NOTED_EVERY_MS = 5 * 60_000;

/** Builds the ingress of one account: validate, decide, store, wake. Rejects only when storing fails. */
export function createIngress(deps: IngressDeps): Receive {
  const { monotonic, meter, tracer = silentTracer } = deps;
  const remembered = {
    explain: createExplainer(deps),
    albums: createAlbums(monotonic),
    backlog: createBacklogLimit(deps.store.inbox, () => deps.rules.limits.totalWaiting, monotonic),
    isLoop: createLoopGuard(monotonic),
    isGroupNews: createSeldom(GROUP_NOTED_EVERY_MS, monotonic),
  };
  const receive: Receive = async (unchecked, capabilities, sender = {}, files) => {
    deps.pass('received');
    const { channel } = unchecked;
    const startedAt = monotonic();
    return tracer.span('parley.ingress', { facts: { channel } }, async (span) => {
      const arrived = { message: unchecked, capabilities, sender, files, trace: span.trace };
      const outcome = await receiveOne(deps, arrived, remembered);
      span.note({ outcome: outcome.kind });
      meter.count('parley_ingress_total', { channel, outcome: outcome.kind });
      meter.observe('parley_ingress_seconds', monotonic() - startedAt, { channel });
      return outcome;
    });
  };
  const { work = noWorkRecord } = deps;
  return (message, capabilities, sender, files) => {
    const taken = workOf(message);
    const ends = work.endsOf(taken);
    return work.run(taken, () =>
      nextAttempt(ends) === 'run'
        ? receive(message, capabilities, sender, files)
        : refuseFatal(deps, { message, capabilities, ends }, remembered.explain),
    );
  };
}

function workOf({ channel, account, chat, messageId }: InboundMessage): Work {
  return { kind: 'ingress', key: [channel, account, chat.id, messageId].join(' ') };
}

/** A message whose ingress has ended the process too often. */
interface FatalMessage {
  readonly message: InboundMessage;
  readonly capabilities: Capabilities;
  readonly ends: FatalEnds;
}

/**
 * Refuses a message without looking at its text, with the reason for `why` and a notice; where that has ended the
 * process as well, it is refused in the log alone.
 */
async function refuseFatal(
  deps: IngressDeps,
  { message, capabilities, ends }: FatalMessage,
  explain: Memory['explain'],
): Promise<IngressOutcome> {
  const reason = `taking it in: ${reasonToGiveUp(ends)}`;
  const outcome: IngressOutcome = { kind: 'refused', reason };
  deps.log.error({ message: message.messageId, chat: message.chat.id, reason }, 'message given up');
  deps.meter.count('parley_ingress_total', { channel: message.channel, outcome: 'refused' });
  if (nextAttempt(ends) === 'drop') return outcome;
  const conversationId = conversationOf(message, null, undefined);
  const route = routeOf(message, capabilities, deps.rules.policy.answers);
  const refused = { conversationId, message, route, receivedAt: deps.clock() };
  await recordRefusal(deps, refused, outcome);
  // Only people who would get an answer get a notice; another text stands for the one that may be the reason.
  const rights = await senderRights(deps, message);
  const decided = decideIngress({ ...message, text: '?' }, deps.rules, rights);
  if (decided.kind === 'turn') await explain.givenUp(refused);
  return outcome;
}

/** A message as the adapter passed it on. */
interface Arrived {
  readonly message: InboundMessage;
  readonly capabilities: Capabilities;
  readonly sender: SenderFacts;
  readonly files: readonly Uint8Array[] | undefined;
  readonly trace: string | undefined;
}

async function receiveOne(
  every: IngressDeps,
  { message: unchecked, capabilities, sender, files, trace }: Arrived,
  { isLoop, ...memory }: Memory & { readonly isLoop: (message: InboundMessage) => boolean },
): Promise<IngressOutcome> {
  const message = await withRoles(every, memory.albums.join(validate(unchecked)), sender);
  const { agent, rules, why, unknown } = agentHere(message, every.rules);
  const deps: IngressDeps = agent === undefined ? every : { ...every, rules };
  const route = routeOf(message, capabilities, rules.policy.answers);
  const looked = await senderRights(deps, message);
  const conversationId = conversationOf(message, looked.mainConversation, agent);
  const allowed = unknown ? NO_AGENT : decideIngress(message, rules, looked);
  const typed = allowed.kind === 'turn' && isLoop(message) ? LOOP : allowed;
  const { decided, rights } = await withSpoken(deps, typed, message, {
    conversationId,
    rights: looked,
  });
  const decision = why === null ? decided : { ...decided, reason: `${decided.reason}; ${why}` };
  const receivedAt = deps.clock();
  const settles = settlesAt(message, capabilities.target, receivedAt);
  const admitted: AdmittedMessage = {
    conversationId,
    message,
    route,
    receivedAt,
    ...(settles === undefined ? {} : { settlesAt: settles }),
    fromOwner: rights.isOwner && message.chat.type === 'direct',
    reason: decision.reason,
    trace,
    ...(files && { files }),
  };
  // Clocks of platforms run a little ahead at times.
  const late = Math.max(0, receivedAt - message.sentAt);
  deps.meter.observe('parley_platform_delay_seconds', late, { channel: message.channel });
  const outcome = await admit(deps, { admitted, decision, rights, sender }, memory);
  await recordRefusal(deps, admitted, outcome);
  const reason = 'reason' in outcome ? outcome.reason : undefined;
  deps.log.debug(
    { conversation: conversationId, message: message.messageId, outcome: outcome.kind, reason },
    'ingress',
  );
  return outcome;
}

/** A message that would start a turn, where its words are an answer to an approval that waits. */
async function withSpoken(
  deps: IngressDeps,
  decided: IngressDecision,
  message: InboundMessage,
  known: { readonly conversationId: string; readonly rights: SenderRights },
): Promise<{ readonly decided: IngressDecision; readonly rights: SenderRights }> {
  const { rights } = known;
  if (decided.kind !== 'turn' || decided.command !== undefined) return { decided, rights };
  const spoken = await answerInWords(deps, message, known);
  if (spoken === null) return { decided, rights };
  const { command, isOwner } = spoken;
  const reason = `${decided.reason}; an answer in words`;
  return { decided: { kind: 'command', command, reason }, rights: { ...rights, isOwner } };
}

/** A message that was fetched later does not say which roles its sender has; without an answer they have none. */
async function withRoles(
  { rules, log }: Pick<IngressDeps, 'rules' | 'log'>,
  message: InboundMessage,
  { roles }: SenderFacts,
): Promise<InboundMessage> {
  const { access } = rules.policy;
  const { chat, sender } = message;
  if ((access.allowRoles ?? []).length === 0 || roles === undefined) return message;
  if (sender.isBot || sender.roles !== undefined || chat.type === 'direct') return message;
  if (decideGroup(chat, access).kind === 'refused') return message;
  const found = await askPlatform(roles, 'which roles the sender has', log);
  return { ...message, sender: { ...sender, roles: [...(found ?? [])] } };
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

function validate(unchecked: InboundMessage): InboundMessage {
  const parsed = InboundMessage.safeParse(unchecked);
  if (parsed.success) return fromOutside(parsed.data);
  throw brokenContract(`The ${unchecked.channel} adapter made a message`, parsed.error);
}

/** An adapter's defect. */
export function brokenContract(what: string, cause: z.ZodError): ParleyError {
  return new ParleyError({
    code: 'inbound-invalid',
    message: `${what} that breaks the contract: ${z.prettifyError(cause)}. This is a defect of the adapter.`,
    retryable: false,
    cause,
  });
}
